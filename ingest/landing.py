"""The last stage: the file is looked at again, its version committed, and the index follows."""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ingest.dense import Dense
from ingest.flight import Flight, Pending
from ingest.folder import FileStat, look_at, sha256_of
from ingest.gate import Gate, StoppedError
from ingest.progress import Progress
from ingest.record import Record, Stage, Version
from ingest.unit import Outcome

log = logging.getLogger(__name__)

MAX_WHOLE = 16  # documents that wait for their commit; then embedding waits too
FOLLOW_S = 1.0  # the index follows when nothing waits for its commit, and at least so often
REST_S = 2.0  # likewise when nothing is committed: an index that could not be built is tried again
POLL_S = 0.2


class Landing:
    """Commits what is whole.

    Args:
        on_change: called after each change of a document's state.
        on_return: called when a document went back to the queue.
        on_rest: called when nothing is in flight any more.
    """

    def __init__(
        self, *, record: Record, dense: Dense, folder: Path, gate: Gate, flight: Flight, progress: Progress,
        on_change: Callable[[], None], on_return: Callable[[], None], on_rest: Callable[[], None],
    ) -> None:  # fmt: skip
        self._record = record
        self._dense = dense
        self._folder = folder
        self._gate = gate
        self._flight = flight
        self._progress = progress
        self._on_change = on_change
        self._on_return = on_return
        self._on_rest = on_rest
        self._whole: queue.Queue[Pending] = queue.Queue(MAX_WHOLE)
        self._followed = 0.0
        self._is_behind = False
        self._has_worked = False

    def put(self, document: Pending) -> None:
        """Take a document over; blocks while too many wait.

        Raises:
            StoppedError: ingest is to stop.
        """
        while True:
            try:
                return self._whole.put(document, timeout=POLL_S)
            except queue.Full:
                self._gate.wait(0)

    def turn(self) -> float:
        """Commit until ingest is stopped.

        Raises:
            StoppedError: it is.
        """
        while True:
            self._gate.wait(0)
            if self._is_behind and (self._whole.empty() or time.monotonic() - self._followed > FOLLOW_S):
                self._dense.follow()
                self._is_behind, self._followed = False, time.monotonic()
            try:
                document = self._whole.get(timeout=POLL_S)
            except queue.Empty:
                self._rest()
            else:
                self._land(document)
                self._has_worked = True

    def _rest(self) -> None:
        if time.monotonic() - self._followed > REST_S:
            self._dense.follow()
            self._followed = time.monotonic()
        if self._has_worked and self._flight.oldest() is None:
            self._has_worked = False
            self._on_rest()

    def _land(self, document: Pending) -> None:
        try:
            done = (
                self._commit(document) if document.error is None else self._give_up(document, document.error)
            )
        except StoppedError:
            raise
        except Exception as error:
            log.exception("ingest failed on %r", document.path)
            done = self._give_up(document, error)
        if done:
            self._progress.finished(document.path, document.version.n_pages or 1)
        else:
            self._gate.insist(lambda: self._record.advance(document.id, Stage.WAITING))
            self._on_return()
        self._is_behind = self._is_behind or done
        self._flight.land(document)
        self._on_change()

    def _commit(self, document: Pending) -> bool:
        """Commit a document; tell whether its file is still what was read."""
        stat = self._look_again(document)
        if stat is None:
            return False
        version = replace(document.finished(), stat=stat)
        return self._gate.insist(lambda: self._record.finish(document.id, version))

    def _give_up(self, document: Pending, error: Exception) -> bool:
        """Give a document up because of a failure of ours; it is read again when it changes."""
        status = look_at(self._folder / document.path)
        if status is None:
            return False
        reason = f"the appliance failed on this file ({type(error).__name__}: {error}); its log says more"
        version = Version(FileStat.of(status), "", Outcome.CRASHED.value, reason)
        return self._gate.insist(lambda: self._record.finish(document.id, version))

    def _look_again(self, document: Pending) -> FileStat | None:
        """Return how the file looks now, or None when it is not what was read; it may have been renamed."""
        path = self._gate.insist(lambda: self._record.path_of(document.id))
        status = look_at(self._folder / path) if path is not None else None
        version = document.version
        if path is None or status is None or not FileStat.of(status).same_version(version.stat):
            return None
        # Size and time can lie: a writer may work through a memory map, or set the time back.
        if version.sha256 and self._hash(path) != version.sha256:
            return None
        if not version.sha256 and path != document.path:
            return None  # renamed before it was opened: that it was not there says nothing about it
        return FileStat.of(status)

    def _hash(self, path: str) -> str:
        try:
            return sha256_of(self._folder / path)
        except OSError:
            return ""
