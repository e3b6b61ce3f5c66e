"""Questions that lean on the one before ("and how much does it cost?"): told by their words, no model call. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from appliance.answer.prompt import PastTurn
from appliance.retrieval.query import Context
from appliance.text.guard import NAMES, says_nothing
from appliance.text.words import surface_words

# A question with fewer content words than this says too little to be searched for alone.
_LEANS_BELOW = 3
# What points back may also name something new ("and what does the crane weigh?"), so both are searched for. Right
# passage first, XQuAD, 2026-11-30: follow-ups that say "it" 0.87 alone, 0.96 with 1.5 for the context; questions on
# another topic that look like follow-ups 0.95 alone, 0.91 with 1.5, and 0.20 when only searched for with the context.
# One word that names nothing ("its weight?") stands in many documents: there the context decides.
ALL, STRONG, WEAK = 6.0, 1.5, 0.5
_MAX_TURNS = 3
_UNQUOTED = re.compile('[“”„«»"]')  # what was quoted then need not be found as it is written now
_MARK = re.compile(rf"\s?{NAMES}")
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
_NAMES = re.compile(
    r"\b(?:the|der|die|das|den|dem|le|la|les|el|los|las)\s+\w+\W*$", re.IGNORECASE
)  # "the forklift?"


def leans(question: str) -> bool:
    """Tell whether a question may need the earlier one to be understood."""
    return _n_words(question) < _LEANS_BELOW or _points_back(question)


def context(question: str, turns: Sequence[PastTurn]) -> Context | None:
    """Return what was said before that a search for `question` may need; None where it stands alone.

    Args:
        turns: oldest first; those whose own question is one word are gone back over, to the one that names the topic.
    """
    if not turns or not leans(question):
        return None
    said: list[str] = []
    for turn in reversed(turns[-_MAX_TURNS:]):
        asked = turn.question or turn.sent
        answer = "" if says_nothing(turn.raw_answer) else _MARK.sub("", turn.raw_answer)[:_MAX_ANSWER_CHARS]
        said.insert(0, _UNQUOTED.sub("", f"{asked} {answer}").strip())
        if _n_words(asked) > 1:
            break
    return Context(" ".join(said), _weight(question))


def _weight(question: str) -> float:
    if _n_words(question) < 2 and not _NAMES.search(question):
        return ALL
    return STRONG if _points_back(question) else WEAK


def _points_back(question: str) -> bool:
    return bool(_GOES_ON.search(question) or _STANDS_FOR.search(question))


def _n_words(question: str) -> int:
    return len(surface_words(question))
