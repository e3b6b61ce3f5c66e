"""What the record gives out: documents and chunks as stored, and who may see them."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import dataclass

from ingest.access import Viewer
from ingest.locator import Locator

DOCUMENT_COLUMNS = (
    "d.id, d.path, d.title, d.format, d.state, d.reason, d.size, d.mtime_ns, d.uid, d.gid, d.mode, d.sha256, "
    "d.n_pages, d.n_chunks, d.notes"
)
CHUNK_COLUMNS = "c.id AS chunk_id, c.ordinal, c.text, c.locator, c.flags"

# Viewer.may_read in SQL, and every sub-folder on the way must let the viewer in.
VISIBLE = """(
  CASE WHEN :uid = 0 THEN 1
       WHEN d.uid = :uid THEN d.mode & 256
       WHEN d.gid IN (SELECT value FROM json_each(:gids)) THEN d.mode & 32
       ELSE d.mode & 4 END
  AND d.folder NOT IN (SELECT path FROM closed))"""

# A folder is closed when it, or one above it, lacks the x bit for this viewer.
CLOSED = """WITH shut AS MATERIALIZED (
  SELECT path FROM folders WHERE NOT
    CASE WHEN :uid = 0 THEN 1
         WHEN uid = :uid THEN mode & 64
         WHEN gid IN (SELECT value FROM json_each(:gids)) THEN mode & 8
         ELSE mode & 1 END),
closed AS MATERIALIZED (
  SELECT f.path FROM folders f WHERE EXISTS (
    SELECT 1 FROM shut s
    WHERE f.path = s.path OR substr(f.path, 1, length(s.path) + 1) = CAST(s.path || '/' AS BLOB)))
"""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A file as the record knows it.

    Attributes:
        path: relative to the watched folder; bytes that are no text are kept by surrogateescape.
        state: waiting, parsing, embedding, ready, or the outcome that `reason` explains.
        sha256: of the bytes that `state` speaks of; empty while the file was never read.
        notes: plain sentences about what was left out of it, or read less well.
    """

    id: int
    path: str
    title: str
    format: str
    state: str
    reason: str
    size: int
    mtime_ns: int
    uid: int
    gid: int
    mode: int
    sha256: str
    n_pages: int | None
    n_chunks: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A piece of a document, with its place in it."""

    id: int
    document: StoredDocument
    ordinal: int
    text: str
    locator: Locator
    flags: frozenset[str]


def viewer_parameters(viewer: Viewer) -> dict[str, int | str]:
    """Return the values that `VISIBLE` and `CLOSED` ask for."""
    return {"uid": viewer.uid, "gids": json.dumps(sorted(viewer.gids))}


def to_document(row: sqlite3.Row) -> StoredDocument:
    """Read one row of `DOCUMENT_COLUMNS`."""
    return StoredDocument(
        id=row["id"],
        path=os.fsdecode(row["path"]),
        title=row["title"],
        format=row["format"],
        state=row["state"],
        reason=row["reason"],
        size=row["size"],
        mtime_ns=row["mtime_ns"],
        uid=row["uid"],
        gid=row["gid"],
        mode=row["mode"],
        sha256=row["sha256"],
        n_pages=row["n_pages"],
        n_chunks=row["n_chunks"],
        notes=tuple(json.loads(row["notes"])),
    )


def to_chunk(row: sqlite3.Row) -> StoredChunk:
    """Read one row of `DOCUMENT_COLUMNS` and `CHUNK_COLUMNS`."""
    return StoredChunk(
        id=row["chunk_id"],
        document=to_document(row),
        ordinal=row["ordinal"],
        text=row["text"],
        locator=Locator.from_json(json.loads(row["locator"])),
        flags=frozenset(json.loads(row["flags"])),
    )


def printable(path: str) -> str:
    """Return a file name of any bytes as text that can be sent and shown."""
    return os.fsencode(path).decode("utf-8", "replace")
