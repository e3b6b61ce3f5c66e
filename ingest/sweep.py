"""The folder compared with the record: what is new, changed, moved, gone. Pure but for `digest`."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ingest.folder import FileStat, Seen


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
        moved: known bytes under another path, (old, new); where another document was at the new path, it was
            overwritten, unless it moved itself.
        gone: known paths without a file; to be looked at again before they count.
        left_out: known paths that are to be ignored now.
        refreshed: the same bytes with other rights, owner, times or inode.
    """

    new: dict[str, FileStat] = field(default_factory=dict)
    changed: dict[str, FileStat] = field(default_factory=dict)
    moved: dict[tuple[str, str], FileStat] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    refreshed: dict[str, FileStat] = field(default_factory=dict)


def diff(record: Mapping[str, Entry], seen: Seen, digest: Callable[[str], str]) -> Changes:
    """Compare the folder with the record.

    Args:
        digest: sha256 of a path, empty when it cannot be read; asked only where the looks leave it open.
    """
    changes = Changes()
    gone, other = _classify(record, seen, changes)
    renamed = _renamed_over(record, gone, other)
    away = set(renamed.values())
    changes.moved = {(old, path): other[path] for path, old in renamed.items()}
    lost = _Lost({path: record[path] for path in (*gone, *renamed) if path not in away})
    for path, stat in other.items():
        if path not in renamed and path not in away:
            _compare(path, record[path], stat, digest, changes)
    arrived = {
        path: stat
        for path, stat in seen.files.items()
        if path not in record or (path in away and path not in renamed)
    }
    for path, stat in arrived.items():
        if (old := lost.by_look(stat)) is not None:
            changes.moved[old, path] = stat
        else:
            changes.new[path] = stat
    for path, stat in list(changes.new.items()):
        if (old := lost.by_hash(path, stat, digest)) is not None:
            changes.moved[old, path] = changes.new.pop(path)
    _claim_unread(record, seen, lost, digest, changes)
    changes.gone = [path for path in gone if path in lost.left]
    return changes


def _classify(
    record: Mapping[str, Entry], seen: Seen, changes: Changes
) -> tuple[dict[str, Entry], dict[str, FileStat]]:
    """Return the documents without a file, and the files that look like another version of their document."""
    gone, other = {}, {}
    for path, entry in record.items():
        stat = seen.files.get(path)
        if stat is None:
            if seen.leaves_out(path):
                changes.left_out.append(path)
            elif not seen.hides(path):
                gone[path] = entry
        elif stat != entry.stat:
            if not stat.same_version(entry.stat):
                other[path] = stat
            elif entry.queued or entry.sha256:
                changes.refreshed[path] = stat
            else:
                changes.changed[path] = stat  # it could not be read; with other rights it may
    return gone, other


def _renamed_over(
    record: Mapping[str, Entry], gone: Mapping[str, Entry], other: Mapping[str, FileStat]
) -> dict[str, str]:
    """Return new path → old path of known files under the name of another: swapped, or renamed over it."""
    away = {record[path].stat.version: path for path in (*gone, *other)}
    renamed = {}
    for path, stat in other.items():
        if (old := away.pop(stat.version, None)) is not None:
            renamed[path] = old
    return renamed


def _compare(path: str, entry: Entry, stat: FileStat, digest: Callable[[str], str], changes: Changes) -> None:
    same = stat.size == entry.stat.size and entry.sha256 and digest(path) == entry.sha256
    (changes.refreshed if entry.queued or same else changes.changed)[path] = stat


def _claim_unread(
    record: Mapping[str, Entry], seen: Seen, lost: _Lost, digest: Callable[[str], str], changes: Changes
) -> None:
    """A file moved to another disk is copied first: its copy may wait in the queue when the original goes."""
    taken = {new for _, new in changes.moved}
    for path, entry in record.items() if lost.left else ():
        if entry.queued and not entry.sha256 and path in seen.files and path not in taken:
            stat = seen.files[path]
            if (old := lost.by_hash(path, stat, digest)) is not None:
                changes.moved[old, path] = stat
                changes.refreshed.pop(path, None)


class _Lost:
    """Documents whose bytes are no longer under their path, to be found under another; each is found once."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.left = dict(entries)
        self._by_version: dict[tuple[int, int, int], deque[str]] = defaultdict(deque)
        self._unread: dict[int, str] = {}
        self._by_sha256: dict[str, deque[str]] = defaultdict(deque)
        self._n_of_size: dict[int, int] = defaultdict(int)
        for path, entry in entries.items():
            self._by_version[entry.stat.version].append(path)
            if entry.queued and not entry.sha256:
                self._unread[entry.stat.inode] = path
            self._by_sha256[entry.sha256].append(path)
            self._n_of_size[entry.stat.size] += 1

    def by_look(self, stat: FileStat) -> str | None:
        """Return the old path of a file that was renamed: it keeps inode and time, and need not be read."""
        found = self._first(self._by_version.get(stat.version))
        if found is None and self._unread.get(stat.inode) in self.left:
            found = self._unread[stat.inode]  # noted while it was written, renamed since: it has no text yet
        return self._taken(found)

    def by_hash(self, path: str, stat: FileStat, digest: Callable[[str], str]) -> str | None:
        """Return the old path of a file of known bytes, which is read only where the size is a missing one's."""
        if not self._n_of_size.get(stat.size) or not (hashed := digest(path)):
            return None
        return self._taken(self._first(self._by_sha256.get(hashed)))

    def _taken(self, path: str | None) -> str | None:
        if path is not None:
            self._n_of_size[self.left.pop(path).stat.size] -= 1
        return path

    def _first(self, paths: deque[str] | None) -> str | None:
        while paths:
            if (path := paths.popleft()) in self.left:
                return path
        return None
