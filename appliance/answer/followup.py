"""Questions that lean on the one before ("and how much does it cost?"): told by their words, no model call. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from appliance.answer.prompt import PastTurn
from appliance.answer.words import surface_words

# A question with fewer content words than this says too little to be searched for alone.
_LEANS_BELOW = 3
_MAX_ANSWER_CHARS = 300  # of the earlier answer: its first sentences name what it is about

# How people go on, and words that stand for something named before; not "that" and "this", which also begin clauses.
_GOES_ON = re.compile(
    r"^\s*(?:and|or|but|so|then|also|what about|how about|why( not)?\s*\?|und|oder|aber|et|mais|y|pero)\b",
    re.IGNORECASE,
)
_STANDS_FOR = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|hers|those|these|one|ones|the (?:first|second|third|other|same|"
    r"former|latter|last|next)|dort|davon|dazu|dafür|ihn|ihm|ihr|ihre|diese[rsnm]?|celui-ci|celle-ci|ceux-ci)\b",
    re.IGNORECASE,
)


def leans(question: str) -> bool:
    """Tell whether a question may need the earlier one to be understood."""
    few = len(surface_words(question)) < _LEANS_BELOW
    return few or bool(_GOES_ON.search(question) or _STANDS_FOR.search(question))


def context(question: str, turns: Sequence[PastTurn]) -> str:
    """Return what of the turn before a search for `question` needs; "" where it stands alone.

    Args:
        turns: oldest first.
    """
    if not turns or not leans(question):
        return ""
    last = turns[-1]
    return f"{last.question or last.sent} {last.raw_answer[:_MAX_ANSWER_CHARS]}"
