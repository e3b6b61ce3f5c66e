"""Taking a file in through the socket: it appears in the ingest folder whole, or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from appliance.errors import BadUploadError, ConflictError, NotAllowedError
from ingest.access import Viewer
from ingest.errors import DiskFullError

_NEW_MODE = 0o644
_MAX_NAME = 255  # bytes, NAME_MAX of Linux file systems


class IncomingFile:
    """A file that is being written under a hidden name beside its own, which the sweep ignores."""

    def __init__(self, folder: Path, name: str, max_bytes: int, replace: bool) -> None:
        self.size = 0
        self._target = folder / name
        self._part = folder / f".{secrets.token_hex(8)}.part"
        self._max_bytes = max_bytes
        self._replace = replace
        self._file: BinaryIO = open(self._part, "xb")  # noqa: SIM115 - closed by `discard`

    def write(self, data: bytes) -> None:
        """Append to the file.

        Raises:
            BadUploadError: the file grows beyond the limit.
            DiskFullError: the disk has no room for it.
        """
        self.size += len(data)
        if self.size > self._max_bytes:
            limit = f"{self._max_bytes // 2**20} MiB is the most (ingest.max_file_mb)"
            raise BadUploadError(f"{self._target.name}: larger than {limit}")
        with _room_for(self._target):
            self._file.write(data)

    def commit(self) -> None:
        """Give the file its name; it is on the disk when this returns.

        Raises:
            ConflictError: the name was taken in the meantime.
        """
        with _room_for(self._target):
            self._file.flush()
        os.fsync(self._file.fileno())
        if self._replace:
            os.replace(self._part, self._target)
        else:
            try:
                os.link(self._part, self._target)  # unlike rename, fails when the name is taken
            except FileExistsError as error:
                raise taken(self._target.name) from error

    def dress(self, before: os.stat_result | None, viewer: Viewer) -> None:
        """Give the file its owner and mode: those of the one it replaces, else the caller's.

        Only root may give files away; where the daemon is not, everyone may read what is added, so that staff can ask
        about it.
        """
        if os.geteuid() == 0:
            uid, gid = (viewer.uid, -1) if before is None else (before.st_uid, before.st_gid)
            os.fchown(self._file.fileno(), uid, gid)
        os.fchmod(self._file.fileno(), _NEW_MODE if before is None else stat.S_IMODE(before.st_mode))

    def discard(self) -> None:
        """Close, and remove what was not committed."""
        self._file.close()
        self._part.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Folder:
    """Where files are taken in, and how large they may be."""

    path: Path
    max_bytes: int

    @contextmanager
    def receive(self, name: str, viewer: Viewer, *, replace: bool) -> Iterator[IncomingFile]:
        """Open a file for writing; without a `commit` nothing remains of it.

        Raises:
            BadUploadError: the name is not that of a plain file.
            ConflictError: a file of that name is there and `replace` is not set.
            NotAllowedError: it is there, and the caller may not write it.
        """
        _check_name(name)
        before = self._before(name, viewer, replace=replace)
        file = IncomingFile(self.path, name, self.max_bytes, replace)
        try:
            file.dress(before, viewer)
            yield file
        finally:
            file.discard()

    def _before(self, name: str, viewer: Viewer, *, replace: bool) -> os.stat_result | None:
        """Return what is there under the name and may be replaced; None where nothing is."""
        try:
            before = (self.path / name).lstat()
        except FileNotFoundError:
            return None
        if not replace:
            raise taken(name)
        if not stat.S_ISREG(before.st_mode):
            raise BadUploadError(f"{name} is not a file and cannot be replaced")
        if not viewer.may_write(before.st_uid, before.st_gid, before.st_mode):
            raise NotAllowedError(f"{name} belongs to someone else, and you may not write it")
        return before


def _check_name(name: str) -> None:
    if not name or name.startswith(".") or "/" in name or "\0" in name:
        raise BadUploadError(f"{name!r} is not a file name: no folders, no leading dot")
    if len(os.fsencode(name)) > _MAX_NAME:
        raise BadUploadError(f"the name is {len(os.fsencode(name))} bytes long, {_MAX_NAME} is the most")


@contextmanager
def _room_for(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise DiskFullError(
            f"{target.name}: the disk of {target.parent} is full; make room and add it again"
        ) from error


def taken(name: str) -> ConflictError:
    """Return the error for a name that is in use."""
    return ConflictError(f"{name} is in the folder already; choose another name, or replace it (--replace)")
