"""The watched folder as it is now: which files count, and how they look. Knows no record, keeps nothing."""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import stat
from dataclasses import dataclass, field
from pathlib import Path

from ingest.ignore import MAX_RULES_BYTES, RULES_NAME, Rules, is_ignored, parse
from ingest.mounts import mounts_of

READ_BYTES = 1 << 20
STORABLE = (
    1 << 63
) - 1  # the largest integer of SQLite; file servers give larger inodes, and dates after 2262


@dataclass(frozen=True, slots=True)
class FileStat:
    """What a look from outside tells of a file; equal looks mean the same bytes until a hash says otherwise.

    Attributes:
        mode: permission bits only.
    """

    size: int
    mtime_ns: int
    inode: int
    uid: int
    gid: int
    mode: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileStat:
        """Read what the system says of a file."""
        mtime_ns = status.st_mtime_ns
        return cls(
            status.st_size,
            mtime_ns if -STORABLE <= mtime_ns <= STORABLE else STORABLE,
            status.st_ino & STORABLE,
            status.st_uid,
            status.st_gid,
            stat.S_IMODE(status.st_mode),
        )

    @property
    def version(self) -> tuple[int, int, int]:
        """What stays when a file is renamed, and changes when its bytes do, as far as can be seen from outside."""
        return self.size, self.mtime_ns, self.inode

    def same_version(self, other: FileStat) -> bool:
        """Tell whether both looks show the same bytes, as far as can be seen from outside."""
        return self.version == other.version


@dataclass(slots=True)
class Seen:
    """What one scan found. Paths are relative to the folder, names that are no text by surrogateescape.

    Attributes:
        folders: the sub-folders, since their rights decide who can reach the files in them.
        unreadable: what could not be looked at: it, and what is in it, is unknown, not gone.
        ignored: what names or rules leave out; of a folder, only itself.
        refused: what will never be read, and why, in plain words.
        mounts: where something is mounted, and what; "" is what the folder itself is on.
        problem: why the folder itself could not be listed; the rest is then empty and means nothing.
    """

    files: dict[str, FileStat] = field(default_factory=dict)
    folders: dict[str, FileStat] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    ignored: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    mounts: dict[str, str] = field(default_factory=dict)
    problem: str = ""

    def hides(self, path: str) -> bool:
        """Tell whether a file of this path may exist without having been seen."""
        return _is_in(path, self.unreadable)

    def leaves_out(self, path: str) -> bool:
        """Tell whether a file of this path would be ignored."""
        return _is_in(path, self.ignored)


def _is_in(path: str, places: set[str]) -> bool:
    while path:
        if path in places:
            return True
        path = path.rpartition("/")[0]
    return False


def scan(folder: Path) -> Seen:
    """List the regular files in a folder and its sub-folders.

    Symbolic links are never followed: one that stays inside would show a file twice, one that
    leaves is refused. Devices, FIFOs and sockets are not files.
    """
    seen = Seen()
    pending = [("", Rules())]
    while pending:
        below, rules = pending.pop()
        try:
            _scan_one(folder, below, rules, seen, pending)
        except OSError as error:
            _note_unreadable(folder, below, error, seen)
    forget_old_names(folder, seen)
    seen.mounts = {place: mount.what for place, mount in mounts_of(folder).items()}
    return seen


def forget_old_names(folder: Path, seen: Seen) -> None:
    """A rename during the scan shows a file under both names: it must not pass for a new one beside the old."""
    names: dict[int, str] = {}
    twice: set[str] = set()
    for path, status in seen.files.items():
        first = names.setdefault(status.inode, path)
        if first is not path:
            twice.update((first, path))
    for path in twice:
        if look_at(folder / path) is None:
            del seen.files[path]


def _scan_one(folder: Path, below: str, rules: Rules, seen: Seen, pending: list[tuple[str, Rules]]) -> None:
    with os.scandir(folder / below) as listing:
        entries = list(listing)
    prefix = f"{below}/" if below else ""
    if any(entry.name == RULES_NAME for entry in entries):
        rules = _with_rules_of(folder, below, rules, seen)
    for entry in entries:
        path = prefix + entry.name
        if is_ignored(entry.name):
            if entry.name != RULES_NAME:
                seen.ignored.add(path)
        elif rules.lists and rules.leave_out(path, entry.is_dir(follow_symlinks=False)):
            seen.ignored.add(path)
        else:
            _look(folder, entry, path, seen)
            if path in seen.folders:
                pending.append((path, rules))


def _with_rules_of(folder: Path, below: str, rules: Rules, seen: Seen) -> Rules:
    """Read a folder's own list; one that cannot be read leaves the folder unknown, since files would slip in."""
    path = f"{below}/{RULES_NAME}" if below else RULES_NAME
    if look_at(folder / path) is None:
        seen.refused[path] = "a list of what to ignore must be a plain file: it is not used"
        return rules
    try:
        with open(_open(folder / path), "rb") as file:
            own, broken = parse(file.read(MAX_RULES_BYTES + 1))
    except OSError as error:
        raise OSError(error.errno, f"its {RULES_NAME}: {error.strerror}") from error
    if broken:
        seen.refused[path] = "; ".join(broken)
    return rules.below(below, own)


def _note_unreadable(folder: Path, below: str, error: OSError, seen: Seen) -> None:
    why = error.strerror or str(error)
    if not below:
        seen.problem = f"the folder {folder} cannot be read: {why}"
        return
    seen.unreadable.add(below)
    if not isinstance(error, FileNotFoundError):  # deleted since it was listed: the next sweep knows more
        seen.refused[below] = f"cannot be read ({why}): let the appliance's user read it"


def _look(folder: Path, entry: os.DirEntry[str], path: str, seen: Seen) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return  # deleted since it was listed
    except OSError as error:
        _note_unreadable(folder, path, error, seen)
        return
    if stat.S_ISREG(status.st_mode):
        seen.files[path] = FileStat.of(status)
    elif stat.S_ISDIR(status.st_mode):
        seen.folders[path] = FileStat.of(status)
    elif stat.S_ISLNK(status.st_mode):
        seen.refused[path] = _why_no_link(folder, path)
    else:
        kind = next((words for is_kind, words in _SPECIAL if is_kind(status.st_mode)), "of an unknown kind")
        seen.refused[path] = f"not a file: it is {kind}"


_SPECIAL = (
    (stat.S_ISFIFO, "a pipe between programs (FIFO)"),
    (stat.S_ISSOCK, "a socket of a program"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def _why_no_link(folder: Path, path: str) -> str:
    """Say why a link is not followed, without touching what it points to: that may be on a server that is down."""
    try:
        target = os.path.normpath(folder / os.path.dirname(path) / os.readlink(folder / path))
    except OSError:
        return "a link that cannot be read"
    if not any(Path(target).is_relative_to(top) for top in (folder.absolute(), folder.resolve())):
        return "a link out of the folder: copy the file itself here"
    if not os.path.lexists(target):
        return "a link to a file that is not there"
    return "a link: the file it points to is read under its own name"


def look_at(path: Path) -> os.stat_result | None:
    """Return what the system says of a regular file, or None where there is none."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def sha256_of(path: Path) -> str:
    """Return the hash of a regular file's bytes, in hex.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    digest = hashlib.sha256()
    with open(_open(path), "rb", buffering=0) as file:
        while block := file.read(READ_BYTES):
            digest.update(block)
    return digest.hexdigest()


def is_being_written(path: Path) -> bool:
    """Tell whether some process has the file open for writing; False where the system does not say.

    A read lease is granted only on a file that nobody has open for writing, and only to its owner or root:
    fcntl(2).
    """
    try:
        descriptor = _open(path)
    except OSError:
        return False
    try:
        # The signal of a broken lease would end the process; SIGURG is ignored unless someone asks for it.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False  # not ours, or a file system without leases
    finally:
        os.close(descriptor)
    return False


def _open(path: Path) -> int:
    # A name may have become a link or a FIFO since it was listed: neither is followed nor waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is not a regular file")
    return descriptor
