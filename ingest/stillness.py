"""Whether a file may be read yet: it must be closed, and have been still for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ingest.folder import is_being_written, look_at

MAX_OPEN_S = 60.0  # a file that stays open for writing but still (a log) is read after so long
MIN_WAIT_S = 0.1


class Stillness:
    """Looks at the files of a folder; remembers only those from the future.

    Args:
        settle_s: how long a file must have been still.
        clock: the time of day, which may jump.
    """

    def __init__(self, folder: Path, settle_s: float, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._folder = folder
        self._settle_s = settle_s
        self._watched: dict[str, tuple[int, float]] = {}  # path → (change time, first seen with it)

    def left_s(self, path: str) -> float | None:
        """Return the seconds until the file may be read, 0 when it may be now, None when there is none."""
        status = look_at(self._folder / path)
        if status is None:
            self._watched.pop(path, None)
            return None
        still_s = self._still_s(path, status.st_ctime_ns)
        if still_s < self._settle_s:
            return max(self._settle_s - still_s, 0.01)
        if still_s < MAX_OPEN_S and is_being_written(self._folder / path):
            return max(self._settle_s, MIN_WAIT_S)
        return 0.0

    def _still_s(self, path: str, changed_ns: int) -> float:
        still_s = self._clock() - changed_ns / 1e9  # ctime: unlike mtime, no program can set it
        if still_s >= 0:
            self._watched.pop(path, None)
            return still_s
        # The clock went back, or a file server's is ahead: what counts is how long it has looked like this.
        now = time.monotonic()
        if self._watched.get(path, (0, 0.0))[0] != changed_ns:
            self._watched[path] = changed_ns, now
        return now - self._watched[path][1]
