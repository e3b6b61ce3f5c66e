"""Two rankings become one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# (chunk id, score), best first.
Ranking = Sequence[tuple[int, float]]


def fuse(
    dense: Ranking, lexical: Ranking, dense_weight: float, bonus: Mapping[int, float]
) -> list[tuple[int, float]]:
    """Join two rankings, best first: the weighted sum of each score over the best of its kind, and what is added.

    Where one ranking is empty the other one stands alone.

    Args:
        dense_weight: 0 to 1; the lexical ranking has the rest.
        bonus: by chunk id, added to the sum; who has one and stands in no ranking has nothing else.
    Returns:
        (chunk id, score); ties by id.
    """
    if not dense or not lexical:
        dense_weight = 1.0 if dense else 0.0
    fused = dict(bonus)
    for ranking, weight in ((dense, dense_weight), (lexical, 1.0 - dense_weight)):
        top = max((score for _, score in ranking), default=0.0)
        for chunk_id, score in ranking:
            fused[chunk_id] = fused.get(chunk_id, 0.0) + (weight * max(score, 0.0) / top if top > 0 else 0.0)
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))


def mixed(one: Ranking, other: Ranking, weight: float) -> list[tuple[int, float]]:
    """Join the fused rankings of two searches, best first: what each gives, `other` weighing `weight` times as much."""
    scores = {chunk_id: score / (1 + weight) for chunk_id, score in one}
    for chunk_id, score in other:
        scores[chunk_id] = scores.get(chunk_id, 0.0) + weight * score / (1 + weight)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
