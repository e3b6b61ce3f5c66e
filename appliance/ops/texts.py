"""What the bench asks. Plain text about nothing in particular; lengths are cut by the model's own tokens."""

from __future__ import annotations

from itertools import cycle, islice

from appliance.answer.prompt import SYSTEM
from appliance.ops.stream import Message

# Each asks for more text than is ever taken of it, so that no answer ends early.
STORIES = tuple(
    f"Write a very long story about {what}, with many details."
    for what in (
        "a lighthouse keeper", "the last train of the night", "a bakery by the sea", "an old clockmaker",
        "a school in the mountains", "the gardener of a king", "two brothers and a boat", "a letter without a sender",
    )
)  # fmt: skip

PASSAGES = (
    "[1] manual/boiler.pdf, page 3\nThe boiler of the east wing is serviced every year in the first week of September "
    "by Harlow and Sons. Before the service the night valve is closed and the pressure is let down to 0.8 bar. The "
    "service takes four hours; during this time the wing has no hot water, which is announced at the doors two "
    "days before. After the service the pressure is brought back to 1.6 bar and written into the book on the wall.",
    "[2] rules/keys.pdf, page 1\nKeys are handed out at the porter's lodge against a signature. A lost key is reported "
    "on the same day to the porter and to the head of the house; the cylinder is changed within three working days, "
    "and the cost of 140 euros is borne by the department. Keys of the archive are never handed out at night, and "
    "never to more than two people at the same time.",
    "[3] minutes/2031-04.docx, section Kitchen\nThe kitchen serves lunch from 11:30 to 13:45. From May on there is a "
    "second dish without meat on every day of the week. The dishwasher, bought in 2019 for 8,250 euros, is to be "
    "replaced in the next year; three offers are asked for. Guests pay 9.40 euros and are announced by ten o'clock.",
    "[4] safety/alarm.md, heading Fire\nWhen the alarm sounds, everyone leaves by the nearest stairs and meets at the "
    "oak behind the car park. Lifts are not used. The floor wardens, who wear yellow vests, look into every room and "
    "close the doors behind them. Nobody goes back before the fire brigade has said so, not even for a coat.",
)

# Answers that quote, as people ask for them: one copies a whole passage, two quote within an answer.
QUOTES = (
    "Copy passage [2] word for word, the whole text.",
    "Who services the boiler, and what is done before and after? Quote the sentences of passage [1] word for word.",
    "What does one do when the alarm sounds, and who looks into the rooms? Quote passage [4] word for word.",
)
FREE = STORIES[:3]

_WORDS = (
    "The committee notes that the repair of the northern roof was begun in spring and that the costs so far are "
    "lower than expected. Several members ask for a second report before the summer. The chair explains how the "
    "tiles were chosen, who delivered them and why the scaffold has to stay until the rain is over. A letter from "
    "the neighbours about the noise was answered, and the hours of work were moved to the afternoon. "
).split()


def user(content: str) -> Message:
    """Return a user's turn."""
    return {"role": "user", "content": content}


def assistant(content: str) -> Message:
    """Return an answer's turn."""
    return {"role": "assistant", "content": content}


def system(content: str) -> Message:
    """Return the system's turn."""
    return {"role": "system", "content": content}


def prose(salt: str, n_words: int) -> str:
    """Return running text whose beginning no other salt shares, so that nothing of it is in a cache."""
    return " ".join([f"Minutes {salt}.", *islice(cycle(_WORDS), n_words)])


def grounded(salt: str, question: str) -> list[Message]:
    """Return a question as the product asks it: system prompt, passages, question; `salt` keeps it out of caches."""
    passages = "\n\n".join(PASSAGES)
    return [system(f"{salt} {SYSTEM}" if salt else SYSTEM), user(f"{passages}\n\n{question}")]
