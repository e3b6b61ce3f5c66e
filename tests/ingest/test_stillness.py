"""A file counts once it is closed and still, whatever the clock does."""

from __future__ import annotations

import time
from pathlib import Path

from ingest.stillness import Stillness


def test_a_file_may_be_read_once_it_was_still_long_enough(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    stillness = Stillness(tmp_path, 0.2)
    left_s = stillness.left_s("a.txt")
    assert left_s is not None
    assert 0 < left_s <= 0.2
    time.sleep(0.25)
    assert stillness.left_s("a.txt") == 0
    with open(tmp_path / "a.txt", "a"):
        assert stillness.left_s("a.txt") == 0.2, "it is open for writing"
    assert stillness.left_s("missing.txt") is None


def test_a_clock_that_jumped_back_holds_nothing_up(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    stillness = Stillness(tmp_path, 0.2, clock=lambda: time.time() - 3600)
    assert stillness.left_s("a.txt") == 0.2
    time.sleep(0.25)
    assert stillness.left_s("a.txt") == 0
    (tmp_path / "a.txt").write_text("other words")
    assert stillness.left_s("a.txt") == 0.2, "it changed, so it begins anew"
