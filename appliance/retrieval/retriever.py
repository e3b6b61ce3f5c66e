"""From a question to passages: candidates of what the caller may see, fused, checked, trimmed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from appliance.api.schema import Passage
from appliance.retrieval.candidates import Candidates, ExactIndex, Found, Search, VectorIndex
from appliance.retrieval.evidence import Signs, confidence, lead_of, signs
from appliance.retrieval.fusion import fuse, mixed
from appliance.retrieval.naming import Named, Naming
from appliance.retrieval.passages import Kept, distinct, to_passages
from appliance.retrieval.query import Context, Query, by_stem, match
from appliance.retrieval.rerank import N_CANDIDATES, Reranker, rerank
from appliance.retrieval.sentences import N_EMBEDDED, Sentence, SentenceEmbedder, Sentences
from appliance.text.words import Words, is_unspaced
from ingest.access import Viewer
from ingest.filter import EVERYTHING, Filter, Scope
from ingest.library import Library
from ingest.locator import PATH

# Candidates of each kind for n passages: filters, duplicates and Chroma's recall holes (chroma#1205) eat some.
_OVERFETCH = 8
_MIN_CANDIDATES = 40
_N_EVIDENCE = 5  # passages whose sentences count as evidence


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


@dataclass(frozen=True, slots=True)
class Hits:
    """A search and what it found."""

    search: Search
    found: Found

    def fused(self) -> list[tuple[int, float]]:
        """Return (chunk id, score), best first."""
        weight = self.search.query.dense_weight(self.search.named.clearly)
        return fuse(self.found.dense, self.found.lexical, weight, self.found.bonus)

    def cosine(self, chunk_id: int) -> float:
        """Return a chunk's cosine to the query; 0 where it is not among the nearest."""
        return next((score for i, score in self.found.dense if i == chunk_id), 0.0)

    def lexical_share(self, sentences: Sentences) -> float:
        """Return the best lexical score over the highest possible: without the words that name the document."""
        named = self.search.named.words if self.search.named.clearly else frozenset()
        highest = self.search.match.highest * (1 - sentences.share_of(named))
        top = max((score for _, score in self.found.lexical), default=0.0)
        return top / highest if highest > 0 else 0.0


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
        self, query: str, viewer: Viewer, n: int, only: Filter = EVERYTHING, context: Context | None = None
    ) -> Retrieved:
        """Return the passages nearest to `query` that the viewer may read, of the documents that `only` lets in.

        They are made of the `n` best chunks, and fewer than `n` where some of those follow each other.

        Args:
            context: what was said before, for a query that may not stand alone: both are searched for, but the
                evidence is counted by the query's own words, if it has any.
        Raises:
            NotInLibraryError: `only` names what is not there.
        """
        started = time.monotonic()
        scope = self._library.scope(only, viewer)
        language = self._words.of(query)
        queries = [Query.of(query, language)]
        if context is not None:  # what was said before need not be found as it was written
            joined = Query.of(f"{context.text} {query}", language)
            queries.append(replace(joined, exact=queries[0].exact))
        searches = [self._search(each, viewer, scope, n) for each in queries]
        hits = [Hits(search, self._candidates.find(search)) for search in searches]
        best = self._best(hits, context.weight if context else 0.0, max(n, _N_EVIDENCE))
        weights = next((search.match.weights for search in searches if search.match.weights), {})
        sentences = Sentences(
            query, by_stem(weights, language), searches[-1].vector, language, self._embedder
        )
        seen = self._signs(hits, best[:_N_EVIDENCE], sentences)
        ids = [each.chunk.id for each in best[:n]]
        beside, also = self._library.beside(ids, viewer), self._library.same_text(ids, viewer)
        passages = to_passages(best[:n], beside, also, sentences.best)
        return Retrieved(passages, confidence(seen) if best else 0.0, time.monotonic() - started, seen)

    def _search(self, query: Query, viewer: Viewer, scope: Scope | None, n: int) -> Search:
        frequency = self._frequency(query.words)
        return Search(
            query, match(query.words, frequency, self._library.n_chunks()), self._embedder.embed([query.text])[0],
            self._naming.named(query.text), viewer, scope, max(_MIN_CANDIDATES, n * _OVERFETCH),
        )  # fmt: skip

    def still_there(self, chunk_ids: Sequence[int], viewer: Viewer) -> bool:
        """Tell whether all these chunks still exist and may be read: for passages of earlier turns."""
        return len(self._candidates.visible(chunk_ids, viewer)) == len(set(chunk_ids))

    def _frequency(self, words: Sequence[str]) -> dict[str, int]:
        """Chunks that hold each word."""
        unspaced = [word for word in words if is_unspaced(word)]
        found = self._library.document_frequency([word for word in words if not is_unspaced(word)])
        return found | (self._library.n_containing(unspaced) if unspaced else {})

    def _best(self, hits: Sequence[Hits], context_weight: float, n: int) -> list[Kept]:
        """The best of the candidates that do not repeat each other; the last hits are those with the context."""
        fused = [hit.fused() for hit in hits]
        ranked = fused[0] if len(fused) == 1 else mixed(fused[0], fused[1], context_weight)
        chunks = {i: chunk for hit in hits for i, chunk in hit.found.chunks.items()}
        n_best = max(n, N_CANDIDATES if self._reranker else 0)
        named = hits[-1].search.named.best
        best = distinct([(chunks[i], score) for i, score in ranked], n_best, self._words, named)
        return best if self._reranker is None else rerank(hits[-1].search.query.text, best, self._reranker)

    def _signs(self, hits: Sequence[Hits], best: Sequence[Kept], sentences: Sentences) -> Signs:
        if not best:
            return Signs()
        texts = [each.chunk.text for each in best]
        nearest = [
            *sentences.nearest(texts[:1], N_EMBEDDED),
            *sentences.nearest(texts[1:], N_EMBEDDED - 1),
        ]
        weighed = [
            _with_names(sentence, each, sentences, hits[-1].search.named)
            for each, of_it in zip(best, nearest, strict=True)
            for sentence in of_it
        ]
        first = best[0].chunk.id
        return signs(
            max(hit.cosine(first) for hit in hits), max(hit.lexical_share(sentences) for hit in hits), weighed,
            lead_of(best, self._words),
        )  # fmt: skip


def _with_names(sentence: Sentence, kept: Kept, sentences: Sentences, named: Named) -> Sentence:
    """A sentence that holds half of what only its title and headings hold: rows name neither year nor firm."""
    document, said = kept.chunk.document, kept.chunk.text[slice(*sentence.span)]
    above = PATH.join((document.title, *kept.chunk.locator.path))
    known = named.words if document.id in named.best else ()  # from its path, too
    return replace(sentence, coverage=(sentence.coverage + sentences.coverage(f"{above} {said}", known)) / 2)
