"""Ingest: the folder is swept, what is new is read, one file at a time, and record and index are kept right.

Two threads. The sweeper compares folder and record, on every hint and every few minutes, so that a deletion
counts at once while a long document is being embedded. The worker takes in what waits, at low priority. A stop at any
moment loses nothing: the queue is in the record.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ingest.dense import Dense
from ingest.errors import LibraryError, ParserStoppedError
from ingest.folder import is_being_written, look_at
from ingest.intake import Embedder, IngestOptions, Intake, Parser, StoppedError
from ingest.library import Library
from ingest.record import Record
from ingest.sweeper import Sweeper
from ingest.watch import Watch

log = logging.getLogger(__name__)

# Raised when what the parsers find in a file changes: files that failed are read again then.
PARSER_VERSION = 1
WORKER_NICE = 19  # everything else goes first
SWEEPER_NICE = 10  # before the worker: deletions count at once
HINTS_S = 0.1  # hints come in bursts; what follows within this time is one sweep
MAX_OPEN_S = 60.0  # a file that stays open for writing but still (a log) is read after so long
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class IngestState:
    """What ingest is doing.

    Attributes:
        current: path being worked on; empty when idle.
        n_waiting: documents that are not in a final state.
        watching: "inotify", or why it is polling.
        problem: why ingest stands still; empty when it does not.
    """

    current: str
    n_waiting: int
    watching: str
    problem: str


class Ingest:
    """Keeps the record equal to a folder.

    Args:
        dense: follows after each commit.
        busy: tells whether someone's answer is being made; embedding pauses meanwhile.
        on_change: called after each change of a document's state or of ingest's own, from either thread.
    """

    def __init__(
        self, *, library: Library, dense: Dense, parser: Parser, embedder: Embedder, folder: Path,
        options: IngestOptions, busy: Callable[[], bool], on_change: Callable[[], None],
    ) -> None:  # fmt: skip
        self._record = Record(library.database, embedder.fingerprint, embedder.n_dims, PARSER_VERSION)
        self._dense = dense
        self._parser = parser
        self._folder = folder
        self._options = options
        self._on_change = on_change
        self._stopping = threading.Event()
        self._hint = threading.Event()
        self._work = threading.Event()
        self._watch = Watch(folder, self._hint.set)
        self._sweeper = Sweeper(self._record, folder, options.settle_ms / 1000, options.max_delete_share)
        self._intake = Intake(
            record=self._record, parser=parser, embedder=embedder, folder=folder, options=options, busy=busy,
            on_change=on_change, stopping=self._stopping,
        )  # fmt: skip
        self._current = ""
        self._recovered = False
        self._interrupted: set[int] = set()
        self._problems: dict[str, str] = {}  # by thread
        self._threads = [
            threading.Thread(target=self._run, args=args, name=name, daemon=True)
            for name, args in (
                ("ingest-sweeper", (self._sweep_turn, SWEEPER_NICE, self._hint)),
                ("ingest-worker", (self._work_turn, WORKER_NICE, self._work)),
            )
        ]

    def start(self) -> None:
        """Begin; what the last stop interrupted goes on."""
        self._parser.start()
        self._watch.start()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End within one embedding batch; what was being done waits for the next start."""
        self._stopping.set()
        self.wake()
        self._work.set()
        self._parser.stop()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        self._watch.stop()

    def wake(self) -> None:
        """Sweep now."""
        self._hint.set()

    def confirm_deletes(self) -> None:
        """Remove the documents that are held: their files were deleted on purpose."""
        self._sweeper.confirm()
        self.wake()

    def status(self) -> IngestState:
        """Return what is being done now. Reads the record."""
        problems = [*self._problems.values(), self._sweeper.problem]
        problem = next((problem for problem in problems if problem), "")
        return IngestState(self._current, self._record.n_queued(), self._watch.how, problem)

    def _run(self, turn: Callable[[], float], nice: int, wake: threading.Event) -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)
        while not self._stopping.is_set():
            wake.clear()
            delay = self._guarded(turn)
            if not self._stopping.is_set():  # a wake that `stop` gave before `clear` is lost, its flag is not
                wake.wait(delay)

    def _guarded(self, turn: Callable[[], float]) -> float:
        """Run one turn; return the seconds until the next one."""
        try:
            delay = turn()
        except (LibraryError, OSError) as error:
            # The record or the disk failed, not a file: everything waits, nothing is lost.
            log.warning("ingest pauses: %s", error)
            self._set_problem(f"the disk is full: {error}" if _is_full(error) else str(error))
            return self._options.retry_s
        except Exception:
            log.exception("ingest failed; it tries again in %.0f s", self._options.retry_s)
            self._set_problem("ingest failed; its log says why")
            return self._options.retry_s
        self._set_problem("")
        return delay

    def _set_problem(self, problem: str) -> None:
        thread = threading.current_thread().name
        if problem != self._problems.get(thread, ""):
            self._problems[thread] = problem
            self._on_change()

    # --- the sweeper's thread ---

    def _sweep_turn(self) -> float:
        began = time.monotonic()
        self._watch.check()
        before = self._sweeper.problem
        swept = self._sweeper.sweep()
        if swept.n_removed:
            self._dense.follow()
        if swept.n_written:
            self._work.set()
        if swept.n_written or self._sweeper.problem != before:
            self._on_change()
        # A burst of hints is one sweep; and a folder so big that sweeping takes long is not swept all the
        # time.
        self._stopping.wait(max(HINTS_S, 4 * (time.monotonic() - began)))
        retry_s = self._options.retry_s if self._sweeper.problem else None
        delays = (swept.again_s, self._watch.poll_s, retry_s, self._options.sweep_every_s)
        return min(delay for delay in delays if delay is not None)

    # --- the worker's thread ---

    def _work_turn(self) -> float:
        """Take in everything that waits and is still; return the seconds until the next may be."""
        if not self._recovered:
            self._record.recover()  # here, where a full disk is waited for, and not in `start`
            self._recovered = True
        for id in list(self._interrupted):
            self._intake.release(id)
            self._interrupted.discard(id)
        soonest = self._options.sweep_every_s
        for id, _ in self._record.waiting():
            if self._stopping.is_set():
                break
            path = self._record.waiting_path(id)
            if path is None:
                continue  # removed since, or done
            left = self._unsettled_s(path)
            if left > 0:
                soonest = min(soonest, left)
            elif not self._take(id, path):
                soonest = min(soonest, max(self._options.settle_ms / 1000, HINTS_S))
        return soonest

    def _take(self, id: int, path: str) -> bool:
        """Take one file in; tell whether it is finished."""
        self._current = path
        try:
            self._intake.take(id, path)
        except (StoppedError, ParserStoppedError):
            self._intake.release(id)
        except LibraryError:
            self._interrupted.add(id)
            raise
        except Exception as error:
            self._interrupted.add(id)
            if _is_full(error):
                raise
            log.exception("ingest failed on %r", path)
            self._intake.blame(id, path, error)
            self._interrupted.discard(id)
        finally:
            self._current = ""
        self._set_problem("")
        self._dense.follow()
        return self._record.waiting_path(id) is None

    def _unsettled_s(self, path: str) -> float:
        """Return how long to wait until the file may be read: it must be closed, and have been still."""
        file, settle_s = self._folder / path, self._options.settle_ms / 1000
        status = look_at(file)
        if status is None:
            return self._options.sweep_every_s
        still_s = time.time() - status.st_ctime  # unlike mtime, no program can set it
        if still_s < 0:
            # The clock went back, or a file server's is ahead: watch the file instead.
            self._stopping.wait(settle_s)
            again = look_at(file)
            still_s = settle_s if again and again.st_ctime_ns == status.st_ctime_ns else 0.0
        if still_s < settle_s:
            return max(settle_s - still_s, 0.01)
        if still_s < MAX_OPEN_S and is_being_written(file):
            return max(settle_s, HINTS_S)
        return 0.0


def _is_full(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in NO_SPACE
