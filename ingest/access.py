"""Who may read a document: the file's own owner, group and mode bits, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person or process that asks, as the kernel knows it.

    Attributes:
        uid: numeric user id; 0 may read everything.
        gids: all groups of that user, the primary one included.
    """

    uid: int
    gids: frozenset[int]

    def may_read(self, uid: int, gid: int, mode: int) -> bool:
        """Tell whether a file of this owner, group and mode is readable, as the kernel decides it."""
        return self._may(0o4, uid, gid, mode)

    def may_write(self, uid: int, gid: int, mode: int) -> bool:
        """Tell whether a file of this owner, group and mode may be written, as the kernel decides it."""
        return self._may(0o2, uid, gid, mode)

    def _may(self, bit: int, uid: int, gid: int, mode: int) -> bool:
        if self.uid == 0:
            return True
        if uid == self.uid:
            return bool(mode & bit << 6)
        if gid in self.gids:
            return bool(mode & bit << 3)
        return bool(mode & bit)
