"""How documents and folders are written as rows of the record; each function is part of a caller's transaction."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping

from ingest.folder import FileStat


def replace_folders(connection: sqlite3.Connection, folders: Mapping[str, FileStat]) -> None:
    """Make the known sub-folders those that were seen."""
    found = {(os.fsencode(path), s.uid, s.gid, s.mode) for path, s in folders.items()}
    known = {tuple(row) for row in connection.execute("SELECT path, uid, gid, mode FROM folders")}
    if found != known:
        connection.execute("DELETE FROM folders")
        connection.executemany("INSERT INTO folders (path, uid, gid, mode) VALUES (?, ?, ?, ?)", found)


def move_documents(connection: sqlite3.Connection, moved: Mapping[tuple[str, str], FileStat]) -> None:
    """Give documents their new paths, (old, new)."""
    # Names may have been swapped: all leave their old one first, to a name that no file can have.
    for old, _ in moved:
        on_its_way = b"\0" + os.fsencode(old)
        connection.execute("UPDATE documents SET path = ? WHERE path = ?", (on_its_way, os.fsencode(old)))
    for (old, new), stat in moved.items():
        connection.execute("DELETE FROM documents WHERE path = ?", (os.fsencode(new),))  # renamed over
        connection.execute(
            "UPDATE documents SET path = ?, folder = ? WHERE path = ?",
            (os.fsencode(new), folder_of(new), b"\0" + os.fsencode(old)),
        )
        set_stat(connection, new, stat)


def set_stat(connection: sqlite3.Connection, path: str, stat: FileStat) -> None:
    """Write how a file looks."""
    connection.execute(
        "UPDATE documents SET size = ?, mtime_ns = ?, inode = ?, uid = ?, gid = ?, mode = ? WHERE path = ?",
        (*stat_columns(stat), os.fsencode(path)),
    )


def stat_columns(stat: FileStat) -> tuple[int, ...]:
    """Return size, mtime_ns, inode, uid, gid and mode, as the columns stand in every statement."""
    return (stat.size, stat.mtime_ns, stat.inode, stat.uid, stat.gid, stat.mode)


def folder_of(path: str) -> bytes:
    """Return the directory of a path."""
    return os.path.dirname(os.fsencode(path))


def storable(text: str) -> str:
    """Return the text without lone surrogates, which SQLite cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
