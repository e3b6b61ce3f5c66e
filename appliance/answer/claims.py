"""A sentence as it is compared with others: its words, figures, names, and what it denies. Pure."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

from appliance.answer.figures import Figure, figures
from appliance.answer.names import Name, names
from appliance.answer.negation import Polarity, polarity
from appliance.answer.words import Words

# What says only where an answer comes from; nothing in a document would support these words.
_PREAMBLE = re.compile(
    r"^\W*(?:according to|based on|as (?:stated|mentioned|described) in|in)\s(?:the\s)?(?:given\s|provided\s)?"
    r"(?:information\s)?(?:provided\s|given\s)?(?:in\s|by\s)?(?:the\s)?(?:passages?|documents?|texts?|context)"
    r"(?:\sprovided)?(?:\s\d+)?,?\s",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a sentence says.

    Attributes:
        text: without a list mark and without words on where it comes from.
        stems: content words; those with digits are left to `figures` and `names`.
    """

    text: str
    stems: frozenset[str]
    figures: tuple[Figure, ...]
    names: tuple[Name, ...]
    polarity: Polarity


def read(sentence: str, words: Words, *, nouns_have_capitals: bool = False) -> Claim:
    """Take a sentence apart."""
    text = _PREAMBLE.sub("", _LIST_MARK.sub("", sentence)).strip()
    return Claim(
        text,
        stems(text, words),
        tuple(figures(text)),
        tuple(names(text, words, nouns_have_capitals=nouns_have_capitals)),
        polarity(text, words),
    )


def stems(text: str, words: Words) -> frozenset[str]:
    """Return the content words of a text that are not figures or codes."""
    return frozenset(stem for stem in words.content(text) if not any(c.isdigit() for c in stem))


def share(wanted: Set[str], known: Set[str]) -> float:
    """Return how many of the wanted words are known, 0 to 1; 0 where none is wanted."""
    return len(wanted & known) / len(wanted) if wanted else 0.0
