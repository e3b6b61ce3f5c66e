"""How far ingest is, how fast it goes, and how long it will take. Pure but for its clock; asks nobody anything."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

WINDOW_S = 180.0  # of which speed is told
MIN_FILES = 3  # finished in it, before anyone says how long the rest will take
ANNOUNCE_S = 0.3


class Progress:
    """What is being done, and the speed of the last minutes. Thread-safe.

    Args:
        on_step: called when a step was made, at most every `ANNOUNCE_S`.
        clock: seconds that only grow.

    Attributes:
        reading: path of the file being read; empty when none is.
        step: where the reading of it is ("page 4 of 20"); empty when it is short.
    """

    def __init__(self, on_step: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
        self.reading = ""
        self.step = ""
        self._on_step = on_step
        self._clock = clock
        self._lock = threading.Lock()
        self._began = 0.0
        self._idle = True
        self._announced = -ANNOUNCE_S
        self._n_scanned: dict[str, int] = {}  # pages by OCR that were counted already, by path
        self._done: deque[tuple[float, int, int]] = deque()  # when, files, pages

    def read(self, path: str) -> None:
        """Say which file is being read; empty: none is."""
        with self._lock:
            if self._idle and path:
                self._idle, self._began = False, self._clock()
                self._done.clear()
            self.reading, self.step = path, ""

    def page(self, number: int, of: int) -> None:
        """Say that OCR of a page of the file being read begins; both count from 1."""
        with self._lock:
            self.step = f"page {number} of {of}"
            if number > 1:
                self._n_scanned[self.reading] = self._n_scanned.get(self.reading, 0) + 1
                self._note(0, 1)
        self.announce()

    def finished(self, path: str, n_pages: int) -> None:
        """Say that a document is in its final state; a file without pages counts as one."""
        with self._lock:
            n_scanned = self._n_scanned.pop(path, 0)
            self._note(1, max(n_pages - n_scanned, 0))

    def idle(self) -> None:
        """Say that there is nothing to do: standing still is no slowness."""
        with self._lock:
            self._idle = True
            self._n_scanned.clear()

    def announce(self) -> None:
        """Tell whoever listens, unless they were told just now."""
        with self._lock:
            now = self._clock()
            if now - self._announced < ANNOUNCE_S:
                return
            self._announced = now
        self._on_step()

    def pages_per_min(self) -> float:
        """Return the pages read in a minute, of late; 0 when idle."""
        return 60 * self._per_s()[1]

    def files_per_min(self) -> float:
        """Return the documents finished in a minute, of late; 0 when idle."""
        return 60 * self._per_s()[0]

    def eta_s(self, n_waiting: int) -> float | None:
        """Return the seconds until so many more documents are done; None while nobody can tell."""
        with self._lock:
            self._forget()
            n_files = sum(files for _, files, _ in self._done)
        files_per_s = self._per_s()[0]
        if n_waiting == 0:
            return 0.0
        return n_waiting / files_per_s if n_files >= MIN_FILES and files_per_s else None

    def _note(self, files: int, pages: int) -> None:
        self._done.append((self._clock(), files, pages))
        self._forget()

    def _forget(self) -> None:
        while self._done and self._done[0][0] < self._clock() - WINDOW_S:
            self._done.popleft()

    def _per_s(self) -> tuple[float, float]:
        with self._lock:
            if self._idle:
                return 0.0, 0.0
            self._forget()
            seconds = max(min(self._clock() - self._began, WINDOW_S), 1.0)
            files, pages = (sum(each[i] for each in self._done) for i in (1, 2))
            return files / seconds, pages / seconds
