"""What may answer a question: chunks near it by vector, by word, as written, and of the documents that it names.

All of them exist, may be read by the viewer and are of the scope. Which are best is for `retrieval`.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from appliance.retrieval.fusion import Ranking
from appliance.retrieval.naming import Named
from appliance.retrieval.query import Match, Query
from appliance.retrieval.readable import still_readable
from ingest.access import Viewer
from ingest.errors import DenseError
from ingest.filter import Scope
from ingest.library import Library
from ingest.locator import PATH
from ingest.stored import StoredChunk

log = logging.getLogger(__name__)

_DEEPER = 8  # times as many, where access, a filter or deletions leave too few
# Chunks of a filter's documents that are ranked exactly; where there are more, many of the near ones are among them.
_EXACT_BELOW = 5000
# Chunks up to which the record's own vectors are asked instead of Chroma: no recall holes, the same answer each time.
# 2 EPYC cores, 384 dimensions, 2026-11-30: 20,000 take 8 ms of CPU a query and 31 MB of memory, 100,000 take 16 ms and
# 154 MB; Chroma takes 5 ms.
EXACT_UP_TO = 20_000
# What a word that stands once adds to BM25, in units of its rarity: for scripts whose words FTS5 cannot part.
_SCORE = 1.5
_N_AS_WRITTEN = 60  # chunks in which a code is looked for
_N_NAMED = 20  # chunks of documents that the question names
# Of those documents together: 10 ms. Longer ones are found by words, and by what of them is near anyway.
_NAMED_UP_TO = 2000


class VectorIndex(Protocol):
    """Nearest chunks of a vector, by Chroma."""

    def query(self, vector: NDArray[np.float32], n: int) -> Ranking:
        """Return (chunk id, cosine), best first."""


class ExactIndex(VectorIndex, Protocol):
    """The same, by the record's own vectors, held in memory from the first query on."""

    def among(self, documents: Collection[int], vector: NDArray[np.float32], n: int) -> Ranking:
        """Return (chunk id, cosine) of the nearest chunks of these documents alone, best first."""

    def forget(self) -> None:
        """Give the memory back until the next query."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for, for whom, where.

    Attributes:
        vector: the question's, (n_dims,), L2-normalised.
        n: candidates of each kind.
    """

    query: Query
    match: Match
    vector: NDArray[np.float32]
    named: Named
    viewer: Viewer
    scope: Scope | None
    n: int


@dataclass(frozen=True, slots=True)
class Found:
    """What may answer a question.

    Attributes:
        dense, lexical: best first.
        bonus: by chunk id: 1 for what must stand there as written, and something for a named document.
    """

    dense: Ranking
    lexical: Ranking
    bonus: Mapping[int, float]
    chunks: Mapping[int, StoredChunk]


class Candidates:
    """Finds candidates; blocking and thread-safe."""

    def __init__(
        self, library: Library, dense: VectorIndex, record_vectors: ExactIndex, folder: Path
    ) -> None:
        self._library = library
        self._dense = dense
        self._record_vectors = record_vectors
        self._folder = folder

    def find(self, search: Search) -> Found:
        """Return the candidates of a search."""
        dense, chunks = self._nearest_visible(search)
        lexical = self._lexical(search)
        named_dense, named_lexical = self._of_named(search)
        written = self._as_written(search)
        chunks |= self.visible(
            [i for i, _ in (*lexical, *written, *named_dense, *named_lexical) if i not in chunks],
            search.viewer, search.scope,
        )  # fmt: skip
        bonus = {
            i: search.named.bonus(chunk.document.id) + search.query.holds(_whole(chunk))
            for i, chunk in chunks.items()
        }
        return Found(
            _joined(dense, named_dense, chunks), _joined(lexical, named_lexical, chunks),
            {i: extra for i, extra in bonus.items() if extra}, chunks,
        )  # fmt: skip

    def visible(
        self, ids: Sequence[int], viewer: Viewer, scope: Scope | None = None
    ) -> dict[int, StoredChunk]:
        """Return the chunks that exist, that the viewer may read, of a scope, whose file is there this moment."""
        chunks = self._library.chunks(ids, viewer)
        if scope is not None:
            chunks = {i: chunk for i, chunk in chunks.items() if chunk.document.id in scope.documents}
        readable = still_readable(self._folder, (chunk.document for chunk in chunks.values()), viewer)
        return {i: chunk for i, chunk in chunks.items() if chunk.document.id in readable}

    def _lexical(self, search: Search) -> Ranking:
        if not search.match.fts:
            return []
        # A few documents may hold only the frequent words, which a whole library leaves out.
        fts = search.match.fts if search.scope is None else search.match.every
        found = self._library.lexical(fts, search.n, search.viewer, search.scope)
        if not search.match.unspaced:
            return found
        weights = {word: _SCORE * weight for word, weight in search.match.unspaced.items()}
        scores = Counter(dict(found))
        scores.update(dict(self._library.containing(weights, search.n, search.viewer, search.scope)))
        return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[: search.n]

    def _as_written(self, search: Search) -> Ranking:
        if not search.query.exact:
            return []
        return self._library.lexical(search.query.exact_match(), _N_AS_WRITTEN, search.viewer, search.scope)

    def _of_named(self, search: Search) -> tuple[Ranking, Ranking]:
        """The best chunks of the documents that the question names: among many alike, few of them are near enough."""
        named, scope = search.named.best, search.scope
        if scope is not None:
            named &= scope.documents
        if not named or search.named.n_chunks > _NAMED_UP_TO:
            return [], []
        dense = self._record_vectors.among(named, search.vector, _N_NAMED)
        words = search.match.every
        return dense, self._library.lexical_among(words, _N_NAMED, named, search.viewer) if words else []

    def _nearest_visible(self, search: Search) -> tuple[Ranking, dict[int, StoredChunk]]:
        """The nearest chunks of those that the viewer may see; looks deeper while few of the near ones are theirs."""
        n, scope = search.n, search.scope
        exact = scope is not None and scope.n_chunks < _EXACT_BELOW
        depth = n if scope is None or exact else n * _DEEPER
        while True:
            if scope is not None and exact:
                ranking = self._record_vectors.among(scope.documents, search.vector, depth)
            else:
                ranking = self._nearest(search.vector, depth)
            chunks = self.visible([i for i, _ in ranking], search.viewer, scope)
            if len(chunks) >= n or len(ranking) < depth:
                return [(i, score) for i, score in ranking if i in chunks][:n], chunks
            if scope is not None and not exact:
                exact, depth = True, n
            else:
                depth *= _DEEPER

    def _nearest(self, vector: NDArray[np.float32], n: int) -> Ranking:
        if self._library.n_chunks() <= EXACT_UP_TO:
            return self._record_vectors.query(vector, n)
        try:
            found = self._dense.query(vector, n)
        except DenseError as error:
            log.debug("searching the record's vectors: %s", error)
            return self._record_vectors.query(vector, n)
        self._record_vectors.forget()  # 1.5 KB a chunk, for as long as the index could not be asked
        return found


def _joined(one: Ranking, other: Ranking, chunks: Mapping[int, StoredChunk]) -> Ranking:
    scores = {i: score for i, score in (*other, *one) if i in chunks}
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def _whole(chunk: StoredChunk) -> str:
    """A chunk's text with the names above it: a data sheet's pages are about the part in its title."""
    return PATH.join((chunk.document.path, chunk.document.title, *chunk.locator.path, chunk.text))
