"""One daemon a home: a lock that the kernel frees when its owner dies, and the pid of the owner."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from appliance.errors import AlreadyRunningError

_NAME = "daemon.lock"


@contextmanager
def only_daemon(home: Path) -> Iterator[None]:
    """Own the home while the block runs.

    Raises:
        AlreadyRunningError: another daemon owns it; names its pid.
    """
    with open(home / _NAME, "a+", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunningError(str(home), _pid(home)) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def owner(home: Path) -> int | None:
    """Return the pid of the daemon that owns the home; None when none runs."""
    try:
        with open(home / _NAME, encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _pid(home)
    except OSError:
        return None
    return None


def _pid(home: Path) -> int:
    text = (home / _NAME).read_text(encoding="ascii").strip()
    return int(text) if text.isdigit() else 0
