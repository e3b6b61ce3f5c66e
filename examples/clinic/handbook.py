"""Staff handbook, seventh edition: the rules of work at the clinic."""

from __future__ import annotations

from clinic.blocks import Block, Bullets, Heading, Note, Steps, Table, Text

TITLE = "Staff handbook"
SUBTITLE = "Harbour Road Clinic, Skerrin Bay · Seventh edition, valid from 1 January 2026"

BLOCKS: tuple[Block, ...] = (
    Heading("1 The clinic"),
    Text(
        "Harbour Road Clinic serves Skerrin Bay and the islands within forty minutes by boat. We have 14 "
        "beds, four consulting rooms, a pharmacy, a small laboratory and our own plant room. Fifty-eight "
        "people work here, most of them part time."
    ),
    Text(
        "Dr Maren Osei-Lund is the clinical lead. Tobias Quill manages the practice and signs contracts and "
        "expenses. Ingrid Falkner leads the nurses, Odile Brannigan the pharmacy. Ruaridh Penhale looks "
        "after building and plant; Callum Strand stands in for him. Nia Corrigan is responsible for health "
        "and safety."
    ),
    Heading("2 Working time"),
    Heading("2.1 Shifts", 2),
    Table(
        ("Shift", "From", "To", "Break", "Allowance"),
        (
            ("Early", "06:45", "14:45", "30 minutes", "none"),
            ("Late", "14:15", "22:15", "30 minutes", "£1.35 an hour after 20:00"),
            ("Night", "22:00", "07:00", "45 minutes", "£4.20 an hour"),
            ("Sunday and public holiday", "any", "any", "as the shift", "£6.10 an hour"),
        ),
        (0.26, 0.12, 0.12, 0.18, 0.32),
    ),
    Text(
        "The half hour in which shifts overlap is for the handover at the bedside. The rota is published "
        "five weeks ahead. Swaps are made in writing and need the initials of the shift lead."
    ),
    Heading("2.2 Rest", 2),
    Text(
        "Between two shifts lie at least 11 hours. Nobody works more than four nights in a row. After a "
        "night shift the clinic pays for a taxi home if you feel too tired to drive."
    ),
    Heading("3 Leave and absence"),
    Heading("3.1 Annual leave", 2),
    Text(
        "Full-time staff have 28 days of leave a year, and 3 more after five years of service. Ask for it "
        "at least six weeks ahead. Up to 5 days may be carried over; they lapse on 31 March."
    ),
    Heading("3.2 Sickness", 2),
    Text(
        "Ring reception on extension 100 at least 90 minutes before your shift begins; a message to a "
        "colleague is not enough. From the fourth day of absence we need a doctor's note. After diarrhoea "
        "or vomiting stay away until you have been free of symptoms for 48 hours."
    ),
    Heading("3.3 Family and care", 2),
    Text(
        "You may take up to 4 days a year at full pay to care for a sick child or parent. Tell the shift "
        "lead on the same day; the form can follow."
    ),
    Heading("4 Travel and expenses"),
    Text(
        "For visits with your own car the clinic pays 47 pence a mile.",
        footnote="The rate falls to 27 pence for each mile above 8,000 in one calendar year.",
    ),
    Text(
        "Passengers on the same visit add 5 pence a mile each. Boat fares are paid in full; keep the "
        "ticket. Meals are paid up to £14.50 when you are away for more than ten hours. Claims reach Tobias "
        "Quill by the fifth of the next month."
    ),
    Heading("5 Uniform, badges and keys"),
    Bullets(
        (
            "You get four tunics and three pairs of trousers. They are washed here, at 71 °C; do not take "
            "them home.",
            "Wear the badge where it can be read. A lost badge costs £12 and is blocked the same hour.",
            "Keys are signed out at reception. The key of the controlled drugs cupboard never leaves the "
            "ward.",
            "Staff cars need a permit behind the windscreen. Row C is kept free for whoever is on call.",
        )
    ),
    Heading("6 Hygiene and sharps"),
    Text(
        "Bare below the elbow: no watch, no rings but a plain band, no nail varnish. Rub your hands before "
        "and after each patient, for 20 seconds."
    ),
    Heading("6.1 After a needle-stick injury", 2),
    Steps(
        (
            "Let the wound bleed, wash it with soap and running water, do not suck it.",
            "Note the patient's name and the type of needle.",
            "Ring occupational health on extension 233 within one hour, at night the duty doctor.",
            "Fill in form HS-3 before the end of the shift.",
        )
    ),
    Heading("7 Fire and evacuation"),
    Text(
        "The alarm is a continuous bell. Close doors, take the people near you along, and go to the "
        "assembly point on the slipway, beside the lifeboat shed. Lifts are not used. The shift lead brings "
        "the ward list and counts."
    ),
    Text(
        "Fire drills are held on the first Tuesday of January, April, July and October. Bed patients are "
        "moved with the evacuation sheet under each mattress; two people can move one patient."
    ),
    Note(
        "Oxygen",
        "In a fire the shift lead shuts the oxygen valve V3 in the corridor of ward A, and nobody else.",
    ),
    Heading("8 Information and confidentiality"),
    Text(
        "Lock the screen when you leave it. Passwords have at least 14 characters and are not shared. "
        "Patient data never goes into private messages. A lost telephone or laptop is reported to Tobias "
        "Quill within 2 hours, also at night."
    ),
    Heading("9 Training"),
    Table(
        ("Course", "Who", "Repeated every"),
        (
            ("Basic life support", "everybody", "12 months"),
            ("Moving and handling", "ward and theatre staff", "24 months"),
            ("Use of fire extinguishers", "shift leads", "36 months"),
            ("Medical gases", "nurses and technicians", "30 months"),
        ),
        (0.4, 0.36, 0.24),
    ),
    Text("Each member of staff has 5 paid study days and a budget of £350 a year. What is not used lapses."),
    Heading("10 Raising a concern"),
    Text(
        "Speak to your lead first, or go straight to Dr Maren Osei-Lund. Concerns in writing are answered "
        "within 10 working days. Nobody suffers a disadvantage for a concern raised in good faith."
    ),
)
