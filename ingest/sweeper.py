"""Brings what a sweep finds into the record; which files were missed once is known here only."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.folder import FileStat, Seen, scan, sha256_of
from ingest.hold import Hold, Memory, Missing, hold
from ingest.record import Record
from ingest.sweep import Changes, Entry, diff

log = logging.getLogger(__name__)

MIN_AGAIN_S = 0.05
LATELY_S = 600.0  # what is deleted within this time is deleted at once


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


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sweep would do. Paths are relative to the folder, names that are no text by surrogateescape.

    Attributes:
        gone: documents to be removed: their file is not there, or is to be ignored.
        held: documents without a file that stay until someone confirms.
        refused: path → why it is never read, or which lines of a list of rules are not used.
        problem: why nothing or not all is done; empty when it is.
    """

    new: list[str]
    changed: list[str]
    moved: list[tuple[str, str]]
    gone: list[str]
    held: list[str]
    refused: dict[str, str]
    n_ignored: int
    n_unchanged: int
    problem: str


class Sweeper:
    """Compares one folder with the record.

    Args:
        settle_s: between two looks at a missing file; only the second counts.
        max_delete_share: of all documents, 0 to 1; more that are missing at once are held.

    Attributes:
        problem: why the folder cannot be read, or what is held; empty when neither.
        refused: of the last sweep, as in `Seen`.
        n_ignored: files and folders that were left out by it; of a folder, only itself.
    """

    def __init__(self, record: Record, folder: Path, settle_s: float, max_delete_share: float = 0.25) -> None:
        self.problem = ""
        self.refused: Mapping[str, str] = {}
        self.n_ignored = 0
        self._record = record
        self._folder = folder
        self._settle_s = settle_s
        self._max_delete_share = max_delete_share
        self._missed: dict[str, float] = {}
        self._is_unsure = False
        self._folders: dict[str, FileStat] | None = None
        self._memory: Memory | None = None
        self._confirmed: set[int] = set()
        self._removed: deque[tuple[float, int]] = deque()

    def confirm(self) -> None:
        """Let the next sweep remove what is held now; callable from any thread."""
        self._confirmed.update(self._remembered().held)

    def plan(self) -> Plan:
        """Return what a sweep would do, and do nothing; callable from any thread.

        Raises:
            LibraryError: the record cannot be read.
        """
        seen, entries = scan(self._folder), self._record.entries()
        if seen.problem:
            return Plan([], [], [], [], [], {}, 0, len(entries), seen.problem)
        changes = diff(entries, seen, self._digest)
        held = self._hold(changes.gone, entries, seen)
        n_touched = len(changes.changed) + len(changes.moved) + _n_overwritten(changes, entries)
        return Plan(
            new=sorted(changes.new), changed=sorted(changes.changed), moved=sorted(changes.moved),
            gone=sorted({*changes.gone, *changes.left_out} - held.paths), held=sorted(held.paths),
            refused=dict(sorted(seen.refused.items())), n_ignored=len(seen.ignored),
            n_unchanged=len(entries) - n_touched - len(changes.gone) - len(changes.left_out), problem=held.problem,
        )  # fmt: skip

    def sweep(self) -> Swept:
        """Compare once, and write down what changed.

        Raises:
            LibraryError: the record cannot be read or written.
        """
        seen, entries = scan(self._folder), self._record.entries()
        if seen.problem:
            self._say(seen.problem)
            return Swept()
        self.refused, self.n_ignored = seen.refused, len(seen.ignored)
        changes = diff(entries, seen, self._digest)
        removed = [*changes.left_out, *self._believed(changes.gone, entries, seen)]
        if _n_changes(changes) or seen.folders != self._folders:
            self._record.apply(changes, seen.folders)
            self._folders = seen.folders
        if removed:
            self._record.remove(removed)
        return Swept(
            n_queued=len(changes.new) + len(changes.changed),
            n_removed=len(removed) + _n_overwritten(changes, entries),
            n_written=_n_changes(changes) + len(removed),
            again_s=max(self._settle_s, MIN_AGAIN_S) if self._is_unsure else None,
        )

    def _believed(self, gone: Sequence[str], entries: Mapping[str, Entry], seen: Seen) -> list[str]:
        """Return the documents whose files are deleted, as far as one can know; keep the others in mind."""
        now = time.monotonic()
        missed = {path: self._missed.get(path, now) for path in gone}
        # An atomic save is a missing file for a moment.
        ripe = [path for path in gone if path in self._missed and now - missed[path] >= self._settle_s]
        self._missed, self._is_unsure = missed, bool(gone)
        if gone and not ripe:
            return []
        confirmed = frozenset(self._confirmed)
        held = self._hold([path for path in gone if entries[path].id not in confirmed], entries, seen)
        self._say(held.problem)
        if held.memory != self._remembered():
            self._record.keep_sweep_memory(held.memory.text())
            self._memory = held.memory
        self._confirmed.difference_update(confirmed)
        believed = [path for path in ripe if path not in held.paths]
        self._note_removed(now, sum(entries[path].id not in confirmed for path in believed), bool(confirmed))
        for path in believed:
            del self._missed[path]
        self._is_unsure = len(self._missed) > len(held.paths)
        return believed

    def _hold(self, gone: Sequence[str], entries: Mapping[str, Entry], seen: Seen) -> Hold:
        n_removed = sum(n for _, n in tuple(self._removed))
        missing = Missing(entries, gone, seen.files, seen.mounts, self._remembered(), n_removed)
        return hold(missing, self._max_delete_share)

    def _remembered(self) -> Memory:
        if self._memory is None:
            self._memory = Memory.read(self._record.sweep_memory())
        return self._memory

    def _note_removed(self, now: float, n: int, anew: bool) -> None:
        while self._removed and (anew or now - self._removed[0][0] > LATELY_S):
            self._removed.popleft()
        if n:
            self._removed.append((now, n))

    def _say(self, problem: str) -> None:
        if problem and problem != self.problem:
            log.warning("sweep: %s", problem)
        self.problem = problem

    def _digest(self, path: str) -> str:
        try:
            return sha256_of(self._folder / path)
        except OSError:
            return ""


def _n_changes(changes: Changes) -> int:
    return len(changes.new) + len(changes.changed) + len(changes.moved) + len(changes.refreshed)


def _n_overwritten(changes: Changes, entries: Mapping[str, Entry]) -> int:
    away = {old for old, _ in changes.moved}
    return sum(new in entries and new not in away for _, new in changes.moved)
