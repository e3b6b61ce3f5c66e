from __future__ import annotations

import pytest

from appliance.engine.pace import MIN_CHUNK, Pace


def measured(target_ms: float, decode_ms: float, prompt_ms: float) -> Pace:
    pace = Pace(target_ms)
    for _ in range(50):
        pace.record(1, 0, decode_ms)
        pace.record(1, 20, decode_ms + 20 * prompt_ms)
    return pace


@pytest.mark.parametrize(
    ("decode_ms", "prompt_ms", "n_decoding", "expected"),
    [
        (20, 5, 1, 26),  # (150 - 20) / 5
        (20, 5, 4, 14),
        (10, 4, 1, 35),
        (60, 20, 2, MIN_CHUNK),  # 1.5 newcomers' tokens would fit: they get on all the same
        (200, 20, 1, MIN_CHUNK),
    ],
)
def test_prompt_tokens_fill_what_the_decodes_leave_of_the_target(
    decode_ms: float, prompt_ms: float, n_decoding: int, expected: int
) -> None:
    assert measured(150, decode_ms, prompt_ms).n_prompt(n_decoding) == expected


def test_first_measurement_replaces_the_guess() -> None:
    pace = Pace(150)
    pace.record(0, 100, 200.0)
    assert pace.prompt_ms == pytest.approx(2.0)


def test_slow_stretch_shrinks_the_chunks_and_is_forgotten_afterwards() -> None:
    pace = measured(150, 20, 5)
    before = pace.n_prompt(1)
    for _ in range(5):
        pace.record(1, before, 2000)
    assert pace.n_prompt(1) == MIN_CHUNK
    for _ in range(40):
        pace.record(1, MIN_CHUNK, 20 + MIN_CHUNK * 5)
    assert pace.n_prompt(1) == pytest.approx(before, abs=2)
