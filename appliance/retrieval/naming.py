"""Which documents a question names: by words of their titles and paths, and by years. A first choice, not a filter."""

from __future__ import annotations

import math
import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from appliance.text.words import Words
from ingest.library import Library

# Documents that may be named at once: a word that more of them have in their names chooses none.
_MAX_SHARE = 0.25
_MAX_NAMED = 20
_MIN_AFFINITY = 0.25  # less of a name is a word in common
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
        affinity: by document id, the share (0 to 1) of the names' words in the question, by rarity, that are its own,
            times the share of its name that stands in the question.
        best: those with the highest affinity; empty where the question names none.
        clearly: at least two words of the name are in the question, and no rarer one of it is missing.
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
    """Names of documents: by id the words of path and of title; by word who has it, and how rare that is."""

    names: Mapping[int, tuple[frozenset[str], frozenset[str]]]
    n_chunks: Mapping[int, int]
    holders: Mapping[str, Sequence[int]]
    rarity: Mapping[str, float]

    @classmethod
    def of(
        cls, names: Mapping[int, tuple[frozenset[str], frozenset[str]]], n_chunks: Mapping[int, int]
    ) -> _Index:
        holders: dict[str, list[int]] = defaultdict(list)
        for id, (path, title) in names.items():
            for word in path | title:
                holders[word].append(id)
        # A word that all have is worth nothing.
        rarity = {word: math.log((1 + len(names) / len(ids)) / 2) for word, ids in holders.items()}
        return cls(names, n_chunks, holders, rarity)

    def words(self, document: int) -> frozenset[str]:
        """Return the words of path and title."""
        path, title = self.names[document]
        return path | title

    def weight(self, words: Iterable[str]) -> float:
        """Return how much words tell documents apart."""
        return sum(self.rarity.get(word, 0.0) for word in words)

    def share(self, name: frozenset[str], known: frozenset[str]) -> float:
        """Return the share of a name, by rarity, that is known: "pump-hall-b" is not "the pump in hall A"."""
        whole = self.weight(name)
        return self.weight(name & known) / whole if whole > 0 else 0.0

    def is_clear(self, name: frozenset[str], known: frozenset[str]) -> bool:
        """Tell whether two words of a name are known, and none that is missing is as rare as one of these."""
        rarest = max((self.rarity[word] for word in name & known), default=0.0)
        return len(name & known) >= 2 and all(self.rarity[word] < rarest for word in name - known)


class Naming:
    """The words of all documents' names, read anew when documents change. Thread-safe."""

    def __init__(self, library: Library, words: Words) -> None:
        self._library = library
        self._words = words
        self._lock = threading.Lock()
        self._stamp: tuple[float, ...] = ()
        self._built = _Index({}, {}, {}, {})

    def named(self, question: str) -> Named:
        """Return the documents that a question names."""
        index = self._index()
        known = frozenset(
            word for word in name_words(question, self._words) if index.rarity.get(word, 0.0) > 0
        )
        total = index.weight(known)
        held = {document: 0.0 for word in known for document in index.holders[word]}
        for document in held:
            name = max(index.names[document], key=lambda name: index.share(name, known))
            held[document] = index.share(name, known) * index.weight(index.words(document) & known) / total
        highest = max(held.values(), default=0.0)
        if highest < _MIN_AFFINITY:
            return Named()
        best = frozenset(document for document, share in held.items() if share >= highest - 1e-9)
        if len(best) > min(_MAX_NAMED, max(2, len(index.names) * _MAX_SHARE)):
            return Named()
        some = min(best)
        own = index.words(some) & known
        n_chunks = sum(index.n_chunks[document] for document in best)
        return Named(
            held, best, any(index.is_clear(name, known) for name in index.names[some]), n_chunks, own
        )

    def _index(self) -> _Index:
        stamp = self._library.names_stamp()
        with self._lock:
            if stamp != self._stamp:
                names, n_chunks = {}, {}
                for id, path, title, n in self._library.names():
                    of_path = name_words(str(PurePath(path).with_suffix("")), self._words)
                    names[id] = (of_path, name_words(title, self._words) or of_path)
                    n_chunks[id] = n
                self._stamp, self._built = stamp, _Index.of(names, n_chunks)
            return self._built


def name_words(text: str, words: Words) -> frozenset[str]:
    """Return the stems of a name's words; a year is one wherever it stands ("FY2019")."""
    return frozenset((*words.content(_APART.sub(" ", text)), *_YEAR.findall(text)))
