"""What is kept of steps: bounded, whole, and never in the way."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from appliance.tasks.cache import StepCache


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    ticks = count()
    with closing(StepCache(tmp_path / "tasks.db", max_bytes=1000, clock=lambda: float(next(ticks)))) as cache:
        for n in range(10):
            cache.put(bytes([n]), "v", "x" * 100)
        assert cache.get(b"\0") is not None
        cache.put(b"new", "v", "x" * 100)
        assert [cache.get(bytes([n])) is not None for n in range(10)] == [True, False, False, *[True] * 7]
        cache.put(b"huge", "v", "x" * 5000)
        assert cache.get(b"huge") is None


def test_texts_of_documents_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    with closing(StepCache(tmp_path / "tasks.db")) as cache:
        cache.put(b"a", "v1", "one")
        cache.put(b"b", "v2", "two")
        cache.keep_only({"v2"})
        assert (cache.get(b"a"), cache.get(b"b")) == (None, "two")


def test_a_text_that_is_not_whole_is_not_given_out(tmp_path: Path) -> None:
    with closing(StepCache(tmp_path / "tasks.db")) as cache:
        cache.put(b"a", "v", "one")
        with closing(sqlite3.connect(tmp_path / "tasks.db")) as db:
            db.execute("UPDATE steps SET text = 'other'")
            db.commit()
        assert cache.get(b"a") is None


def test_a_damaged_file_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "tasks.db").write_bytes(b"no database" * 1000)
    with closing(StepCache(tmp_path / "tasks.db")) as cache:
        cache.put(b"a", "v", "one")
        assert cache.get(b"a") == "one"


def test_a_full_disk_or_a_missing_folder_only_loses_the_cache(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(StepCache(tmp_path / "tasks.db")) as cache:
        cache.put(b"a", "v", "one")
        with closing(sqlite3.connect(tmp_path / "tasks.db")) as db:
            n_pages = db.execute("PRAGMA page_count").fetchone()[0]
        cache._db.execute(f"PRAGMA max_page_count = {n_pages}")  # type: ignore[union-attr]
        cache.put(b"b", "v", "x" * 100_000)
        assert "full" in caplog.text
        assert (cache.get(b"a"), cache.get(b"b")) == ("one", None)
    with closing(StepCache(tmp_path / "nothing" / "tasks.db")) as cache:
        cache.put(b"a", "v", "one")
        cache.keep_only({"v"})
        assert cache.get(b"a") is None
