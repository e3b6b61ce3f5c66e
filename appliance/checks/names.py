"""Names in a sentence: capitalised words and codes, and whether a text knows them. Pure.

A name here is what must not be changed when a text is retold: "Okafor", "NFL", "X-250", "Monday".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from appliance.checks.figures import Figure, covered
from appliance.text.words import Words

_TOKEN = re.compile(r"[^\W_](?:[\w]|[-/.&'’](?=[^\W_]))*")
_POSSESSIVE = re.compile(r"['’]s?$")
_PART = re.compile(r"[-/.&'’]")
# After one of these a capitalised first word is its subject, and mostly a name: "Berlin is", "Harlow has".
_VERBS = frozenset({"is", "was", "has", "had", "won", "wrote", "said", "says", "will"})
_TITLES = frozenset({"Mr", "Mrs", "Ms", "Dr", "Prof", "Sir", "St"})
_TITLE = re.compile(rf"\b(?:[A-Z]|{'|'.join(sorted(_TITLES))})\.$")
_LOOK_BACK = 40  # characters before a word that say whether it opens a sentence
_MIN_STEM = 4  # letters that make "Norman" and "Normans" one


@dataclass(frozen=True, slots=True)
class Name:
    """One word of a name.

    Attributes:
        text: as it is written, without a possessive.
    """

    text: str
    start: int
    end: int


def names(
    text: str, words: Words, figures: Sequence[Figure] = (), *, nouns_have_capitals: bool = False
) -> list[Name]:
    """Return the words of `text` that are names, in order.

    The first word counts when it is a code, or another name or a verb follows.

    Args:
        figures: of the text; no part of one ("May 2026", "5 kW") is a name.
        nouns_have_capitals: the text is German: only codes and abbreviations count.
    """
    tokens = list(_TOKEN.finditer(text))
    taken = covered(figures)
    found = []
    for i, token in enumerate(tokens):
        word = _POSSESSIVE.sub("", token.group())
        if word in _TITLES or token.start() in taken:
            continue
        if _is_code(word) or (
            not nouns_have_capitals
            and word[0].isupper()
            and words.content(word)
            and _is_placed(text, tokens, i)
        ):
            found.append(Name(word, token.start(), token.start() + len(word)))
    return found


def joined(missing: list[Name], text: str) -> list[str]:
    """Return names as they are read: words that stand beside each other are one ("Von Miller")."""
    runs: list[list[Name]] = []
    for name in missing:
        if runs and text[runs[-1][-1].end : name.start].isspace():
            runs[-1].append(name)
        else:
            runs.append([name])
    return [text[run[0].start : run[-1].end] for run in runs]


class KnownNames:
    """The words of a text, in which names are looked up: endings, accents and case do not count."""

    def __init__(self, text: str) -> None:
        tokens = [_POSSESSIVE.sub("", token.group()) for token in _TOKEN.finditer(text)]
        self._words = {form for token in tokens for form in _forms(token)}
        self._stems = {word[:_MIN_STEM] for word in self._words if len(word) >= _MIN_STEM}
        self._initials = "".join(token[0] for token in tokens if token[0].isupper())

    def __contains__(self, name: Name) -> bool:
        whole, *parts = _forms(name.text)
        if whole in self._words or (bool(parts) and all(part in self._words for part in parts)):
            return True
        if name.text.isupper() and 2 <= len(name.text) <= 5 and name.text in self._initials:
            return True  # "NFL", where the text says National Football League
        return whole[:_MIN_STEM] in self._stems and any(_akin(whole, word) for word in self._words)


def _forms(word: str) -> list[str]:
    """The word as it is compared, then its parts ("Anglo-Saxon")."""
    plain = word.casefold()
    if not plain.isascii():
        plain = "".join(c for c in unicodedata.normalize("NFD", plain) if not unicodedata.combining(c))
    parts = [part for part in _PART.split(plain) if part]
    return [plain, *parts] if len(parts) > 1 else [plain]


def _akin(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return (
        len(short) >= _MIN_STEM and long.startswith(short) and len(long) - len(short) <= 3 and short.isalpha()
    )


def _is_code(word: str) -> bool:
    letters = [c for c in word if c.isalpha()]
    if not letters or len(word) < 2:
        return False
    return any(c.isdigit() for c in word) or (len(letters) > 1 and all(c.isupper() for c in letters))


def _is_placed(text: str, tokens: list[re.Match[str]], i: int) -> bool:
    """Tell whether a capital at this place says that the word is a name."""
    if not _opens_sentence(text, tokens[i].start()):
        return True
    if i + 1 == len(tokens):
        return False
    following = tokens[i + 1].group()
    return following in _VERBS or (
        following[0].isupper()
        and not _is_code(following)
        and not _opens_sentence(text, tokens[i + 1].start())
    )


def _opens_sentence(text: str, at: int) -> bool:
    before = text[max(0, at - _LOOK_BACK) : at].rstrip(" \t\"'“‘„«*_([")
    if _TITLE.search(before):
        return False
    return not before or before[-1] in ".!?:\n…•-–" or before.endswith(("\n#", "|"))
