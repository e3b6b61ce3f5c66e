"""A record whose file is damaged is set aside as it is opened: the folder is read anew, and nobody has to do anything.

All it holds comes from the folder. A sound file is never touched: reading everything again takes long.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from contextlib import closing
from pathlib import Path

log = logging.getLogger(__name__)

DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
FILES = ("", "-wal", "-shm")


def damage_of(path: Path) -> str:
    """Return what is wrong with a database file, or an empty string.

    All of it is looked at only after an unclean stop, which leaves a WAL behind: a second a gigabyte.
    """
    wal = path.with_name(f"{path.name}-wal")
    if not path.is_file():
        return ""
    check = (
        "PRAGMA quick_check(1)" if wal.exists() and wal.stat().st_size else "SELECT 'ok' FROM sqlite_master"
    )
    try:
        with closing(sqlite3.connect(path)) as connection:
            row = connection.execute(check).fetchone()
    except sqlite3.DatabaseError as error:
        return str(error) if getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGED else ""
    return "" if row is None or row[0] == "ok" else str(row[0])


def set_aside(path: Path, damage: str, loss: str) -> None:
    """Move a damaged database away, in place of the one that was moved before.

    Args:
        loss: what is without it, in words.
    Raises:
        OSError: it cannot be moved.
    """
    log.error("%s is damaged (%s): kept as %s.damaged; %s", path, damage, path.name, loss)
    for suffix in FILES:
        there = path.with_name(f"{path.name}{suffix}")
        kept = path.with_name(f"{path.name}.damaged{suffix}")
        kept.unlink(missing_ok=True)
        if there.exists():
            os.replace(there, kept)
