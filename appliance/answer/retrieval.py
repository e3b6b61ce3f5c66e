"""From a question to passages: dense and lexical candidates of what the caller may see, fused, checked, trimmed."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from appliance.answer.evidence import best_sentence, evidence
from appliance.answer.fusion import Ranking, fuse
from appliance.answer.passages import distinct, to_passages
from appliance.answer.query import fts_query, rarity
from appliance.answer.readable import still_readable
from appliance.answer.rerank import N_CANDIDATES, Reranker, rerank
from appliance.answer.words import Words, surface_words
from appliance.api.schema import Passage
from ingest.access import Viewer
from ingest.errors import DenseError
from ingest.filter import EVERYTHING, Filter, Scope
from ingest.library import Library
from ingest.stored import StoredChunk

log = logging.getLogger(__name__)

# Candidates of each kind for n passages: filters, duplicates and Chroma's recall holes (chroma#1205) eat some.
_OVERFETCH = 8
_MIN_CANDIDATES = 40
_DEEPER = 8  # times as many, where access, a filter or deletions leave too few
# Chunks of a filter's documents that are ranked exactly at once: 25 ms of CPU for so many (100,000 chunks recorded,
# 2026-11-30); of more, enough are mostly among the near ones, and where not, exact search costs 4 ms a thousand.
_EXACT_BELOW = 5000
_N_EVIDENCE = 5  # passages whose words count as evidence


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


class QueryEmbedder(Protocol):
    """Turns texts into vectors."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, n_dims), L2-normalised."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found.

    Attributes:
        confidence: see `evidence`. Says how likely the answer is among the passages.
    """

    passages: tuple[Passage, ...]
    confidence: float
    seconds: float


class Retriever:
    """Searches the library for one caller at a time; every method is blocking and thread-safe."""

    def __init__(
        self,
        library: Library,
        dense: VectorIndex,
        record_vectors: ExactIndex,
        embedder: QueryEmbedder,
        folder: Path,
        words: Words,
        reranker: Reranker | None = None,
    ) -> None:
        self._library = library
        self._dense = dense
        self._record_vectors = record_vectors
        self._embedder = embedder
        self._folder = folder
        self._words = words
        self._reranker = reranker

    def search(
        self, query: str, viewer: Viewer, n: int, only: Filter = EVERYTHING, context: str = ""
    ) -> Retrieved:
        """Return the passages nearest to `query` that the viewer may read, of the documents that `only` lets in.

        They are made of the `n` best chunks, and fewer than `n` where some of those follow each other.

        Args:
            context: what was said before, for a query that does not stand alone: it is searched for as well, but the
                evidence is counted by the query's own words, if it has any.
        Raises:
            NotInLibraryError: `only` names what is not there.
        """
        started = time.monotonic()
        scope = self._library.scope(only, viewer)
        words = self._words
        n_candidates = max(_MIN_CANDIDATES, n * _OVERFETCH)
        sought = f"{context} {query}".strip()
        dense, chunks = self._dense_candidates(self._embedder.embed([sought])[0], n_candidates, viewer, scope)
        lexical = (
            self._library.lexical(fts_query(sought), n_candidates, viewer, scope)
            if surface_words(sought)
            else []
        )
        chunks |= self._visible(lexical, viewer)
        fused = fuse(dense, [(i, score) for i, score in lexical if i in chunks])
        n_best = max(n, _N_EVIDENCE, N_CANDIDATES if self._reranker else 0)
        best = distinct([(chunks[i], score) for i, score in fused], n_best, words)
        if self._reranker is not None:
            best = rerank(sought, best, self._reranker)
        weights = rarity(query if surface_words(query) else sought, self._library, words)
        confidence = evidence(dense, [each.chunk for each in best[:_N_EVIDENCE]], weights, words)
        ids = [each.chunk.id for each in best[:n]]
        beside, also = self._library.beside(ids, viewer), self._library.same_text(ids, viewer)
        passages = to_passages(best[:n], beside, also, lambda text: best_sentence(text, weights, words))
        return Retrieved(passages, confidence, time.monotonic() - started)

    def still_there(self, chunk_ids: Sequence[int], viewer: Viewer) -> bool:
        """Tell whether all these chunks still exist and may be read: for passages of earlier turns."""
        return len(self._visible([(i, 0.0) for i in chunk_ids], viewer)) == len(set(chunk_ids))

    def _dense_candidates(
        self, vector: NDArray[np.float32], n: int, viewer: Viewer, scope: Scope | None
    ) -> tuple[Ranking, dict[int, StoredChunk]]:
        """The nearest chunks of those that the viewer may see; looks deeper while few of the near ones are theirs."""
        exact = scope is not None and scope.n_chunks < _EXACT_BELOW
        depth = n if scope is None or exact else n * _DEEPER
        while True:
            if scope is not None and exact:
                ranking = self._record_vectors.among(scope.documents, vector, depth)
            else:
                ranking = self._nearest(vector, depth)
            chunks = self._visible(ranking, viewer, scope)
            if len(chunks) >= n or len(ranking) < depth:
                return [(i, score) for i, score in ranking if i in chunks][:n], chunks
            if scope is not None and not exact:
                exact, depth = True, n
            else:
                depth *= _DEEPER

    def _nearest(self, vector: NDArray[np.float32], n: int) -> Ranking:
        try:
            found = self._dense.query(vector, n)
        except DenseError as error:
            log.debug("searching the record's vectors: %s", error)
            return self._record_vectors.query(vector, n)
        self._record_vectors.forget()  # 1.5 KB a chunk, for as long as the index could not be asked
        return found

    def _visible(
        self, ranking: Ranking, viewer: Viewer, scope: Scope | None = None
    ) -> dict[int, StoredChunk]:
        """Chunks that exist, that the viewer may read, of a scope, and whose file is there this moment."""
        chunks = self._library.chunks([i for i, _ in ranking], viewer)
        if scope is not None:
            chunks = {i: chunk for i, chunk in chunks.items() if chunk.document.id in scope.documents}
        readable = still_readable(self._folder, (chunk.document for chunk in chunks.values()), viewer)
        return {i: chunk for i, chunk in chunks.items() if chunk.document.id in readable}
