"""What is mounted where the folder is, and in it: /proc/self/mountinfo, proc_pid_mountinfo(5)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

MOUNTINFO = Path("/proc/self/mountinfo")
# Changes made by other machines, or below an overlay, never reach inotify (watchdog#409).
REMOTE = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "virtiofs",
    "vboxsf",
    "afs",
    "autofs",
    "ceph",
    "glusterfs",
    "lustre",
    "gfs2",
    "ocfs2",
    "overlay",
    "fuse",
    "fuse.",
)


@dataclass(frozen=True, slots=True)
class Mount:
    """One mounted file system, as the folder sees it.

    Attributes:
        kind: its type: "ext4", "cifs", "fuse.sshfs".
        what: type and source, and for the folder's own the mount point: another text is another disk.
    """

    kind: str
    what: str

    @property
    def is_remote(self) -> bool:
        """Tell whether files in it may change without a word from the kernel."""
        return any(self.kind.startswith(kind) if kind.endswith(".") else self.kind == kind for kind in REMOTE)


def mounts_of(folder: Path) -> dict[str, Mount]:
    """Return what is mounted in a folder, by path relative to it; "" is what the folder itself is on.

    Empty where the system does not tell.
    """
    try:
        return parse(folder.resolve(), MOUNTINFO.read_bytes())
    except OSError:
        return {}


def parse(folder: Path, mountinfo: bytes) -> dict[str, Mount]:
    """Return `mounts_of` a folder whose path has no links, out of the text of mountinfo."""
    lines = [line for text in mountinfo.split(b"\n") if (line := _Line.read(text)) is not None]
    above = [line for line in lines if folder.is_relative_to(line.point)]
    if not above:
        return {}
    # A later line covers an earlier one on the same point.
    own = max(reversed(above), key=lambda line: len(line.point.parts))
    found = {"": Mount(own.kind, f"{own.what} on {own.point}")}
    ids = {"": own.id}
    for line in lines:
        # What is mounted on a mount that is itself covered cannot be seen.
        if line.point != folder and line.point.is_relative_to(folder) and line.parent in ids.values():
            place = str(line.point.relative_to(folder))
            for below in [known for known in ids if known.startswith(f"{place}/")]:
                del found[below], ids[below]
            found[place], ids[place] = Mount(line.kind, line.what), line.id
    return found


@dataclass(frozen=True, slots=True)
class _Line:
    id: bytes
    parent: bytes
    point: Path
    kind: str
    what: str

    @classmethod
    def read(cls, text: bytes) -> _Line | None:
        before, separator, after = text.partition(b" - ")
        fields, rest = before.split(), after.split()
        if not separator or len(fields) < 5 or len(rest) < 2:
            return None
        root, point, kind, source = (_unescaped(field) for field in (fields[3], fields[4], rest[0], rest[1]))
        what = f"{kind} {source}" if root == "/" else f"{kind} {source} from {root}"
        return cls(fields[0], fields[1], Path(point), kind, what)


def _unescaped(field: bytes) -> str:
    return os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), field))
