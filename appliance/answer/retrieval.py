"""From a question to passages: candidates of what the caller may see, fused, checked, trimmed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from appliance.answer.candidates import Candidates, ExactIndex, Found, Search, VectorIndex
from appliance.answer.evidence import Signs, confidence, lead_of, signs
from appliance.answer.fusion import fuse
from appliance.answer.naming import Naming
from appliance.answer.passages import Kept, distinct, to_passages
from appliance.answer.query import Query, match, rarity
from appliance.answer.rerank import N_CANDIDATES, Reranker, rerank
from appliance.answer.sentences import Sentence, SentenceEmbedder, Sentences
from appliance.answer.words import Words
from appliance.api.schema import Passage
from ingest.access import Viewer
from ingest.filter import EVERYTHING, Filter
from ingest.library import Library
from ingest.locator import PATH

# Candidates of each kind for n passages: filters, duplicates and Chroma's recall holes (chroma#1205) eat some.
_OVERFETCH = 8
_MIN_CANDIDATES = 40
_N_EVIDENCE = 5  # passages whose sentences count as evidence
_N_SENTENCES = 2  # of each that are embedded for it, and of the first passage one more, which may be quoted


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found.

    Attributes:
        confidence: how likely the answer is among the passages, 0 to 1; see `evidence`.
        signs: what it is made of.
    """

    passages: tuple[Passage, ...]
    confidence: float
    seconds: float
    signs: Signs = field(default_factory=Signs)


class Retriever:
    """Searches the library for one caller at a time; every method is blocking and thread-safe."""

    def __init__(
        self,
        library: Library,
        dense: VectorIndex,
        record_vectors: ExactIndex,
        embedder: SentenceEmbedder,
        folder: Path,
        words: Words,
        reranker: Reranker | None = None,
    ) -> None:
        self._library = library
        self._candidates = Candidates(library, dense, record_vectors, folder)
        self._naming = Naming(library, words)
        self._embedder = embedder
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
        sought = Query.of(f"{context} {query}".strip())
        own = Query.of(query)
        frequency = self._library.document_frequency(sought.words)
        n_chunks = self._library.n_chunks()
        search = Search(
            sought, match(sought.words, frequency, n_chunks), self._embedder.embed([sought.text])[0],
            self._naming.named(sought.text), viewer, self._library.scope(only, viewer),
            max(_MIN_CANDIDATES, n * _OVERFETCH),
        )  # fmt: skip
        found = self._candidates.find(search)
        best = self._best(search, found, max(n, _N_EVIDENCE))
        weights = rarity(own.words or sought.words, frequency, n_chunks, self._words)
        sentences = Sentences(query, weights, search.vector, self._words, self._embedder)
        seen = self._signs(search, found, best[:_N_EVIDENCE], sentences)
        ids = [each.chunk.id for each in best[:n]]
        beside, also = self._library.beside(ids, viewer), self._library.same_text(ids, viewer)
        passages = to_passages(best[:n], beside, also, sentences.best)
        return Retrieved(passages, confidence(seen) if best else 0.0, time.monotonic() - started, seen)

    def still_there(self, chunk_ids: Sequence[int], viewer: Viewer) -> bool:
        """Tell whether all these chunks still exist and may be read: for passages of earlier turns."""
        return len(self._candidates.visible(chunk_ids, viewer)) == len(set(chunk_ids))

    def _best(self, search: Search, found: Found, n: int) -> list[Kept]:
        """The best of the candidates that do not repeat each other."""
        weight = search.query.dense_weight(search.named.clearly)
        fused = fuse(found.dense, found.lexical, weight, found.bonus)
        n_best = max(n, N_CANDIDATES if self._reranker else 0)
        best = distinct([(found.chunks[i], score) for i, score in fused], n_best, self._words)
        return best if self._reranker is None else rerank(search.query.text, best, self._reranker)

    def _signs(self, search: Search, found: Found, best: Sequence[Kept], sentences: Sentences) -> Signs:
        if not best:
            return Signs()
        texts = [each.chunk.text for each in best]
        nearest = [
            *sentences.nearest(texts[:1], _N_SENTENCES + 1),
            *sentences.nearest(texts[1:], _N_SENTENCES),
        ]
        weighed = [
            _with_names(sentence, each, sentences)
            for each, of_it in zip(best, nearest, strict=True)
            for sentence in of_it
        ]
        top = max((score for _, score in found.lexical), default=0.0)
        lexical = top / search.match.highest if search.match.highest else 0.0
        first = best[0].chunk.id
        cosine = next((score for i, score in found.dense if i == first), 0.0)
        return signs(cosine, lexical, weighed, lead_of(best, self._words))


def _with_names(sentence: Sentence, kept: Kept, sentences: Sentences) -> Sentence:
    """A sentence that holds half of what only its title and headings hold: rows name neither year nor firm."""
    document, said = kept.chunk.document, kept.chunk.text[slice(*sentence.span)]
    names = PATH.join((document.title, *kept.chunk.locator.path))
    return replace(sentence, coverage=(sentence.coverage + sentences.coverage(f"{names} {said}")) / 2)
