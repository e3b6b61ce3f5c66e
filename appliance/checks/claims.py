"""A sentence as it is compared with others: its words, figures, names, and what it denies. Pure."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cached_property

from appliance.checks.figures import Figure, figures
from appliance.checks.names import Name, names
from appliance.checks.negation import NEGATORS, Polarity, polarity
from appliance.text.words import Words

# What says only where an answer comes from; nothing in a document would support these words.
_PREAMBLE = re.compile(
    r"^\W*(?:according to|based on|as (?:stated|mentioned|described) in|in)\s(?:the\s)?(?:given\s|provided\s)?"
    r"(?:information\s)?(?:provided\s|given\s)?(?:in\s|by\s)?(?:the\s)?(?:passages?|documents?|texts?|context)"
    r"(?:\sprovided)?(?:\s\d+)?,?\s",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d[\d.,:/–-]*[^\W\d_]{0,3}")  # as `Words` keeps them whole: "1,200", "20mg", "1990s"
_LIST_MARK = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+(?=\S)")


class Claim:
    """What a sentence says; each part is read when first asked for.

    Attributes:
        text: the sentence without a list mark and without words on where it comes from.
    """

    def __init__(self, sentence: str, words: Words, *, nouns_have_capitals: bool = False) -> None:
        self.text = _PREAMBLE.sub("", _LIST_MARK.sub("", sentence)).strip()
        self._words = words
        self._capitals = nouns_have_capitals

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its content words; figures are left to `figures`."""
        return stems(self.text, self._words)

    @cached_property
    def topic(self) -> frozenset[str]:
        """Its content words but for units and numbers written out, which `figures` compares."""
        text = self.text
        for figure in reversed(self.figures):
            text = f"{text[: figure.start]} {text[figure.end :]}"
        return stems(text, self._words)

    @cached_property
    def figures(self) -> list[Figure]:
        """Its numbers and dates, in order."""
        return figures(self.text)

    @cached_property
    def names(self) -> list[Name]:
        """Its names and codes, in order."""
        return names(self.text, self._words, self.figures, nouns_have_capitals=self._capitals)

    @cached_property
    def polarity(self) -> Polarity:
        """What it denies."""
        return polarity(self.text, self._words)


def stems(text: str, words: Words) -> frozenset[str]:
    """Return the content words of a text that are no figures, negators or lone letters."""
    return frozenset(
        s for s in words.content(text) if len(s) > 1 and s not in NEGATORS and not _FIGURE.fullmatch(s)
    )


def share(wanted: Set[str], known: Set[str]) -> float:
    """Return how many of the wanted words are known, 0 to 1; 0 where none is wanted."""
    return len(wanted & known) / len(wanted) if wanted else 0.0
