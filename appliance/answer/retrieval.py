"""From a question to passages: dense and lexical candidates of what the caller may see, fused, checked, trimmed."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from appliance.answer.words import Words, sentence_spans, surface_words
from appliance.api.schema import Passage
from ingest.access import Viewer
from ingest.errors import DenseError
from ingest.library import Library
from ingest.stored import StoredChunk, printable

log = logging.getLogger(__name__)

# Candidates of each kind for n passages: filters, duplicates and Chroma's recall holes (chroma#1205) eat some.
_OVERFETCH = 8
_MIN_CANDIDATES = 40
_DEEPER = 8  # times as many, where access or deletions leave too few
# Half dense, half lexical, each divided by its best: 0.957 hit@1 on XQuAD (dense 0.882, BM25 0.941, RRF 0.924).
_DENSE_WEIGHT = 0.5
_SAME_TEXT = 0.9  # Jaccard of words above which two passages say the same
_N_EVIDENCE = 5  # passages whose words count as evidence

Ranking = Sequence[tuple[int, float]]


class VectorIndex(Protocol):
    """Nearest chunks of a vector, by Chroma."""

    def query(self, vector: NDArray[np.float32], n: int) -> Ranking:
        """Return (chunk id, cosine), best first."""


class ExactIndex(VectorIndex, Protocol):
    """The same, by the record's own vectors, held in memory from the first query on."""

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
    ) -> None:
        self._library = library
        self._dense = dense
        self._record_vectors = record_vectors
        self._embedder = embedder
        self._folder = folder
        self._words = words

    def search(self, query: str, viewer: Viewer, n: int) -> Retrieved:
        """Return the `n` passages nearest to `query` that the viewer may read."""
        started = time.monotonic()
        words = self._words
        n_candidates = max(_MIN_CANDIDATES, n * _OVERFETCH)
        dense, chunks = self._dense_candidates(self._embedder.embed([query])[0], n_candidates, viewer)
        lexical = (
            self._library.lexical(fts_query(query), n_candidates, viewer) if surface_words(query) else []
        )
        chunks |= self._visible(lexical, viewer)
        fused = fuse(dense, [(i, score) for i, score in lexical if i in chunks])
        best = distinct([(chunks[i], score) for i, score in fused], max(n, _N_EVIDENCE), words)
        weights = self._rarity(query)
        confidence = evidence(dense, [chunk for chunk, _ in best[:_N_EVIDENCE]], weights, words)
        also = self._library.same_text([chunk.id for chunk, _ in best[:n]], viewer)
        passages = tuple(
            _passage(number, chunk, score, best_sentence(chunk.text, weights, words), also.get(chunk.id, ()))
            for number, (chunk, score) in enumerate(best[:n], start=1)
        )
        return Retrieved(passages, confidence, time.monotonic() - started)

    def still_there(self, chunk_ids: Sequence[int], viewer: Viewer) -> bool:
        """Tell whether all these chunks still exist and may be read: for passages of earlier turns."""
        return len(self._visible([(i, 0.0) for i in chunk_ids], viewer)) == len(set(chunk_ids))

    def _dense_candidates(
        self, vector: NDArray[np.float32], n: int, viewer: Viewer
    ) -> tuple[Ranking, dict[int, StoredChunk]]:
        """The nearest chunks of those that the viewer may see; looks deeper while few of the near ones are theirs."""
        depth = n
        while True:
            ranking = self._nearest(vector, depth)
            chunks = self._visible(ranking, viewer)
            if len(chunks) >= n or len(ranking) < depth:
                return [(i, score) for i, score in ranking if i in chunks][:n], chunks
            depth *= _DEEPER

    def _nearest(self, vector: NDArray[np.float32], n: int) -> Ranking:
        try:
            found = self._dense.query(vector, n)
        except DenseError as error:
            log.debug("searching the record's vectors: %s", error)
            return self._record_vectors.query(vector, n)
        self._record_vectors.forget()  # 1.5 KB a chunk, for as long as the index could not be asked
        return found

    def _visible(self, ranking: Ranking, viewer: Viewer) -> dict[int, StoredChunk]:
        """Chunks that exist, that the viewer may read, and whose file is there this moment."""
        chunks = self._library.chunks([i for i, _ in ranking], viewer)
        readable = self._still_readable(chunks.values(), viewer)
        return {i: chunk for i, chunk in chunks.items() if chunk.document.id in readable}

    def _still_readable(self, chunks: Iterable[StoredChunk], viewer: Viewer) -> set[int]:
        """Ids of the documents whose file is there and readable this moment: a delete or chmod counts at once.

        A folder that vanished as a whole (a mount that is away) deletes nothing: the record answers for it.
        """
        documents = {chunk.document.id: chunk.document for chunk in chunks}
        if not self._folder.is_dir():
            return set(documents)
        return {i for i, document in documents.items() if _readable(self._folder / document.path, viewer)}

    def _rarity(self, query: str) -> Mapping[str, float]:
        """Inverse document frequency of each content word of the query, by stem."""
        surface = surface_words(query)
        frequency = self._library.document_frequency(surface)
        n_chunks = max(1, self._library.n_chunks())
        stems = {word: self._words.content(word) for word in surface}
        return {
            stem[0]: float(np.log(1 + n_chunks / (1 + frequency.get(word, 0))))
            for word, stem in stems.items()
            if stem
        }


def fts_query(query: str) -> str:
    """Return an FTS5 query that matches any content word of `query`; nothing in it is FTS5 syntax."""
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in surface_words(query))


def fuse(dense: Ranking, lexical: Ranking) -> list[tuple[int, float]]:
    """Join two rankings, best first, scores 0 to 1: the weighted sum of each score over the best of its kind.

    Where one ranking is empty the other one stands alone.
    """
    fused: dict[int, float] = {}
    dense_weight = _DENSE_WEIGHT if lexical else 1.0
    for ranking, weight in ((dense, dense_weight), (lexical, 1.0 - _DENSE_WEIGHT if dense else 1.0)):
        top = max((score for _, score in ranking), default=0.0)
        for chunk_id, score in ranking:
            fused[chunk_id] = fused.get(chunk_id, 0.0) + (weight * max(score, 0.0) / top if top > 0 else 0.0)
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))


def distinct(
    ranked: Sequence[tuple[StoredChunk, float]], n: int, words: Words
) -> list[tuple[StoredChunk, float]]:
    """Return the first `n` chunks that do not repeat a better one."""
    kept: list[tuple[StoredChunk, float]] = []
    seen: list[set[str]] = []
    for chunk, score in ranked:
        if len(kept) == n:
            break
        own = set(words.content(chunk.text))
        if any(len(own & other) >= _SAME_TEXT * len(own | other) for other in seen):
            continue
        kept.append((chunk, score))
        seen.append(own)
    return kept


def evidence(
    dense: Ranking, best: Sequence[StoredChunk], weights: Mapping[str, float], words: Words
) -> float:
    """Return how much speaks for an answer among the best passages, 0 to 2.

    It is the first passage's cosine to the question + the share of the question's words, by weight, that stand in one
    sentence. One sentence, and not the passages together: what is near, but not what was asked, holds the words too,
    scattered (docs/measurements.md).
    """
    if not best:
        return 0.0
    sentences = (chunk.text[slice(*span)] for chunk in best for span in sentence_spans(chunk.text))
    return dict(dense).get(best[0].id, 0.0) + max(
        (coverage(weights, sentence, words) for sentence in sentences), default=0.0
    )


def coverage(weights: Mapping[str, float], text: str, words: Words) -> float:
    """Return the share (0 to 1) of the query's words, by weight, that stand in a text."""
    known = set(words.content(text))
    total = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in known) / total if total else 0.0


def best_sentence(text: str, weights: Mapping[str, float], words: Words) -> tuple[int, int] | None:
    """Return the span of the sentence that holds most of the query's words, by weight; None when none holds any."""

    def score(span: tuple[int, int]) -> float:
        return sum(weights.get(word, 0.0) for word in set(words.content(text[slice(*span)])))

    span = max(sentence_spans(text), key=score, default=None)
    return span if span is not None and score(span) > 0 else None


def _readable(path: Path, viewer: Viewer) -> bool:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    return viewer.may_read(found.st_uid, found.st_gid, found.st_mode)


def _passage(
    number: int, chunk: StoredChunk, score: float, best: tuple[int, int] | None, also: Sequence[str]
) -> Passage:
    document = chunk.document
    return Passage(
        number=number,
        chunk_id=chunk.id,
        document_id=document.id,
        path=printable(document.path),
        title=document.title,
        locator=str(chunk.locator),
        place=chunk.locator.to_json(),
        text=chunk.text,
        best=best,
        score=score,
        flags=sorted(chunk.flags),
        also=[printable(path) for path in also],
    )
