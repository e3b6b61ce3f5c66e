"""Where each stage of ingest asks before its next piece of work: go on, wait, or stop.

Waits for people whose answer is being made, while somebody has paused ingest, and while the disk refuses to be
written. Knows no documents.
"""

from __future__ import annotations

import errno
import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from ingest.errors import LibraryError

log = logging.getLogger(__name__)

T = TypeVar("T")

POLL_S = 0.05
FIRST_RETRY_S = 1.0  # then twice as long each time
BUSY_MAX_S = 30.0  # then one piece goes through: a box that answers all day must still read its new documents
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


class StoppedError(Exception):
    """Ingest was told to stop; the file goes on waiting."""


class Gate:
    """Lets the stages through. Thread-safe.

    Args:
        busy: tells whether someone's answer is being made.
        retry_s: between attempts while the disk refuses, at most; the first come sooner.
        on_change: called when a problem comes or goes.
    """

    def __init__(self, busy: Callable[[], bool], retry_s: float, on_change: Callable[[], None]) -> None:
        self.paused = False
        self._busy = busy
        self._retry_s = retry_s
        self._on_change = on_change
        self._stopping = threading.Event()
        self._problems: dict[str, str] = {}  # by thread

    @property
    def stopping(self) -> bool:
        """Whether ingest was told to stop."""
        return self._stopping.is_set()

    @property
    def problem(self) -> str:
        """Why a stage stands still; empty when none does."""
        return next((problem for problem in list(self._problems.values()) if problem), "")

    def stop(self) -> None:
        """Let nobody through any more."""
        self._stopping.set()

    def checkpoint(self) -> None:
        """Wait while ingest is paused or someone is being answered.

        Raises:
            StoppedError: ingest is to stop.
        """
        began = time.monotonic()
        while self.paused or (self._busy() and time.monotonic() - began < BUSY_MAX_S):
            self.wait(POLL_S)
        self.wait(0)

    def wait(self, seconds: float) -> None:
        """Let time pass.

        Raises:
            StoppedError: ingest is to stop.
        """
        if self._stopping.wait(seconds) if seconds else self._stopping.is_set():
            raise StoppedError

    def insist(self, action: Callable[[], T]) -> T:
        """Do something to the record or the state folder, again and again until the disk lets it happen.

        Raises:
            StoppedError: ingest is to stop.
        """
        delay_s = min(FIRST_RETRY_S, self._retry_s)
        while True:
            try:
                result = action()
            except (LibraryError, OSError) as error:
                # The record or the disk failed, not a file: everything waits, nothing is lost.
                log.warning("ingest pauses: %s", error)
                self.report(in_words(error))
                self.wait(delay_s)
                delay_s = min(2 * delay_s, self._retry_s)
            else:
                self.report("")
                return result

    def report(self, problem: str) -> None:
        """Say why the calling thread stands still, or that it does not (empty)."""
        thread = threading.current_thread().name
        if problem != self._problems.get(thread, ""):
            self._problems[thread] = problem
            self._on_change()


def in_words(error: LibraryError | OSError) -> str:
    """Return why the record or the state folder cannot be written, for those who can change it."""
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        return f"the disk is full, or a quota is used up: make room, ingest goes on by itself ({error})"
    return str(error)
