"""How much speaks for an answer among the passages, and where in them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from appliance.answer.fusion import Ranking
from appliance.answer.instructions import quotable
from appliance.answer.words import Words, sentence_spans
from ingest.stored import StoredChunk


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
    """Return the span of the sentence that holds most of the query's words, by weight; None when none holds any.

    A sentence that addresses the machine is never the one: it would be quoted.
    """

    def score(span: tuple[int, int]) -> float:
        return sum(weights.get(word, 0.0) for word in set(words.content(text[slice(*span)])))

    span = max(quotable(text, sentence_spans(text)), key=score, default=None)
    return span if span is not None and score(span) > 0 else None
