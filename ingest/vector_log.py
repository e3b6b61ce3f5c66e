"""The record's vectors of one embedder, and what has changed in them since a follower last looked."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingest.database import Database

# A float16 moves a cosine by about 1e-4, embedding in int8 by 6e-3 (docs/measurements.md).
STORED_DTYPE = np.dtype("<f2")
PAGE = 2048  # rows read at once: 3 MB of float32 with 384 dimensions


@dataclass(frozen=True, slots=True)
class Delta:
    """A stretch of the change log, reduced to what is left to do.

    Attributes:
        seq: the log has been followed up to here.
        added: ids of the rows of `vectors`.
        vectors: (n_added, n_dims), float32, L2-normalised.
        removed: ids without a vector now.
        more: the log goes on; ask again from `seq`.
    """

    seq: int
    added: list[int]
    vectors: NDArray[np.float32]
    removed: list[int]
    more: bool


class VectorLog:
    """The vectors of one embedder, in the record, with their change log.

    Args:
        fingerprint: the embedder's; one that never wrote a vector has none, and gets none.
    """

    def __init__(self, database: Database, fingerprint: str) -> None:
        self._database = database
        self._fingerprint = fingerprint
        self._embedder: int | None = None

    def seq(self) -> int:
        """Return the number of the newest change."""
        with self._database.read() as connection:
            row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").fetchone()
        return int(row[0]) if row else 0

    def pruned_to(self) -> int:
        """Return where the log was cut off: a follower that is not so far must start anew."""
        return int(self._database.meta("pruned_to") or 0)

    def n_vectors(self) -> int:
        """Return the number of vectors."""
        with self._database.read() as connection:
            query = "SELECT count(*) FROM vectors WHERE embedder_id = ?"
            return int(connection.execute(query, (self._embedder_id(connection),)).fetchone()[0])

    def ids(self) -> set[int]:
        """Return the ids of all chunks with a vector."""
        with self._database.read() as connection:
            query = "SELECT chunk_id FROM vectors WHERE embedder_id = ?"
            return {row[0] for row in connection.execute(query, (self._embedder_id(connection),))}

    def vectors_of(self, ids: Iterable[int]) -> tuple[list[int], NDArray[np.float32]]:
        """Return those of the ids that have a vector, ascending, and the vectors, (n, n_dims)."""
        with self._database.read() as connection:
            return _read(connection, self._embedder_id(connection), set(ids))

    def since(self, seq: int) -> Delta:
        """Return what changed after `seq`, a page at most."""
        with self._database.snapshot() as connection:
            embedder = self._embedder_id(connection)
            rows = connection.execute(
                "SELECT seq, embedder_id, chunk_id FROM changes WHERE seq > ? ORDER BY seq LIMIT ?",
                (seq, PAGE),
            ).fetchall()
            touched = {row["chunk_id"] for row in rows if row["embedder_id"] == embedder}
            added, vectors = _read(connection, embedder, touched)
        return Delta(
            rows[-1]["seq"] if rows else seq, added, vectors, sorted(touched - set(added)), len(rows) == PAGE
        )

    def pages(self) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        """Yield all vectors as (chunk ids, (n, n_dims)), by id; some may be younger than the call."""
        last = 0
        while True:
            with self._database.read() as connection:
                rows = connection.execute(
                    "SELECT chunk_id, vector FROM vectors WHERE chunk_id > ? AND embedder_id = ? "
                    "ORDER BY chunk_id LIMIT ?",
                    (last, self._embedder_id(connection), PAGE),
                ).fetchall()
            if not rows:
                return
            last = rows[-1]["chunk_id"]
            yield [row["chunk_id"] for row in rows], _unpack([row["vector"] for row in rows])

    def of_documents(self, documents: Collection[int]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        """Yield the vectors of some documents' chunks as (chunk ids, (n, n_dims)), in no order."""
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT v.chunk_id, v.vector FROM json_each(?) wanted JOIN chunks c ON c.document_id = wanted.value "
                "JOIN vectors v ON v.chunk_id = c.id AND v.embedder_id = ?",
                (json.dumps([*documents]), self._embedder_id(connection)),
            )
            while rows := found.fetchmany(PAGE):
                yield [row["chunk_id"] for row in rows], _unpack([row["vector"] for row in rows])

    def prune(self, seq: int) -> None:
        """Cut the log off up to `seq`; followers that are not so far start anew."""
        with self._database.write() as connection:
            if connection.execute("DELETE FROM changes WHERE seq <= ?", (seq,)).rowcount:
                connection.execute(
                    "INSERT INTO meta VALUES ('pruned_to', ?) "
                    "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                    (str(seq),),
                )

    def _embedder_id(self, connection: sqlite3.Connection) -> int:
        if self._embedder is None:
            query = "SELECT id FROM embedders WHERE fingerprint = ?"
            row = connection.execute(query, (self._fingerprint,)).fetchone()
            if row is None:
                return -1
            self._embedder = int(row[0])
        return self._embedder


def _read(
    connection: sqlite3.Connection, embedder: int, ids: set[int]
) -> tuple[list[int], NDArray[np.float32]]:
    found: list[int] = []
    blobs: list[bytes] = []
    for id in sorted(ids):
        query = "SELECT vector FROM vectors WHERE chunk_id = ? AND embedder_id = ?"
        if row := connection.execute(query, (id, embedder)).fetchone():
            found.append(id)
            blobs.append(row[0])
    return found, _unpack(blobs)


def _unpack(blobs: list[bytes]) -> NDArray[np.float32]:
    if not blobs:
        return np.empty((0, 0), np.float32)
    vectors = np.frombuffer(b"".join(blobs), STORED_DTYPE).reshape(len(blobs), -1).astype(np.float32)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)  # float16 moved them a little off the unit sphere
    return np.asarray(vectors / np.where(norms == 0, 1, norms), np.float32)
