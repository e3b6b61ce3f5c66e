"""The watched folder as it is now: which files count, and how they look. Knows no record, keeps nothing."""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import stat
from collections import defaultdict
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

# Names that programs use while a file is not finished, and locks beside open ones.
TEMPORARY = (
    "~$*",
    ".~lock*",
    "*~",
    "*.part",
    "*.partial",
    "*.crdownload",
    "*.download",
    "*.tmp",
    "*.temp",
    "*.swp",
    "*.swx",
)
# Names that desktops and file systems leave in every folder.
CLUTTER = ("thumbs.db", "desktop.ini", "lost+found", "$recycle.bin", "system volume information")
READ_BYTES = 1 << 20


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
        return cls(
            status.st_size,
            status.st_mtime_ns,
            status.st_ino,
            status.st_uid,
            status.st_gid,
            stat.S_IMODE(status.st_mode),
        )

    def same_version(self, other: FileStat) -> bool:
        """Tell whether both looks show the same bytes, as far as can be seen from outside."""
        return (self.size, self.mtime_ns, self.inode) == (other.size, other.mtime_ns, other.inode)


@dataclass(slots=True)
class Seen:
    """What one scan found.

    Attributes:
        files: by path relative to the folder, names that are no text by surrogateescape.
        folders: the sub-folders, since their rights decide who can reach the files in them.
        unreadable: what could not be looked at: it, and what is in it, is unknown, not gone.
        problem: why the folder itself could not be listed; the rest is then empty and means nothing.
    """

    files: dict[str, FileStat] = field(default_factory=dict)
    folders: dict[str, FileStat] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    problem: str = ""

    def hides(self, path: str) -> bool:
        """Tell whether a file of this path may exist without having been seen."""
        return any(path == unknown or path.startswith(unknown + "/") for unknown in self.unreadable)


def is_ignored(name: str) -> bool:
    """Tell whether a name is a dotfile's, a temporary or lock file's, or clutter."""
    lower = name.lower()
    return name.startswith(".") or lower in CLUTTER or any(fnmatch(lower, pattern) for pattern in TEMPORARY)


def scan(folder: Path) -> Seen:
    """List the regular files in a folder and its sub-folders.

    Symbolic links are never followed: one that stays inside would show a file twice, one that
    leaves is refused. Devices, FIFOs and sockets are not files.
    """
    seen = Seen()
    pending = [""]
    while pending:
        _scan_one(folder, pending.pop(), seen, pending)
    forget_old_names(folder, seen)
    return seen


def forget_old_names(folder: Path, seen: Seen) -> None:
    """A rename during the scan shows a file under both names: it must not pass for a new one beside the old."""
    names: dict[int, list[str]] = defaultdict(list)
    for path, status in seen.files.items():
        names[status.inode].append(path)
    for same in names.values():
        if len(same) > 1:
            for path in same:
                if look_at(folder / path) is None:
                    del seen.files[path]


def _scan_one(folder: Path, below: str, seen: Seen, pending: list[str]) -> None:
    try:
        with os.scandir(folder / below) as entries:
            for entry in entries:
                if not is_ignored(entry.name):
                    _look(entry, f"{below}/{entry.name}" if below else entry.name, seen, pending)
    except OSError as error:
        if below:
            seen.unreadable.append(below)
        else:
            seen.problem = f"the folder {folder} cannot be read: {error.strerror or error}"


def _look(entry: os.DirEntry[str], path: str, seen: Seen, pending: list[str]) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return  # deleted since it was listed
    except OSError:
        seen.unreadable.append(path)
        return
    if stat.S_ISDIR(status.st_mode):
        seen.folders[path] = FileStat.of(status)
        pending.append(path)
    elif stat.S_ISREG(status.st_mode):
        seen.files[path] = FileStat.of(status)


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
