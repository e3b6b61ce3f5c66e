"""Two rankings become one."""

from __future__ import annotations

import pytest

from appliance.retrieval.fusion import fuse

DENSE = [(1, 0.8), (2, 0.4)]
LEXICAL = [(2, 10.0), (3, 5.0)]


def test_scores_over_the_best_of_their_kind_are_weighed_and_added() -> None:
    fused = dict(fuse(DENSE, LEXICAL, 0.6, {}))
    assert fused == pytest.approx({1: 0.6, 2: 0.6 * 0.5 + 0.4, 3: 0.4 * 0.5})


@pytest.mark.parametrize(("weight", "first"), [(0.9, 1), (0.1, 2)])
def test_the_weight_decides_who_is_first(weight: float, first: int) -> None:
    assert fuse(DENSE, LEXICAL, weight, {})[0][0] == first


def test_one_ranking_stands_alone_where_the_other_is_empty() -> None:
    assert fuse(DENSE, [], 0.1, {})[0] == (1, 1.0)
    assert fuse([], LEXICAL, 0.9, {})[0] == (2, 1.0)
    assert fuse([], [], 0.5, {}) == []


def test_what_stands_as_written_comes_first() -> None:
    assert fuse(DENSE, LEXICAL, 0.5, {3: 1.0})[0][0] == 3
    assert fuse(DENSE, LEXICAL, 0.5, {9: 2.0})[0] == (9, 2.0)


def test_equal_scores_are_in_the_order_of_ids() -> None:
    assert [i for i, _ in fuse([(7, 0.5), (4, 0.5)], [], 0.5, {})] == [4, 7]
    assert fuse([(1, -0.2)], [], 0.5, {}) == [(1, 0.0)]
