"""A second look at the best candidates, by a model that reads question and text together: scores in, order out.

Where no such model is installed, or it fails, the fused order stands.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol, TypeVar

from appliance.retrieval.passages import Kept
from ingest.locator import PATH
from ingest.stored import StoredChunk
from models.errors import ModelRunError

log = logging.getLogger(__name__)

# What is worth a second look: hit@10 of the fused order is 0.998 on XQuAD (240 paragraphs); large libraries need more.
N_CANDIDATES = 20

_T = TypeVar("_T")


class Reranker(Protocol):
    """Reads a question and texts together."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return how well texts answer the query, higher is better: of the first ones, as many as time allows.

        Raises:
            ModelRunError: it fails.
        """
        ...


def rerank(query: str, ranked: Sequence[Kept], reranker: Reranker) -> list[Kept]:
    """Return the candidates as the reranker orders them; as they were where it fails."""
    try:
        scores = reranker.scores(query, [reading(each.chunk) for each in ranked[:N_CANDIDATES]])
    except ModelRunError as error:
        log.warning("the reranker failed, the fused order stands: %s", error)
        return list(ranked)
    return ordered(ranked, scores)


def ordered(ranked: Sequence[_T], scores: Sequence[float]) -> list[_T]:
    """Return what has a score, best first, and then the rest in its order.

    Args:
        ranked: best first.
        scores: of the first ones, higher is better; equal ones keep their order.
    """
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    return [ranked[i] for i in order] + list(ranked[len(scores) :])


def reading(chunk: StoredChunk) -> str:
    """Return what the reranker reads of a chunk: its text, with title and headings in front, as the embedder does."""
    names = dict.fromkeys((chunk.document.title, *chunk.locator.path))
    above = PATH.join(name for name in names if name and name not in chunk.text)
    return f"{above}\n{chunk.text}" if above else chunk.text
