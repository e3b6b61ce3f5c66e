from __future__ import annotations

from collections.abc import Callable

import pytest

from appliance.engine.pace import MIN_CHUNK, START_MS, Pace

# docs/measurements.md, Steps.
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
MS_135M = (10, 14, 20, 33, 71, 125, 263, 491, 829, 1667)
MS_1_5B = (40, 57, 96, 202, 245, 488, 834, 1805, 2792, 5933)


def box(ms: tuple[int, ...], factor: float = 1.0) -> Callable[[int], float]:
    """Return what steps take on a machine, between the sizes measured too."""

    def price(n: int) -> float:
        at = min(n.bit_length() - 1, len(SIZES) - 2)
        share = n / SIZES[at] - 1
        return factor * (ms[at] + share * (ms[at + 1] - ms[at]))

    return price


def after(pace: Pace, price: Callable[[int], float], *sizes: int, times: int = 40) -> Pace:
    for _ in range(times):
        for n in sizes:
            pace.record(n, price(n))
    return pace


def test_starts_with_the_measured_list() -> None:
    pace = Pace(150)
    assert [pace.step_ms(n) for n in SIZES] == list(START_MS[: len(SIZES)])
    assert pace.step_ms(24) == pytest.approx((106 + 177) / 2)


def test_first_step_scales_the_whole_list() -> None:
    pace = Pace(150)
    pace.record(256, 1097 / 4)
    assert [pace.step_ms(n) for n in SIZES] == pytest.approx([ms / 4 for ms in START_MS[: len(SIZES)]])


@pytest.mark.parametrize("ms", [MS_135M, MS_1_5B])
def test_list_of_another_model_is_learned_from_its_steps(ms: tuple[int, ...]) -> None:
    price = box(ms)
    pace = after(Pace(150), price, *SIZES)
    for n in (*SIZES, 3, 24, 100):
        assert pace.step_ms(n) == pytest.approx(price(n), rel=0.1)


@pytest.mark.parametrize(
    ("ms", "n_decoding", "expected"),
    [
        (MS_135M, 1, 36),  # a step of 37 takes 146 ms
        (MS_135M, 4, 33),
        (MS_135M, 36, MIN_CHUNK),  # one newcomer's token would fit: it gets on all the same
        (MS_1_5B, 1, MIN_CHUNK),
    ],
)
def test_prompt_tokens_fill_what_the_decodes_leave_of_the_target(
    ms: tuple[int, ...], n_decoding: int, expected: int
) -> None:
    assert after(Pace(150), box(ms), *SIZES).n_prompt(n_decoding) == pytest.approx(expected, abs=2)


@pytest.mark.parametrize("ms", [MS_135M, MS_1_5B])
@pytest.mark.parametrize("seen", [(30, 1), (512, 1), (1, 2, 512)])
def test_steps_beside_a_reader_come_to_stay_under_the_target_from_whatever_was_seen_before(
    ms: tuple[int, ...], seen: tuple[int, ...]
) -> None:
    price, pace = box(ms), Pace(250)
    after(pace, price, *seen, times=5)
    taken = []
    for _ in range(50):
        n = 1 + pace.n_prompt(1)
        taken.append(price(n))
        pace.record(n, price(n))
    assert max(taken) < 2 * 250
    assert max(taken[5:]) < 1.1 * 250


def test_text_that_grows_slower_is_followed_within_the_target() -> None:
    pace = after(Pace(150), box(MS_135M), *SIZES)
    late = 0
    for step in range(100):
        n = 1 + pace.n_prompt(1)
        ms = box(MS_135M, 1 + step / 50)(n)
        late += ms > 150 * 1.15
        pace.record(n, ms)
    assert late <= 2


def test_slow_stretch_shrinks_the_chunks_at_once_and_is_forgotten_afterwards() -> None:
    pace = after(Pace(150), box(MS_135M), *SIZES)
    before = pace.n_prompt(1)
    for _ in range(5):
        pace.record(1 + before, 2000)
    assert pace.n_prompt(1) == MIN_CHUNK
    for _ in range(80):
        n = 1 + pace.n_prompt(1)
        pace.record(n, box(MS_135M)(n))
    assert pace.n_prompt(1) == pytest.approx(before, abs=3)


def test_price_of_a_draft_is_kept_apart_from_the_price_of_a_token() -> None:
    """A box that slows down and recovers must not look as if drafts had become free."""
    price = box(MS_1_5B)
    pace = after(Pace(150), price, 1, 2, 4, 8)
    after(pace, box(MS_1_5B, 3.0), 1, times=30)
    assert pace.step_ms(4) / pace.step_ms(1) > 1.2
    after(pace, price, 1, times=60)
    assert pace.step_ms(4) / pace.step_ms(1) == pytest.approx(96 / 40, rel=0.25)
