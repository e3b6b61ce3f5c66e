"""How far, how fast, how long: over a clock that the test moves."""

from __future__ import annotations

import pytest

from ingest.progress import Progress


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def progress() -> tuple[Progress, Clock, list[None]]:
    clock, told = Clock(), list[None]()
    return Progress(lambda: told.append(None), clock), clock, told


def test_speed_and_time_left_come_from_what_was_finished_of_late() -> None:
    progress_, clock, _ = progress()
    progress_.read("a.pdf")
    for _ in range(6):
        clock.now += 10
        progress_.finished("a.pdf", 5)
    assert progress_.files_per_min() == pytest.approx(6)
    assert progress_.pages_per_min() == pytest.approx(30)
    assert progress_.eta_s(12) == pytest.approx(120)
    clock.now += 400
    assert progress_.files_per_min() == 0
    assert progress_.eta_s(12) is None


def test_nobody_tells_the_time_left_before_a_few_files_are_done() -> None:
    progress_, clock, _ = progress()
    progress_.read("a.txt")
    clock.now += 10
    progress_.finished("a.txt", 1)
    progress_.finished("b.txt", 1)
    assert progress_.eta_s(100) is None
    progress_.finished("c.txt", 1)
    assert progress_.eta_s(100) is not None
    assert progress_.eta_s(0) == 0


def test_standing_idle_is_no_slowness() -> None:
    progress_, clock, _ = progress()
    progress_.read("a.txt")
    progress_.idle()
    assert progress_.pages_per_min() == 0
    clock.now += 170
    progress_.read("b.txt")
    clock.now += 2
    progress_.finished("b.txt", 1)
    assert progress_.files_per_min() == pytest.approx(30)


def test_pages_read_by_ocr_count_as_they_are_read_and_only_once() -> None:
    progress_, clock, _ = progress()
    progress_.read("scan.pdf")
    for page in range(1, 21):
        progress_.page(page, 20)
        clock.now += 3
    assert progress_.step == "page 20 of 20"
    assert progress_.pages_per_min() == pytest.approx(19)
    progress_.finished("scan.pdf", 20)
    assert progress_.pages_per_min() == pytest.approx(20)


def test_steps_are_told_at_most_every_so_often() -> None:
    progress_, clock, told = progress()
    for page in range(1, 101):
        progress_.page(page, 100)
        clock.now += 0.01
    assert 3 <= len(told) <= 4
