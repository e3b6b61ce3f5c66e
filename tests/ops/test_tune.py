"""Which settings `appliance tune` keeps: speeds in, settings out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from appliance.ops.knobs import Choices, Knobs, Search, Speed, changes

NOW = Knobs(threads=4, n_batch=512, n_ubatch=512, kv_type="f16", spin_count=1000)
CHOICES = Choices(threads=(2, 4, 8), kv_types=("q8_0",), fixed=())
PLAIN = Speed(100.0, 20.0)


class Machine:
    """A machine whose speed is a function of the settings."""

    def __init__(self, speed: Callable[[Knobs, bool], Speed | None]) -> None:
        self._speed = speed
        self.tried: list[tuple[Knobs, bool]] = []

    async def measure(self, knobs: Knobs, busy: bool) -> Speed | None:
        self.tried.append((knobs, busy))
        return self._speed(knobs, busy)


def faster(speed: Speed, by: float) -> Speed:
    return Speed(speed.prefill_tps * by, speed.decode_tps * by)


async def search(machine: Machine, choices: Choices = CHOICES, n_most: int = 100) -> tuple[Knobs, float]:
    return await Search(machine.measure, choices, lambda: len(machine.tried) < n_most).run(NOW)


def test_a_usual_question_weighs_reading_and_writing() -> None:
    assert Speed(100.0, 50.0).question_s == 10.0


async def test_each_knob_is_turned_and_what_is_faster_is_kept() -> None:
    def speed(knobs: Knobs, busy: bool) -> Speed:
        by = 1.2 if knobs.threads == 8 else 1.0
        by *= 1.1 if knobs.n_ubatch == 256 else 1.0
        return faster(PLAIN, by)

    best, gain = await search(Machine(speed))
    assert changes(NOW, best) == {"threads": 8, "n_ubatch": 256}
    assert gain == pytest.approx(1.32)


async def test_where_nothing_is_faster_everything_stays() -> None:
    machine = Machine(lambda knobs, busy: PLAIN if knobs == NOW else faster(PLAIN, 1.02))
    assert await search(machine) == (NOW, 1.0)


async def test_coarse_cache_numbers_must_be_worth_it() -> None:
    assert (await search(Machine(lambda k, _: faster(PLAIN, 1.1 if k.kv_type == "q8_0" else 1))))[0] == NOW
    best, _ = await search(Machine(lambda k, _: faster(PLAIN, 1.3 if k.kv_type == "q8_0" else 1)))
    assert best.kv_type == "q8_0"


async def test_spinning_is_judged_beside_a_neighbour() -> None:
    def speed(knobs: Knobs, busy: bool) -> Speed:
        alone = {300: 0.99, 1000: 1.0, 10_000: 1.0}[knobs.spin_count]
        beside = {300: 0.6, 1000: 0.5, 10_000: 0.1}[knobs.spin_count]
        return faster(PLAIN, beside if busy else alone)

    best, _ = await search(Machine(speed))
    assert best == replace(NOW, spin_count=300)


async def test_a_winner_that_cannot_do_it_again_is_dropped() -> None:
    seen: set[Knobs] = set()

    def speed(knobs: Knobs, busy: bool) -> Speed:
        lucky = knobs.threads == 8 and knobs not in seen
        seen.add(knobs)
        return faster(PLAIN, 1.5 if lucky else 1.0)

    assert (await search(Machine(speed)))[0] == NOW


async def test_settings_that_do_not_work_are_passed_over() -> None:
    def speed(knobs: Knobs, busy: bool) -> Speed | None:
        return None if knobs.threads == 8 else PLAIN

    assert (await search(Machine(speed)))[0] == NOW


async def test_an_engine_that_does_not_work_at_all_is_not_tuned() -> None:
    machine = Machine(lambda knobs, busy: None)
    assert await search(machine) == (NOW, 1.0)
    assert len(machine.tried) == 1


async def test_what_the_administrator_has_set_is_left_alone() -> None:
    machine = Machine(lambda knobs, busy: PLAIN)
    await search(machine, replace(CHOICES, fixed=("threads", "spin_count", "kv_type", "n_batch")))
    assert {changes_of for knobs, _ in machine.tried for changes_of in changes(NOW, knobs)} == {"n_ubatch"}


async def test_time_that_is_up_ends_the_search_with_what_was_found() -> None:
    machine = Machine(lambda knobs, busy: faster(PLAIN, 1.5 if knobs.threads == 2 else 1))
    best, _ = await search(machine, n_most=2)
    assert best.threads == 2
    assert len(machine.tried) == 4  # the two that confirm are always measured
