"""Brings what a sweep finds into the record; remembers between sweeps only which files were missed once."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from pathlib import Path

from ingest.folder import FileStat, scan, sha256_of
from ingest.record import Record
from ingest.sweep import Changes, diff, problem_of

log = logging.getLogger(__name__)

MIN_AGAIN_S = 0.05


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep did.

    Attributes:
        n_queued: documents put into the queue.
        n_written: documents of which anything was written.
        again_s: seconds until files that are missing have to be looked for again; None when none are.
    """

    n_queued: int = 0
    n_removed: int = 0
    n_written: int = 0
    again_s: float | None = None


class Sweeper:
    """Compares one folder with the record.

    Args:
        settle_s: between two looks at a missing file; only the second counts.
    """

    def __init__(self, record: Record, folder: Path, settle_s: float) -> None:
        self.problem = ""
        self._record = record
        self._folder = folder
        self._settle_s = settle_s
        self._missed: dict[str, float] = {}
        self._folders: dict[str, FileStat] | None = None
        self._may_be_empty = False

    def believe_empty(self) -> None:
        """Let the next sweep remove everything from a record whose folder is empty."""
        self._may_be_empty = True

    def sweep(self) -> Swept:
        """Compare once, and write down what changed.

        Raises:
            LibraryError: the record cannot be read or written.
        """
        seen, entries = scan(self._folder), self._record.entries()
        problem = problem_of(entries, seen)
        if problem and (seen.problem or not self._may_be_empty):
            if problem != self.problem:
                log.warning("sweep: %s", problem)
            self.problem = problem
            return Swept()
        self.problem = ""
        if seen.files:
            self._may_be_empty = False
        changes = diff(entries, seen, self._digest)
        removed = self._confirmed(changes.gone)
        if _count(changes) or seen.folders != self._folders:
            self._record.apply(changes, seen.folders)
            self._folders = seen.folders
        if removed:
            self._record.remove(removed)
        return Swept(
            n_queued=len(changes.new) + len(changes.changed),
            n_removed=len(removed),
            n_written=_count(changes) + len(removed),
            again_s=max(self._settle_s, MIN_AGAIN_S) if self._missed else None,
        )

    def _confirmed(self, gone: list[str]) -> list[str]:
        """Return those that were missed long enough; an atomic save is a missing file for a moment."""
        now = time.monotonic()
        missed = {path: self._missed.get(path, now) for path in gone}
        confirmed = {
            path for path, since in missed.items() if path in self._missed and now - since >= self._settle_s
        }
        self._missed = {path: since for path, since in missed.items() if path not in confirmed}
        return sorted(confirmed)

    def _digest(self, path: str) -> str:
        try:
            return sha256_of(self._folder / path)
        except OSError:
            return ""


def _count(changes: Changes) -> int:
    return len(changes.new) + len(changes.changed) + len(changes.moved) + len(changes.refreshed)
