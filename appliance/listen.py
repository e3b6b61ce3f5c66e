"""The unix socket: bound by us, with our mode and group. uvicorn would make it world-writable (uvicorn#2731)."""

from __future__ import annotations

import grp
import os
import socket
import stat
from pathlib import Path

from appliance.errors import ConfigError

_MODE = 0o660


def bind(path: Path, group: str | None) -> socket.socket:
    """Return a socket bound to `path`, mode 0660. The caller owns the home, so one that is left there is stale.

    Raises:
        ConfigError: something that is no socket lies there, or the group does not exist.
    """
    if path.exists() and not stat.S_ISSOCK(path.lstat().st_mode):
        raise ConfigError(f"{path} is in the way and is not a socket: move it, or set api.socket")
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # nobody may connect until mode and group are right
    try:
        listening.bind(str(path))
    finally:
        os.umask(before)
    if group is not None:
        os.chown(path, -1, _gid(group))
    os.chmod(path, _MODE)
    return listening


def _gid(group: str) -> int:
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError as error:
        raise ConfigError(f"api.group: there is no group {group!r} on this machine") from error
