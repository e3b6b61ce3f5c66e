"""What the made documents say: four kinds of things, facts about each, and the talk around the facts. Data only.

In a sentence, {name} is the thing, {person}, {day}, {n} something at random, and {answer} the fact itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Draw = Literal["person", "company", "place", "money", "date", "weight", "hours", "count", "percent"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact: what is drawn for it, the sentence that says it, and the question that it answers."""

    draw: Draw
    said: str
    asked: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of thing.

    Attributes:
        title: of its document, with {name}.
        sections: (heading, its two facts); each becomes a paragraph.
        talk: sentences that hold no fact that is asked for.
    """

    folder: str
    title: str
    names: tuple[str, ...]
    sections: tuple[tuple[str, tuple[Fact, Fact]], ...]
    talk: tuple[str, ...]


PEOPLE = (
    "Ines", "Tomas", "Ruth", "Edgar", "Mirela", "Olof", "Hanne", "Victor", "Selma", "Anton", "Greta", "Casimir",
    "Noor", "Philippa", "Januz", "Beatrix", "Leopold", "Amrit", "Dagny", "Ferdinand",
)  # fmt: skip
FAMILIES = (
    "Averill", "Brankovic", "Castellan", "Dunmore", "Eskola", "Fairweather", "Grunewald", "Hathersage", "Iversen",
    "Jablonski", "Kettering", "Lindqvist", "Montague", "Norrington", "Okafor", "Pemberton", "Quistgaard", "Rosenthal",
    "Stavros", "Thistlewood",
)  # fmt: skip
TRADES = ("Works", "and Sons", "Brothers", "Engineering", "Trading", "Supplies", "Foundry", "Partners")
PLACES = (
    "Ashcombe", "Birkenau", "Corvara", "Dunholm", "Elsworth", "Farleigh", "Gravenholt", "Hexley", "Ingelby", "Jarrow",
    "Kelmscott", "Lorne", "Mereworth", "Nordhavn", "Oldcastle", "Penhallow", "Quarndon", "Rosehearty", "Skelwith",
    "Tarnbrook",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip

KINDS = (
    Kind(
        "machines", "The {name}",
        ("Marlow press", "Hesper lathe", "Corvin kiln", "Anselm mill", "Torrey crane", "Wexford boiler"),
        (
            ("Purchase", (
                Fact("company", "The {name} was bought from {answer} after three offers had been compared.",
                     "From which company was the {name} bought?"),
                Fact("money", "Its price was {answer}, and the {name} was paid for in two parts.",
                     "What was the price of the {name}?"),
            )),
            ("Installation", (
                Fact("date", "The {name} was put into service on {answer}, a fortnight later than planned.",
                     "On which date was the {name} put into service?"),
                Fact("weight", "The {name} weighs {answer}, which is why the floor under it was made stronger.",
                     "How much does the {name} weigh?"),
            )),
            ("Upkeep", (
                Fact("person", "Upkeep of the {name} is in the hands of {answer}, who also keeps its book.",
                     "Who is responsible for the upkeep of the {name}?"),
                Fact("hours", "The oil of the {name} is changed every {answer}, whatever the book says of its colour.",
                     "How often is the oil of the {name} changed?"),
            )),
            ("Faults", (
                Fact("count", "Since it was installed, the {name} has stood still {answer}, each time for some days.",
                     "How many times has the {name} stood still since it was installed?"),
                Fact("place", "Spare parts for the {name} are kept in the store at {answer}, not in the workshop.",
                     "Where are spare parts for the {name} kept?"),
            )),
        ),
        (
            "Nobody works at the machine alone, and whoever starts it looks around first and calls out to the others.",
            "The workshop is swept every evening, and the chips are taken away on {day} by the same carter as ever.",
            "{person} remembers that the machine before it was louder and that people wore wool in their ears.",
            "The drawings hang behind the door of the foreman's office, in a frame that was made from an old crate.",
            "Apprentices may watch from the second month on, and may touch it when the foreman has seen them do so.",
            "A lamp with a red shade is lit as long as the current is on, even when nothing is seen to move.",
            "In cold weather it is let run without a load for {n} minutes, until the bearings are warm to the hand.",
            "What it makes is counted twice, once at the bench and once at the gate, and the two counts are compared.",
            "There was talk of a second one, but the room beside it is needed for the timber and will stay as it is.",
            "The noise was measured from the street on a {day} and found to be less than that of the passing carts.",
            "Gloves are not worn near the moving parts, since a glove that is caught takes the hand along with it.",
            "The insurance asks for a list of those who know how to stop it, and the list is renewed every winter.",
            "Visitors are shown it from behind the yellow line, and most of them ask what would happen without it.",
            "When the belts were replaced, {person} kept a piece of the old one, which now holds a window open.",
            "The makers sent a letter with advice about grease, most of which had been known here for a long time.",
            "On {day} the heavy work is done first, so that the afternoon is free for what needs a steady hand.",
            "A bucket of sand stands at each end of the hall, and a third one was added after the inspection.",
            "The switch was moved to the left side, because {person} and two others reach for it with that hand.",
        ),
    ),
    Kind(
        "contracts", "Contract {name}",
        ("Alder", "Bramble", "Cinder", "Dovetail", "Ember", "Fallow"),
        (
            ("Parties", (
                Fact("company", "Contract {name} is made with {answer}, called the supplier in what follows.",
                     "With which company is contract {name} made?"),
                Fact("person", "For the supplier, contract {name} was signed by {answer}, whose power was shown.",
                     "Who signed contract {name} for the supplier?"),
            )),
            ("Price", (
                Fact("money", "The yearly sum under contract {name} is {answer}, without tax.",
                     "What is the yearly sum under contract {name}?"),
                Fact("percent", "A delay under contract {name} costs the supplier {answer} of the sum for each week.",
                     "What share of the sum does a week's delay under contract {name} cost the supplier?"),
            )),
            ("Term", (
                Fact("date", "Contract {name} ends on {answer} unless both sides agree in writing to go on.",
                     "On which date does contract {name} end?"),
                Fact("count", "Contract {name} was prolonged {answer}, and each time the schedule was kept as it was.",
                     "How many times was contract {name} prolonged?"),
            )),
            ("Disputes", (
                Fact("place", "Disputes about contract {name} go to the court of {answer} and to no other.",
                     "Which court do disputes about contract {name} go to?"),
                Fact("hours", "Faults under contract {name} are to be answered within {answer} of being reported.",
                     "Within what time must faults under contract {name} be answered?"),
            )),
        ),
        (
            "What was said before the signature and does not stand in the text binds neither of the two sides.",
            "Letters count from the {day} after they were handed to the post, and messages by telephone do not count.",
            "A clause that turns out to be void is replaced by what the two sides would have meant, had they known.",
            "The annexes are numbered through, and where an annex and the text disagree, the text is followed.",
            "{person} of our purchasing office holds the signed copy, and a second one lies in the fireproof cabinet.",
            "Neither side may hand its duties to a third one without asking, and the answer is given within {n} days.",
            "The goods are looked at on arrival, and what is seen to be wrong is written on the carrier's own slip.",
            "Drivers report at the gate, leave their engine off while they wait, and follow the signs to the ramp.",
            "It was agreed to meet once a quarter, on a {day}, and to write down only what has to be done by whom.",
            "Packaging is taken back, and pallets are exchanged one for one, of the same kind and in the same state.",
            "The supplier keeps records of where its material comes from and shows them when it is asked to do so.",
            "Both sides keep to themselves what they learn about each other, also when the business is at an end.",
            "An earlier draft had {n} more pages, most of them about cases that nobody could remember ever happening.",
            "{person} asked for larger print, and the final text was set anew without a change to any of its words.",
            "Force of nature excuses for as long as it lasts, and whoever is hindered by it says so without delay.",
            "Invoices name the order, and one that does not is sent back unpaid, with a kind word about the reason.",
            "The auditors read the text in spring and had no question about it except where the stamp had gone.",
            "Samples are kept for {n} weeks in a dry room, with a label that says from which delivery they were taken.",
        ),
    ),
    Kind(
        "wards", "{name} ward",
        ("Larch", "Juniper", "Hawthorn", "Rowan", "Sycamore", "Tamarisk"),
        (
            ("Staff", (
                Fact("person", "{name} ward is led by {answer}, who came from the children's clinic.",
                     "Who leads {name} ward?"),
                Fact("count", "Handover on {name} ward is held {answer} a day, at the board beside the kitchen.",
                     "How many times a day is handover held on {name} ward?"),
            )),
            ("Rooms", (
                Fact("place", "{name} ward moved here from {answer}, where its old building has been taken down.",
                     "From which town did {name} ward move here?"),
                Fact("date", "The rooms of {name} ward were opened on {answer} in the presence of the neighbours.",
                     "On which date were the rooms of {name} ward opened?"),
            )),
            ("Supplies", (
                Fact("company", "Linen for {name} ward is delivered by {answer} through the side entrance.",
                     "Which company delivers linen for {name} ward?"),
                Fact("money", "The yearly budget of {name} ward for dressings is {answer}, and it was kept last year.",
                     "What is the yearly budget of {name} ward for dressings?"),
            )),
            ("Rules", (
                Fact("hours", "On {name} ward, the pumps are checked every {answer}, by night as well as by day.",
                     "How often are the pumps checked on {name} ward?"),
                Fact("percent", "Of the beds on {name} ward, {answer} are kept free for those who come at night.",
                     "What share of the beds on {name} ward is kept free?"),
            )),
        ),
        (
            "Visitors wash their hands at the door, and flowers in water are left on the table outside the rooms.",
            "The lights in the corridor are turned down at ten, and who reads in bed is given a small lamp for it.",
            "{person} reads to the patients on {day}, mostly from travel books, and is asked for the same ones again.",
            "Meals come up by the small lift, and what is not eaten is noted without a word of blame to anyone.",
            "A bell that is not answered within {n} minutes rings at the desk of the next ward, and is then answered.",
            "Relatives may stay the night in an armchair, which is wider than it looks and can be laid nearly flat.",
            "The windows face the garden, and in spring the gardeners are asked to mow late on {day} mornings.",
            "Students come in groups of no more than {n}, introduce themselves by name, and leave when they are asked.",
            "Valuables are put into an envelope that the patient seals, and the envelope is signed by two people.",
            "The tea kitchen is open to everyone, and a tin on the shelf collects what people want to give for it.",
            "A priest comes on {day}, and others are called when somebody wishes for them, at whatever hour it is.",
            "What is told at the bedside is not repeated in the lift, where one never knows who else is listening.",
            "Crutches are lent out against a signature and come back, sooner or later, with stickers on them.",
            "{person} drew the map by the entrance, on which the stairs are green and the rooms for washing are blue.",
            "Shoes with soft soles are worn at night, since the floor was laid for cleaning and not for silence.",
            "The telephone in the hall was kept when all others went, because some of the older people ask for it.",
            "Before a discharge, the letter is read aloud with the patient, and words that nobody knows are replaced.",
            "The clock above the desk was {n} minutes fast for years, and people missed that when it was set right.",
        ),
    ),
    Kind(
        "ships", "The ship {name}",
        ("Meridian Star", "Sea Fennel", "Cormorant", "Northern Lily", "Old Patience", "Windrose"),
        (
            ("Building", (
                Fact("place", "The {name} was built at {answer}, on a slip that has since been given up.",
                     "Where was the {name} built?"),
                Fact("date", "The {name} was launched on {answer}, in rain that began with the first speech.",
                     "On which date was the {name} launched?"),
            )),
            ("Owners", (
                Fact("company", "The {name} belongs to {answer}, which has her sail under the old flag.",
                     "Which company owns the {name}?"),
                Fact("money", "At the last survey the {name} was valued at {answer}, engine and boats included.",
                     "At what sum was the {name} valued at the last survey?"),
            )),
            ("Crew", (
                Fact("person", "Master of the {name} is {answer}, who served before the mast on the same line.",
                     "Who is master of the {name}?"),
                Fact("hours", "The watch on the {name} changes every {answer}, which the crew asked for themselves.",
                     "How often does the watch change on the {name}?"),
            )),
            ("Voyages", (
                Fact("count", "The {name} has rounded the Horn {answer}, and her log says little about it.",
                     "How many times has the {name} rounded the Horn?"),
                Fact("weight", "In her hold the {name} carries {answer}, a little less when the tanks are full.",
                     "How much does the {name} carry in her hold?"),
            )),
        ),
        (
            "The galley is on the windward side, which the cook holds against those who drew the plans long ago.",
            "Paint is renewed in harbour only, and on {day} when the sun is out, with two coats where the spray comes.",
            "{person} keeps a cat on board that is entered in the books under stores and has never been counted.",
            "The boats are swung out once a month, and everybody has to say aloud which of them is their own.",
            "In fog the horn is sounded every {n} minutes, and the one who sounds it does nothing else meanwhile.",
            "Charts are corrected on the day when the notices arrive, in violet ink and with the initials beside it.",
            "Ropes are coiled with the sun, never against it, and a coil that is found otherwise is laid out anew.",
            "Letters are handed in at the next harbour, and for {n} of them the stamps are paid out of the ship's box.",
            "The bell was cast for another vessel, whose name can still be felt under the new one with a fingertip.",
            "On {day} there is pudding, a custom so old that three cooks have tried to end it and none has succeeded.",
            "The owners send a photographer now and then, who wants all hands on deck and the laundry out of sight.",
            "Water is measured every morning, and when it is low the washing waits until there is rain in the sails.",
            "{person} plays the fiddle in the evening, not well, yet the others ask for it when it is quiet.",
            "The old compass stands in the saloon, where it points at the stove and is consulted about the weather.",
            "Strangers who come aboard are logged with their business, and are back ashore before the gangway is in.",
            "A second anchor lies on the foredeck, lashed down so well that it once took {n} men to get it free.",
            "The pilot is given coffee before anything is said, and most pilots along this coast expect it.",
            "Her sister vessel was broken up, and what could be used of the brass shines on the bridge of this one.",
        ),
    ),
)  # fmt: skip
