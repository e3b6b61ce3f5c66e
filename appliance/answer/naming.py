"""Which documents a question names: by words of their titles and paths, and by years. A first choice, not a filter."""

from __future__ import annotations

import math
import re
import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from appliance.answer.words import Words
from ingest.library import Library

# Documents that may be named at once: a word that more of them have in their names chooses none.
_MAX_SHARE = 0.25
_MAX_NAMED = 20
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_APART = re.compile(r"[\W_]+")
# What is added for a document that is named in full. Measured 2026-11-30 on annual reports that are alike but for
# company and year (120 questions): the first passage is of the right one for 0.68 without, 0.99 with 0.2, all with 0.3.
# One common word is weak evidence: there a half of it, which moves nothing on XQuAD.
NAMED, MENTIONED = 0.3, 0.15


@dataclass(frozen=True, slots=True)
class Named:
    """The documents that a question names.

    Attributes:
        affinity: by document id, the share (0 to 1) of the names' words in the question, by rarity, that are its own.
        best: those with the highest affinity; empty where the question names none.
        clearly: at least two words of the name are in the question.
        n_chunks: of the best ones together.
        words: of the question that stand in a best one's name, by stem.
    """

    affinity: Mapping[int, float] = field(default_factory=dict)
    best: frozenset[int] = frozenset()
    clearly: bool = False
    n_chunks: int = 0
    words: frozenset[str] = frozenset()

    def bonus(self, document: int) -> float:
        """Return what is added to the score of a document's chunks."""
        return (NAMED if self.clearly else MENTIONED) * self.affinity.get(document, 0.0) if self.best else 0.0


@dataclass(frozen=True, slots=True)
class _Index:
    """Who has a word in its name, by stem, and how many chunks each document has."""

    holders: Mapping[str, frozenset[int]]
    n_chunks: Mapping[int, int]


class Naming:
    """The words of all documents' names, read anew when documents change. Thread-safe."""

    def __init__(self, library: Library, words: Words) -> None:
        self._library = library
        self._words = words
        self._lock = threading.Lock()
        self._stamp: tuple[float, ...] = ()
        self._built = _Index({}, {})

    def named(self, question: str) -> Named:
        """Return the documents that a question names."""
        index = self._index()
        n, holders = len(index.n_chunks), index.holders
        known = {word: holders[word] for word in name_words(question, self._words) if word in holders}
        rarity = {word: math.log((1 + n / len(ids)) / 2) for word, ids in known.items()}
        total = sum(rarity.values())
        if total <= 0:
            return Named()
        affinity: dict[int, float] = defaultdict(float)
        for word, ids in known.items():
            for document in ids:
                affinity[document] += rarity[word] / total
        highest = max(affinity.values())
        best = frozenset(document for document, share in affinity.items() if share >= highest - 1e-9)
        if len(best) > min(_MAX_NAMED, max(2, n * _MAX_SHARE)):
            return Named()
        some = next(iter(best))
        own = frozenset(word for word, ids in known.items() if some in ids)
        clearly = sum(rarity[word] > 0 for word in own) >= 2
        return Named(affinity, best, clearly, sum(index.n_chunks[document] for document in best), own)

    def _index(self) -> _Index:
        stamp = self._library.names_stamp()
        with self._lock:
            if stamp != self._stamp:
                found: dict[str, set[int]] = defaultdict(set)
                names = self._library.names()
                for id, path, title, _ in names:
                    for word in name_words(f"{PurePath(path).with_suffix('')} {title}", self._words):
                        found[word].add(id)
                holders = {word: frozenset(ids) for word, ids in found.items()}
                self._stamp, self._built = stamp, _Index(holders, {id: n for id, _, _, n in names})
            return self._built


def name_words(text: str, words: Words) -> set[str]:
    """Return the stems of a name's words; a year is one wherever it stands ("FY2019")."""
    return {*words.content(_APART.sub(" ", text)), *_YEAR.findall(text)}
