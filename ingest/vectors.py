"""Exact search over the record's vectors, for when Chroma cannot be asked."""

from __future__ import annotations

import threading
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from ingest.errors import LibraryError
from ingest.library import Library
from ingest.vector_log import PAGE, VectorLog


class RecordVectors:
    """Exact cosine search over the record's vectors, held in memory, kept up by the change log. Thread-safe.

    Costs 4 bytes a dimension and chunk from the first query on; `forget` gives them back.
    """

    def __init__(self, library: Library, fingerprint: str) -> None:
        self._log = VectorLog(library.database, fingerprint)
        self._lock = threading.Lock()
        self._seq = -1  # nothing loaded
        self._matrix = _Matrix()

    def query(self, vector: NDArray[np.float32], n: int) -> list[tuple[int, float]]:
        """Return the n nearest chunks as (chunk id, cosine), best first.

        Args:
            vector: (n_dims,), of any length.
        Raises:
            LibraryError: the record cannot be read, or the vector has other dimensions.
        """
        with self._lock:
            self._refresh()
            return self._matrix.nearest(vector, n)

    def among(
        self, documents: Collection[int], vector: NDArray[np.float32], n: int
    ) -> list[tuple[int, float]]:
        """Return the n nearest chunks of these documents as (chunk id, cosine), best first; holds nothing in memory.

        Raises:
            LibraryError: the record cannot be read, or the vector has other dimensions.
        """
        best: list[tuple[int, float]] = []
        for ids, vectors in self._log.of_documents(documents):
            found = _nearest(np.array(ids), vectors, vector, n)
            best = sorted([*best, *found], key=lambda pair: (-pair[1], pair[0]))[:n]
        return best

    def forget(self) -> None:
        """Give the memory back until the next query."""
        with self._lock:
            self._seq, self._matrix = -1, _Matrix()

    def _refresh(self) -> None:
        if self._seq < max(self._log.pruned_to(), 0):
            seq = self._log.seq()  # before the rows: what comes in between is followed, twice at worst
            self._matrix = _Matrix()
            for ids, vectors in self._log.pages():
                self._matrix.put(ids, vectors)
            self._seq = seq
        more = True
        while more:
            delta = self._log.since(self._seq)
            self._matrix.remove(delta.removed)
            self._matrix.put(delta.added, delta.vectors)
            self._seq, more = delta.seq, delta.more


class _Matrix:
    """Rows by chunk id; grows by doubling, fills holes with its last row."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}
        self._ids = np.empty(0, np.int64)
        self._values = np.empty((0, 0), np.float32)

    def put(self, ids: list[int], vectors: NDArray[np.float32]) -> None:
        if not ids:
            return
        self._reserve(len(self._rows) + len(ids), vectors.shape[1])
        for id, vector in zip(ids, vectors, strict=True):
            row = self._rows.setdefault(id, len(self._rows))
            self._ids[row] = id
            self._values[row] = vector

    def remove(self, ids: list[int]) -> None:
        for id in ids:
            row = self._rows.pop(id, None)
            last = len(self._rows)
            if row is None or row == last:
                continue
            self._ids[row], self._values[row] = self._ids[last], self._values[last]
            self._rows[int(self._ids[last])] = row

    def nearest(self, vector: NDArray[np.float32], n: int) -> list[tuple[int, float]]:
        count = len(self._rows)
        return _nearest(self._ids[:count], self._values[:count], vector, n)

    def _reserve(self, count: int, n_dims: int) -> None:
        if count <= len(self._ids):
            return
        capacity = max(count, 2 * len(self._ids), PAGE)
        ids, values = np.empty(capacity, np.int64), np.empty((capacity, n_dims), np.float32)
        used = len(self._rows)
        ids[:used], values[:used] = self._ids[:used], self._values[:used].reshape(used, n_dims)
        self._ids, self._values = ids, values


def _nearest(
    ids: NDArray[np.int64], values: NDArray[np.float32], vector: NDArray[np.float32], n: int
) -> list[tuple[int, float]]:
    norm = float(np.linalg.norm(vector))
    if len(ids) == 0 or n <= 0 or norm == 0.0:
        return []
    if vector.shape != values.shape[1:]:
        raise LibraryError(f"the query has shape {vector.shape}, the record's vectors {values.shape[1:]}")
    cosines = values @ (vector / norm).astype(np.float32)
    best = np.argpartition(-cosines, n - 1)[:n] if n < len(ids) else np.arange(len(ids))
    best = best[np.lexsort((ids[best], -cosines[best]))]
    return [(int(ids[row]), float(cosines[row])) for row in best]
