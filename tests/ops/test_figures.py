"""The arithmetic of the bench, by table."""

from __future__ import annotations

import pytest

from appliance.ops.bench_engine import GROUPS, thread_counts
from appliance.ops.figures import (
    FIGURES,
    NAMES,
    Measured,
    Target,
    at_least,
    at_most,
    gaps_within,
    percentile,
    rate,
    rate_in_turn,
    rate_together,
    ratios,
)

FIGURE = {figure.name: figure for figure in FIGURES}


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([7.0], 0.99, 7.0),
        ([3.0, 1.0, 2.0], 0.5, 2.0),
        ([3.0, 1.0, 2.0], 1.0, 3.0),
        ([float(n) for n in range(1, 101)], 0.99, 99.0),
        ([float(n) for n in range(1, 201)], 0.99, 198.0),
        ([1.0] * 50 + [9.0], 0.99, 9.0),  # one wait in fifty is what a reader notices
    ],
)
def test_percentile_is_a_value_that_was_measured(values: list[float], share: float, expected: float) -> None:
    assert percentile(values, share) == expected


@pytest.mark.parametrize(
    ("n_tokens", "times", "expected"),
    [
        (11, [1.0, 2.0, 3.0], 5.0),  # the first token starts the clock
        (3, [1.0, 1.5, 2.0], 2.0),
        (1, [1.0], 0.0),
        (0, [], 0.0),
        (5, [1.0, 1.0], 0.0),
    ],
)
def test_rate_counts_tokens_after_the_first(n_tokens: int, times: list[float], expected: float) -> None:
    assert rate(n_tokens, times) == expected


def test_rate_in_turn_leaves_out_what_lies_between_streams() -> None:
    assert rate_in_turn([(5, [0.0, 2.0]), (3, [100.0, 101.0])]) == 2.0
    assert rate_in_turn([(1, [3.0])]) == 0.0


@pytest.mark.parametrize(
    ("streams", "expected"),
    [
        ([(5, [0.0, 1.0, 2.0, 3.0, 4.0])], 1.0),
        ([(5, [0.0, 1.0, 2.0, 3.0, 4.0]), (5, [2.0, 3.0, 4.0, 5.0, 6.0])], 2.0),
        ([(10, [0.0, 1.0, 2.0, 3.0, 4.0])], 2.0),  # two tokens a piece
        ([(2, [0.0, 1.0]), (2, [3.0, 4.0])], 0.0),  # never together
    ],
)
def test_rate_together_counts_only_while_all_streams_run(
    streams: list[tuple[int, list[float]]], expected: float
) -> None:
    assert rate_together(streams) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0.0, 9.0, [1.0, 3.0, 1.0]),
        (2.0, 9.0, [3.0, 1.0]),
        (2.0, 3.0, [3.0]),  # a wait that began within counts to its end
        (4.0, 4.5, [3.0]),  # and one that began before
        (0.0, 1.0, []),
        (7.0, 9.0, []),
    ],
)
def test_gaps_within_are_those_a_reader_felt_meanwhile(
    start: float, end: float, expected: list[float]
) -> None:
    assert gaps_within([1.0, 2.0, 5.0, 6.0], start, end) == expected


def test_the_value_is_the_median_of_ratios_taken_within_the_run() -> None:
    measured = Measured(ratios([10.0, 30.0, 50.0], [10.0, 60.0, 20.0]))
    assert list(measured.runs) == [1.0, 0.5, 2.5]
    assert measured.value == 1.0


def test_what_is_not_available_has_no_value() -> None:
    assert Measured(reason="this build has none").value is None


@pytest.mark.parametrize(
    ("target", "value", "met"),
    [
        (at_least(0.9), 0.9, True),
        (at_least(0.9), 0.89, False),
        (at_most(300), 300.0, True),
        (at_most(300), 301.0, False),
    ],
)
def test_target_is_met_at_its_bound(target: Target, value: float, met: bool) -> None:
    assert target.met(value) is met


@pytest.mark.parametrize(
    ("name", "model", "expected"),
    [
        ("decode_ratio", "smollm2-135m-instruct", at_least(0.90)),
        ("decode_ratio", "qwen2.5-coder-0.5b-instruct", at_least(0.95)),
        ("batch8_gain", "smollm2-135m-instruct", at_least(1.7)),
        ("batch8_gain", "a-model-of-your-own", at_least(1.6)),
        ("stall", "qwen2.5-coder-0.5b-instruct", at_most(300)),
        ("lookup_gain", "smollm2-135m-instruct", None),
        ("lookup_gain", "qwen2.5-coder-0.5b-instruct", at_least(1.20)),
        ("restart_s", "qwen2.5-coder-0.5b-instruct", None),
    ],
)
def test_target_depends_on_the_model_and_the_step(name: str, model: str, expected: Target | None) -> None:
    assert FIGURE[name].target(model, step_target_ms=150) == expected


def test_each_figure_is_measured_by_one_trial() -> None:
    measured = [name for group in GROUPS for name in group.names]
    assert sorted(measured) == sorted(NAMES)


@pytest.mark.parametrize(
    ("n", "expected"), [(1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (8, [1, 2, 4, 8]), (12, [1, 2, 4, 8, 12])]
)
def test_threads_double_up_to_what_the_engine_takes(n: int, expected: list[int]) -> None:
    assert thread_counts(n) == expected
