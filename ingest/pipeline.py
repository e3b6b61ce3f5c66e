"""Ingest: the folder is swept, what is new is read, embedded and committed, and record and index are kept right.

Four threads. The sweeper compares folder and record, on every hint and every few minutes, so that a deletion
counts at once while a long document is being embedded. Reading, embedding and committing overlap, at the lowest
priority, and hand documents on in bounded numbers. A stop at any moment loses nothing: the queue is in the record.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ingest.dense import Dense
from ingest.embedding import Embedding
from ingest.errors import LibraryError
from ingest.flight import Flight
from ingest.gate import Gate, StoppedError
from ingest.intake import Intake
from ingest.landing import Landing
from ingest.library import Library
from ingest.memory import give_back
from ingest.options import Embedder, IngestOptions, Parser
from ingest.progress import Progress
from ingest.record import Record
from ingest.sweeper import Plan, Sweeper
from ingest.watch import Watch

log = logging.getLogger(__name__)

# Raised when what the parsers find in a file changes: files that failed are read again then.
PARSER_VERSION = 2
WORKER_NICE = 19  # everything else goes first
SWEEPER_NICE = 10  # before the workers: deletions count at once
HINTS_S = 0.1  # hints come in bursts; what follows within this time is one sweep
PAUSED = "paused"  # key of the record's meta table


@dataclass(frozen=True, slots=True)
class IngestState:
    """What ingest is doing.

    Attributes:
        current: path being worked on; empty when idle.
        n_waiting: documents that are not in a final state.
        watching: "inotify", or why it is polling.
        problem: why ingest stands still; empty when it does not.
        step: where it is in the current document ("page 4 of 20", "312 of 800 chunks"); empty when that is short.
        paused: somebody paused it.
        pages_per_min: of late; a file without pages counts as one.
        files_per_min: of late.
        eta_s: seconds until nothing waits any more; None while nobody can tell.
        n_refused: names in the folder that are never read; `plan` says which, and why.
        n_ignored: files and folders that rules leave out; of a folder, only itself.
    """

    current: str
    n_waiting: int
    watching: str
    problem: str
    step: str = ""
    paused: bool = False
    pages_per_min: float = 0.0
    files_per_min: float = 0.0
    eta_s: float | None = None
    n_refused: int = 0
    n_ignored: int = 0


class Ingest:
    """Keeps the record equal to a folder.

    Args:
        dense: follows the commits.
        busy: tells whether someone's answer is being made; reading and embedding pause meanwhile.
        on_change: called after each change of a document's state or of ingest's own, from any of its threads.
    """

    def __init__(
        self, *, library: Library, dense: Dense, parser: Parser, embedder: Embedder, folder: Path,
        options: IngestOptions, busy: Callable[[], bool], on_change: Callable[[], None],
    ) -> None:  # fmt: skip
        self._database = library.database
        self._record = Record(library.database, embedder.fingerprint, embedder.n_dims, PARSER_VERSION)
        self._dense = dense
        self._parser = parser
        self._options = options
        self._on_change = on_change
        self._hint = threading.Event()
        self._work = threading.Event()
        self._watch = Watch(folder, self._hint.set)
        self._sweeper = Sweeper(self._record, folder, options.settle_ms / 1000, options.max_delete_share)
        self._embedder = embedder
        self._gate = Gate(busy, options.retry_s, on_change)
        self._flight = Flight()
        self._progress = Progress(on_change)
        self._landing = Landing(
            record=self._record, dense=dense, folder=folder, gate=self._gate, flight=self._flight,
            progress=self._progress, on_change=on_change, on_return=self._work.set, on_rest=self._rest,
        )  # fmt: skip
        self._embedding = Embedding(
            embedder=embedder, flight=self._flight, gate=self._gate, progress=self._progress,
            max_texts=options.embed_batch, hand_over=self._landing.put,
        )  # fmt: skip
        self._intake = Intake(
            record=self._record, parser=parser, embedder=embedder, folder=folder, options=options, gate=self._gate,
            flight=self._flight, progress=self._progress, hand_over=self._landing.put, on_change=on_change,
        )  # fmt: skip
        self._threads = [
            threading.Thread(target=self._run, args=args, name=f"ingest-{name}", daemon=True)
            for name, args in (
                ("sweeper", (self._sweep_turn, SWEEPER_NICE, self._hint)),
                ("reader", (self._intake.turn, WORKER_NICE, self._work)),
                ("embedder", (self._embedding.turn, WORKER_NICE, threading.Event())),
                ("committer", (self._landing.turn, WORKER_NICE, threading.Event())),
            )
        ]

    def start(self) -> None:
        """Begin; what the last stop interrupted goes on, and a pause goes on too."""
        self._gate.paused = self._database.meta(PAUSED) == "1"
        self._parser.start()
        self._watch.start()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End within one embedding batch; what was being done waits for the next start."""
        self._gate.stop()
        self._flight.stop()
        self.wake()
        self._work.set()
        self._parser.stop()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        with suppress(LibraryError):  # a full disk; the next start does it
            self._record.release()
        self._watch.stop()

    def _rest(self) -> None:
        self._embedder.rest()
        give_back()

    def wake(self) -> None:
        """Sweep now."""
        self._hint.set()

    def pause(self) -> None:
        """Read and embed nothing more until `resume`, restarts included; the folder is still swept.

        Raises:
            LibraryError: it cannot be written down; nothing was changed.
        """
        self._pause(True)

    def resume(self) -> None:
        """Go on.

        Raises:
            LibraryError: it cannot be written down; nothing was changed.
        """
        self._pause(False)

    def retry(self, paths: Iterable[str] | None = None) -> int:
        """Read documents that failed again, all or those of some paths; return how many there are.

        Raises:
            LibraryError: the record cannot be written.
        """
        n_queued = self._record.retry(paths)
        self._work.set()
        self._on_change()
        return n_queued

    def confirm_deletes(self) -> None:
        """Remove the documents that are held: their files were deleted on purpose."""
        self._sweeper.confirm()
        self.wake()

    def plan(self) -> Plan:
        """Return what a sweep would do now, without doing it.

        Raises:
            LibraryError: the record cannot be read.
        """
        return self._sweeper.plan()

    def status(self) -> IngestState:
        """Return what is being done now. Reads the record."""
        n_waiting, progress = self._record.n_queued(), self._progress
        if n_waiting == 0:
            progress.idle()
        current, step = self._current()
        return IngestState(
            current=current, step=step, n_waiting=n_waiting, watching=self._watch.how,
            problem=self._gate.problem or self._sweeper.problem, paused=self._gate.paused,
            pages_per_min=progress.pages_per_min(), files_per_min=progress.files_per_min(),
            eta_s=progress.eta_s(n_waiting) if n_waiting and not self._gate.paused else None,
            n_refused=len(self._sweeper.refused), n_ignored=self._sweeper.n_ignored,
        )  # fmt: skip

    def _current(self) -> tuple[str, str]:
        """Return the path that is worked on and where in it: what is read slowly, else what is embedded, else read."""
        reading, step = self._progress.reading, self._progress.step
        document = self._flight.oldest()
        if step or document is None:
            return reading, step
        n_chunks, n_missing = len(document.chunks), document.n_missing
        return document.path, f"{n_chunks - n_missing} of {n_chunks} chunks" if n_missing else ""

    def _pause(self, paused: bool) -> None:
        self._database.set_meta(PAUSED, "1" if paused else "0")
        self._gate.paused = paused
        self._on_change()

    def _run(self, turn: Callable[[], float], nice: int, wake: threading.Event) -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)
        with suppress(StoppedError):
            while not self._gate.stopping:
                wake.clear()
                delay = self._guarded(turn)
                if not self._gate.stopping:  # a wake that `stop` gave before `clear` is lost, its flag is not
                    wake.wait(delay)

    def _guarded(self, turn: Callable[[], float]) -> float:
        """Run one turn; return the seconds until the next one."""
        try:
            return self._gate.insist(turn)
        except StoppedError:
            raise
        except Exception:
            log.exception("ingest failed; it tries again in %.0f s", self._options.retry_s)
            self._gate.report("ingest failed; its log says why")
            self._gate.wait(self._options.retry_s)
            return 0.0

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
        self._gate.wait(max(HINTS_S, 4 * (time.monotonic() - began)))
        retry_s = self._options.retry_s if self._sweeper.problem else None
        delays = (swept.again_s, self._watch.poll_s, retry_s, self._options.sweep_every_s)
        return min(delay for delay in delays if delay is not None)
