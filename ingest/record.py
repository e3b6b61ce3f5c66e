"""The record, as ingest writes it: queue, new versions, moves, removals. A method, a transaction.

A document's new version appears whole, chunks, words and vectors, and the old one goes with the same commit.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from ingest.chunk import Chunk
from ingest.database import Database
from ingest.folder import FileStat
from ingest.locator import PATH
from ingest.page_texts import PageTexts
from ingest.rows import folder_of, move_documents, replace_folders, set_stat, stat_columns, storable
from ingest.sweep import Changes, Entry
from ingest.text_digest import digest_of
from ingest.unit import Unit
from ingest.vector_log import STORED_DTYPE

MAX_ATTEMPTS = 5  # stops of the whole daemon during one file's parsing before that file is blamed


class Stage(StrEnum):
    """States of an unfinished document; the finished ones are `READY` and the outcomes of parsing."""

    WAITING = "waiting"
    PARSING = "parsing"
    EMBEDDING = "embedding"


READY = "ready"
_QUEUED = "('waiting', 'parsing', 'embedding')"


@dataclass(frozen=True, slots=True)
class Version:
    """One finished reading of a file.

    Attributes:
        state: `READY`, or the outcome that `reason` explains; then without chunks.
        vectors: (n_chunks, n_dims), float32, L2-normalised.
        notes: plain sentences about what was left out, or read less well.
    """

    stat: FileStat
    sha256: str
    state: str
    reason: str = ""
    format: str = ""
    title: str = ""
    n_pages: int | None = None
    chunks: Sequence[Chunk] = ()
    vectors: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))
    notes: Sequence[str] = ()


class Record:
    """The writing side of the library.

    Args:
        fingerprint: of the embedder whose vectors are written.
        parser_version: recorded with each document; a failed file is read again by a newer parser.
    """

    def __init__(self, database: Database, fingerprint: str, n_dims: int, parser_version: int) -> None:
        self._database = database
        self._parser_version = parser_version
        with database.write() as connection:
            query = "SELECT id FROM embedders WHERE fingerprint = ?"
            row = connection.execute(query, (fingerprint,)).fetchone()
            if row is None:
                values = (fingerprint, n_dims)
                row = connection.execute(
                    "INSERT INTO embedders (fingerprint, n_dims) VALUES (?, ?) RETURNING id", values
                ).fetchone()
        self._embedder = int(row[0])
        self._pages = PageTexts(database, parser_version)

    # --- the queue ---

    def recover(self) -> None:
        """Put back into the queue what a stop interrupted, a newer parser may read, or has no vectors."""
        with self._database.write() as connection:
            blamed = f"state = 'parsing' AND n_attempts >= {MAX_ATTEMPTS}"
            connection.execute(
                f"DELETE FROM chunks WHERE document_id IN (SELECT id FROM documents WHERE {blamed})"
            )
            connection.execute(
                "UPDATE documents SET state = 'crashed', updated_s = ?, n_attempts = 0, n_chunks = 0, "
                f"sha256 = '', parser_version = ?, reason = ? WHERE {blamed}",
                (
                    time.time(),
                    self._parser_version,
                    "the appliance stopped several times while it read this file",
                ),
            )
            connection.execute(
                f"UPDATE documents SET state = 'waiting', reason = '' WHERE state IN {_QUEUED} "
                "OR (state <> 'ready' AND parser_version <> ?) "
                "OR id IN (SELECT document_id FROM chunks c WHERE NOT EXISTS "
                "(SELECT 1 FROM vectors v WHERE v.chunk_id = c.id AND v.embedder_id = ?))",
                (self._parser_version, self._embedder),
            )

    def waiting(self) -> list[tuple[int, str]]:
        """Return (document id, path) of what waits, in the order it came."""
        with self._database.read() as connection:
            query = "SELECT id, path FROM documents WHERE state = 'waiting' ORDER BY queued_s, id"
            return [(row["id"], os.fsdecode(row["path"])) for row in connection.execute(query)]

    def waiting_path(self, id: int) -> str | None:
        """Return where a document is, or None when it does not wait any more."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT path FROM documents WHERE id = ? AND state = 'waiting'", (id,)
            ).fetchone()
        return os.fsdecode(row["path"]) if row else None

    def n_queued(self) -> int:
        """Return the number of documents that wait or are worked on."""
        with self._database.read() as connection:
            query = f"SELECT count(*) FROM documents WHERE state IN {_QUEUED}"
            return int(connection.execute(query).fetchone()[0])

    def path_of(self, id: int) -> str | None:
        """Return where the document is now, or None when it is gone."""
        with self._database.read() as connection:
            row = connection.execute("SELECT path FROM documents WHERE id = ?", (id,)).fetchone()
        return os.fsdecode(row["path"]) if row else None

    def advance(self, id: int, stage: Stage) -> None:
        """Show what is being done with a document."""
        attempts = "n_attempts + 1" if stage is Stage.PARSING else "0"
        # Not durable: after a power cut the document waits again anyway, and this would be a disk flush a stage.
        with self._database.write(durable=False) as connection:
            connection.execute(
                f"UPDATE documents SET state = ?, reason = '', n_attempts = {attempts}, updated_s = ? "
                "WHERE id = ?",
                (stage.value, time.time(), id),
            )

    def moves_on(self, id: int) -> None:
        """Note that the reading of a document has got further: it is not what stops the daemon."""
        with self._database.write(durable=False) as connection:
            connection.execute("UPDATE documents SET n_attempts = 1 WHERE id = ?", (id,))

    def release(self) -> None:
        """Put everything that is worked on back into the queue; for a stop in good order."""
        with self._database.write(durable=False) as connection:
            connection.execute(
                "UPDATE documents SET state = 'waiting', n_attempts = 0 WHERE state IN ('parsing', 'embedding')"
            )

    def retry(self, paths: Iterable[str] | None = None) -> int:
        """Put documents that failed back into the queue, all or those of some paths; return how many there are."""
        failed = f"state <> '{READY}' AND state NOT IN {_QUEUED}"
        again = f"UPDATE documents SET state = 'waiting', reason = '', queued_s = ?, n_attempts = 0 WHERE {failed}"
        now = time.time()
        with self._database.write() as connection:
            if paths is None:
                return connection.execute(again, (now,)).rowcount
            each = (connection.execute(f"{again} AND path = ?", (now, os.fsencode(path))) for path in paths)
            return sum(done.rowcount for done in each)

    # --- the sweep ---

    def entries(self) -> dict[str, Entry]:
        """Return every document by path."""
        with self._database.read() as connection:
            cursor = connection.cursor()
            cursor.row_factory = (
                None  # plain tuples: this is a third of what a sweep of unchanged files costs
            )
            rows = cursor.execute(
                "SELECT id, path, sha256, state IN "
                + _QUEUED
                + ", size, mtime_ns, inode, uid, gid, mode FROM documents"
            ).fetchall()
        decode = os.fsdecode
        return {
            decode(path): Entry(id, FileStat(*stat), sha256, bool(queued))
            for id, path, sha256, queued, *stat in rows
        }

    def sweep_memory(self) -> str:
        """Return what the last sweep kept for the next one; empty at first."""
        return self._database.meta("sweep") or ""

    def keep_sweep_memory(self, memory: str) -> None:
        """Keep a text for the next sweep, over a stop too."""
        self._database.set_meta("sweep", memory)

    def apply(self, changes: Changes, folders: Mapping[str, FileStat]) -> None:
        """Write down what a sweep found, except what is gone; new and changed documents wait to be read."""
        now = time.time()
        with self._database.write() as connection:
            replace_folders(connection, folders)
            move_documents(connection, changes.moved)
            for path, stat in changes.refreshed.items():
                set_stat(connection, path, stat)
            for path, stat in changes.changed.items():
                set_stat(connection, path, stat)
                connection.execute(
                    "UPDATE documents SET state = 'waiting', reason = '', queued_s = ?, updated_s = ?, "
                    "n_attempts = 0 WHERE path = ?",
                    (now, now, os.fsencode(path)),
                )
            connection.executemany(
                "INSERT INTO documents (path, folder, size, mtime_ns, inode, uid, gid, mode, state, added_s, "
                "updated_s, queued_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?, ?, ?)",
                [
                    (os.fsencode(path), folder_of(path), *stat_columns(stat), now, now, now)
                    for path, stat in sorted(changes.new.items())
                ],
            )

    def remove(self, paths: Iterable[str]) -> None:
        """Forget documents, with their chunks, words and vectors."""
        with self._database.write() as connection:
            for path in paths:
                connection.execute("DELETE FROM documents WHERE path = ?", (os.fsencode(path),))
            _drop_orphaned_pages(connection)

    # --- finished work ---

    def finish(self, id: int, version: Version) -> bool:
        """Replace a document's version in one commit.

        Returns:
            False when the document is gone, or was sent back to the queue meanwhile; nothing is written then.
        """
        stat = version.stat
        with self._database.write() as connection:
            done = connection.execute(
                "UPDATE documents SET size = ?, mtime_ns = ?, inode = ?, uid = ?, gid = ?, mode = ?, "
                "sha256 = ?, state = ?, reason = ?, format = ?, title = ?, n_pages = ?, n_chunks = ?, notes = ?, "
                "parser_version = ?, n_attempts = 0, updated_s = ? WHERE id = ? AND state IN ('parsing', 'embedding')",
                (
                    *stat_columns(stat), version.sha256, version.state, storable(version.reason), version.format,
                    storable(version.title), version.n_pages, len(version.chunks),
                    json.dumps([*version.notes]), self._parser_version, time.time(), id,
                ),
            )  # fmt: skip
            if done.rowcount == 0:
                return False
            connection.execute("DELETE FROM chunks WHERE document_id = ?", (id,))
            self._add_chunks(connection, id, version)
            connection.execute("DELETE FROM page_texts WHERE sha256 = ?", (version.sha256,))
            _drop_orphaned_pages(connection)
        return True

    # --- pages of unfinished work ---

    def page_text(self, sha256: str, part: str, page: int) -> tuple[Unit, ...] | None:
        """Return the units of a page that was read before a stop; see `PageTexts`."""
        return self._pages.page_text(sha256, part, page)

    def keep_page_text(self, sha256: str, part: str, page: int, units: Sequence[Unit]) -> None:
        """Keep a page that took long to read, until its document is finished or gone."""
        self._pages.keep_page_text(sha256, part, page, units)

    def drop_page_texts(self, sha256: str) -> None:
        """Forget the pages of a file."""
        self._pages.drop_page_texts(sha256)

    # --- vectors that are known already ---

    def known_vectors(self, digests: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Return the vectors of texts that were embedded already, by `digest_of` the text."""
        query = (
            "SELECT v.vector FROM chunks c JOIN vectors v ON v.chunk_id = c.id AND v.embedder_id = ? "
            "WHERE c.digest = ? LIMIT 1"
        )
        known = {}
        with self._database.read() as connection:
            for digest in digests:
                if row := connection.execute(query, (self._embedder, digest)).fetchone():
                    known[digest] = np.frombuffer(row[0], STORED_DTYPE).astype(np.float32)
        return known

    def has_twin(self, sha256: str) -> bool:
        """Tell whether a document of the same bytes may have vectors."""
        with self._database.read() as connection:
            query = "SELECT 1 FROM documents WHERE sha256 = ? AND n_chunks > 0 LIMIT 1"
            return bool(sha256) and connection.execute(query, (sha256,)).fetchone() is not None

    def vectors_of_twin(self, sha256: str, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Return the vectors of a document of the same bytes, (n_texts, n_dims), where this parser read the same texts.

        Its name may be part of what was embedded for it, so `known_vectors` does not find it; the difference is small.
        """
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT c.text, v.vector FROM chunks c JOIN vectors v ON v.chunk_id = c.id AND v.embedder_id = ? "
                "WHERE c.document_id = (SELECT id FROM documents WHERE sha256 = ? AND n_chunks = ? "
                "AND parser_version = ? LIMIT 1) ORDER BY c.ordinal",
                (self._embedder, sha256, len(texts), self._parser_version),
            ).fetchall()
        if not rows or [row["text"] for row in rows] != [storable(text) for text in texts]:
            return None
        return np.stack([np.frombuffer(row["vector"], STORED_DTYPE).astype(np.float32) for row in rows])

    def _add_chunks(self, connection: sqlite3.Connection, id: int, version: Version) -> None:
        vectors = version.vectors.astype(STORED_DTYPE)
        for ordinal, (chunk, vector) in enumerate(zip(version.chunks, vectors, strict=True)):
            heading = PATH.join(part for part in (version.title, *chunk.locator.path) if part)
            text = storable(chunk.text)
            added = connection.execute(
                "INSERT INTO chunks (document_id, ordinal, text, heading, locator, n_tokens, flags, digest, "
                "text_digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    id, ordinal, text, storable(heading), json.dumps(chunk.locator.to_json()),
                    chunk.n_tokens, json.dumps(sorted(chunk.flags)), digest_of(chunk.embed_text), digest_of(text),
                ),
            )  # fmt: skip
            connection.execute(
                "INSERT INTO vectors (chunk_id, embedder_id, vector) VALUES (?, ?, ?)",
                (added.lastrowid, self._embedder, vector.tobytes()),
            )


def _drop_orphaned_pages(connection: sqlite3.Connection) -> None:
    """Forget kept pages once nothing is queued: a file that went away half read is only known by its bytes."""
    connection.execute(
        f"DELETE FROM page_texts WHERE NOT EXISTS (SELECT 1 FROM documents WHERE state IN {_QUEUED})"
    )
