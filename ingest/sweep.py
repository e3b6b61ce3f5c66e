"""The folder compared with the record: what is new, changed, moved, gone. Pure but for `digest`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ingest.folder import FileStat, Seen

# An empty folder where so many documents were is a vanished mount until someone says otherwise; fewer may be
# cleared away.
MANY_DOCUMENTS = 10


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as the sweep needs it.

    Attributes:
        queued: it waits or is worked on, so it will be read anyway.
        sha256: empty while it was never read.
    """

    id: int
    stat: FileStat
    sha256: str
    queued: bool


@dataclass(slots=True)
class Changes:
    """What the record has to learn.

    Attributes:
        changed: other bytes under a known path.
        moved: known bytes under a new path, (old, new).
        gone: known paths without a file; to be looked at again before they count.
        refreshed: the same bytes with other rights, owner, times or inode.
    """

    new: dict[str, FileStat] = field(default_factory=dict)
    changed: dict[str, FileStat] = field(default_factory=dict)
    moved: dict[tuple[str, str], FileStat] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    refreshed: dict[str, FileStat] = field(default_factory=dict)


def problem_of(record: Mapping[str, Entry], seen: Seen) -> str:
    """Return in words why a scan must not be believed, or an empty string."""
    if seen.problem:
        return seen.problem
    if not seen.files and len(record) >= MANY_DOCUMENTS:
        held = "nothing is removed (is its disk mounted?)"
        return f"the folder is empty, but {len(record)} documents were in it: {held}"
    return ""


def diff(record: Mapping[str, Entry], seen: Seen, digest: Callable[[str], str]) -> Changes:
    """Compare the folder with the record.

    Args:
        digest: sha256 of a path, empty when it cannot be read; asked only where the looks leave it open.
    """
    changes = Changes()
    for path, entry in record.items():
        if path in seen.files:
            _compare(path, entry, seen.files[path], digest, changes)
        elif not seen.hides(path):
            changes.gone.append(path)
    lost = _Lost({path: record[path] for path in changes.gone})
    for path, stat in seen.files.items():
        if path in record:
            continue
        if (old := lost.take(path, stat, digest)) is None:
            changes.new[path] = stat
        else:
            changes.moved[old, path] = stat
    changes.gone = list(lost.left)
    return changes


def _compare(path: str, entry: Entry, stat: FileStat, digest: Callable[[str], str], changes: Changes) -> None:
    if stat == entry.stat:
        return
    if entry.queued:
        changes.refreshed[path] = stat
    elif stat.same_version(entry.stat):
        # Rights changed. A file that could not be read before may be readable now.
        (changes.refreshed if entry.sha256 else changes.changed)[path] = stat
    elif stat.size == entry.stat.size and entry.sha256 and digest(path) == entry.sha256:
        changes.refreshed[path] = stat
    else:
        changes.changed[path] = stat


class _Lost:
    """Documents whose path has no file, to be found again under new paths; each is found once."""

    def __init__(self, gone: Mapping[str, Entry]) -> None:
        self.left = dict(gone)
        self._by_size: dict[int, list[str]] = defaultdict(list)
        for path, entry in gone.items():
            self._by_size[entry.stat.size].append(path)

    def take(self, path: str, stat: FileStat, digest: Callable[[str], str]) -> str | None:
        """Return the old path of a file, or None when it is new."""
        candidates = [old for old in self._by_size.get(stat.size, ()) if old in self.left]
        # A rename keeps inode and time, so a moved tree is recognised without reading it.
        found = next((old for old in candidates if self.left[old].stat.same_version(stat)), None)
        if found is None and candidates and (hashed := digest(path)):
            found = next((old for old in candidates if self.left[old].sha256 == hashed), None)
        if found is not None:
            del self.left[found]
        return found
