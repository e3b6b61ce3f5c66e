"""Text as retrieval and citations see it: sentences, content words, numbers. Pure."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import snowballstemmer

_WORD = re.compile(r"\w+(?:[.,:/\-–]\w+)*", re.UNICODE)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
# A sentence ends at . ! ? … or a line break, unless the full stop stands in a number, an abbreviation or an initial.
_SENTENCE_END = re.compile(r"[.!?…。！？]+[\"'”’)\]]*(?=\s)|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|Nr|Fig|Sec|Art|Abs|approx|ca|vs|etc|e\.g|i\.e|z\.B|d\.h|bzw|max|min)\.$"
)
# Words that say nothing of a text's subject: the closed classes of English, and German ones common in questions.
_STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being both but by can could did do does
    doing down during each few for from further had has have having he her here hers him his how i if in into is it its
    just me more most must my no nor not now of off on once only or other our out over own same shall she should so some
    such than that the their them then there these they this those through to too under until up us very was we were
    what when where which while who whom whose why will with would you your many much
    aber als am an auch auf aus bei bin bis bist da damit das dass dem den der des die dies diese dieser doch du durch
    ein eine einem einen einer eines er es für habe haben hat ich ihr im in ist ja kann man mit muss nach nicht noch nun
    nur ob oder sein sich sie sind so und uns vom von vor war was wenn wer werden wie wir wird wo zu zum zur wann welche
    welcher welches warum wieviel viele""".split()
)


_MAX_STEMS = 100_000  # some 10 MB; a site's whole vocabulary


class Words:
    """Splits text into stems that can be compared. Thread-safe.

    Stems are remembered: the stemmer needs 130 µs a word, which was nine tenths of a search (2026-11-30, 167 → 20 ms).
    """

    def __init__(self) -> None:
        self._stemmer = snowballstemmer.stemmer("english")
        self._stems: dict[str, str] = {}
        self._lock = threading.Lock()  # the stemmer keeps its word in a buffer

    def content(self, text: str) -> list[str]:
        """Return the stems of `text` in order, lower case, stop words dropped; numbers and codes stay whole."""
        found = (match.group().casefold() for match in _WORD.finditer(text))
        return [self._stem(word) for word in found if word not in _STOP_WORDS]

    def _stem(self, word: str) -> str:
        if any(c.isdigit() for c in word):
            return word
        stem = self._stems.get(word)
        if stem is None:
            with self._lock:
                stem = str(self._stemmer.stemWord(word))
                if len(self._stems) >= _MAX_STEMS:
                    self._stems.clear()
                self._stems[word] = stem
        return stem


def surface_words(text: str) -> list[str]:
    """Return the content words of `text` as written, lower case, first occurrence only."""
    words = (match.group().casefold() for match in _WORD.finditer(text))
    return list(dict.fromkeys(word for word in words if word not in _STOP_WORDS))


def numbers(text: str) -> set[str]:
    """Return the numbers of `text`, thousands separators dropped: "1,200" and "1200" are one."""
    return {_plain(match.group()) for match in _NUMBER.finditer(text)}


def _plain(number: str) -> str:
    number = number.rstrip(".,:")
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", number):
        return number.replace(",", "")
    return number.replace(",", ".")


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) character offsets of each sentence, white space around it left out."""
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if text[match.start()] == "." and _ABBREVIATION.search(
            text[max(0, match.start() - 8) : match.start() + 1]
        ):
            continue
        yield from _trimmed(text, start, match.end())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    right = start + len(piece.rstrip())
    if left < right:
        yield left, right
