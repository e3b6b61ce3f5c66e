"""Hints: that they come, that reading makes none, and that the watch says how it watches. Real inotify."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.watch import Watch


class Watched:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._hint = threading.Event()
        self.watch = Watch(folder, self._hint.set)

    def hinted(self) -> bool:
        found = self._hint.wait(5)
        self.settle()
        return found

    def settle(self) -> None:
        """Let the tail of a burst pass."""
        self._hint.clear()
        while self._hint.wait(0.2):
            self._hint.clear()

    def silent(self) -> bool:
        return not self._hint.wait(0.3)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    folder = tmp_path / "folder"
    folder.mkdir()
    watched = Watched(folder)
    watched.watch.start()
    yield watched
    watched.watch.stop()


def test_whatever_happens_in_the_folder_is_hinted(watched: Watched, tmp_path: Path) -> None:
    file = watched.folder / "a.txt"
    file.write_text("x")
    assert watched.hinted()
    os.chmod(file, 0o600)
    assert watched.hinted(), "rights decide who may see it"
    file.rename(watched.folder / "b.txt")
    assert watched.hinted()
    (watched.folder / "b.txt").unlink()
    assert watched.hinted()


def test_our_own_reading_is_not_a_hint(watched: Watched) -> None:
    (watched.folder / "a.txt").write_text("x")
    watched.settle()
    (watched.folder / "a.txt").read_text()
    assert watched.silent()


def test_a_folder_that_is_moved_in_is_watched_too(watched: Watched, tmp_path: Path) -> None:
    (tmp_path / "tree" / "deep").mkdir(parents=True)
    (tmp_path / "tree").rename(watched.folder / "tree")
    assert watched.hinted()
    (watched.folder / "tree" / "deep" / "a.txt").write_text("x")
    assert watched.hinted()


def test_it_says_how_it_watches(watched: Watched) -> None:
    assert watched.watch.how in ("inotify", "polling every 5 s (overlay file system)")


def test_a_folder_that_goes_and_comes_back_is_watched_again(watched: Watched) -> None:
    shutil.rmtree(watched.folder)
    watched.watch.check()
    assert watched.watch.how == "polling every 5 s (the folder is missing)"
    assert watched.watch.poll_s == 5.0
    watched.folder.mkdir()
    watched.watch.check()
    watched.settle()
    (watched.folder / "a.txt").write_text("x")
    assert watched.hinted()


def test_a_folder_that_is_replaced_by_another_is_watched_anew(watched: Watched, tmp_path: Path) -> None:
    watched.folder.rename(tmp_path / "away")
    watched.folder.mkdir()
    watched.watch.check()
    watched.settle()
    (tmp_path / "away" / "b.txt").write_text("x")
    assert watched.silent()
    (watched.folder / "a.txt").write_text("x")
    assert watched.hinted()


@pytest.mark.parametrize("part", ["observer", "reader"])
def test_a_dead_observer_is_started_again(watched: Watched, part: str) -> None:
    observer = watched.watch._observer
    assert observer is not None
    dying = observer if part == "observer" else observer._inotify_fd  # type: ignore[attr-defined]
    dying.stop()
    dying.join()
    watched.watch.check()
    assert watched.watch._observer is not observer
    (watched.folder / "a.txt").write_text("x")
    assert watched.hinted()


def test_it_polls_and_says_why_when_inotify_is_used_up(tmp_path: Path) -> None:
    program = (
        "import resource, sys; from pathlib import Path; from ingest.watch import Watch;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3));"
        "watch = Watch(Path(sys.argv[1]), lambda: None); watch.start(); print(watch.how)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert said.stdout.startswith("polling every 5 s (inotify: inotify instance limit reached)")
