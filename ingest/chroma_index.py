"""One opened Chroma collection: vectors in, nearest ones out, every error mapped. The only importer of chromadb."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from chromadb.config import Settings
from numpy.typing import NDArray

from ingest.errors import DenseError

CHROMA_VERSION: str = chromadb.__version__
BATCH = 1000  # rows sent at once, if Chroma takes so many: a second of work
GET_PAGE = 10_000  # `get` fails beyond 32,766 rows (chroma#1861)
MIN_RESULTS = 64  # asked for at least: small n_results leave recall holes (chroma#1205)
# Chroma's default search_ef of 100 is less than the candidates that retrieval may ask for.
HNSW: Any = {"space": "cosine", "ef_construction": 200, "ef_search": 256, "max_neighbors": 24}


class Index:
    """One opened collection in one directory. Thread-safe, as Chroma is; never open the same directory twice.

    Raises:
        DenseError: from every method, whatever Chroma raised.
    """

    def __init__(self, path: Path, collection: str) -> None:
        with _mapped():
            settings = Settings(anonymized_telemetry=False)
            # Any: ClientAPI, its declared type, lacks `close` and wants typed dicts.
            self._client: Any = chromadb.PersistentClient(path=str(path), settings=settings)
            self._collection = self._client.get_or_create_collection(
                collection, embedding_function=None, configuration={"hnsw": HNSW}
            )
            self._batch = min(BATCH, self._client.get_max_batch_size())

    def count(self) -> int:
        """Return the number of vectors."""
        with _mapped():
            return int(self._collection.count())

    def ids(self) -> set[int]:
        """Return the ids of all vectors."""
        found: set[int] = set()
        while True:
            with _mapped():
                page = self._collection.get(limit=GET_PAGE, offset=len(found), include=[])["ids"]
            if not page:
                return found
            found.update(map(int, page))

    def put(self, ids: list[int], vectors: NDArray[np.float32]) -> None:
        """Add or replace vectors, (n, n_dims)."""
        for start in range(0, len(ids), self._batch):
            rows = slice(start, start + self._batch)
            with _mapped():
                self._collection.upsert(ids=[str(id) for id in ids[rows]], embeddings=vectors[rows])

    def remove(self, ids: list[int]) -> None:
        """Take vectors out; unknown ids are no error."""
        for start in range(0, len(ids), self._batch):
            with _mapped():
                self._collection.delete(ids=[str(id) for id in ids[start : start + self._batch]])

    def nearest(self, vector: NDArray[np.float32], n: int) -> list[tuple[int, float]]:
        """Return the n nearest as (id, cosine), best first; approximate."""
        with _mapped():
            found: Any = self._collection.query(
                query_embeddings=vector.reshape(1, -1).astype(np.float32),
                n_results=max(n, MIN_RESULTS),
                include=["distances"],
            )
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [(int(id), 1.0 - float(distance)) for id, distance in pairs][:n]

    def close(self) -> None:
        """Close the client and give its memory back."""
        with _mapped():
            self._client.close()


@contextmanager
def _mapped() -> Iterator[None]:
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        # Chroma raises its own errors, ValueError, RuntimeError and, out of Rust, a PanicException that is no
        # Exception.
        raise DenseError(f"Chroma: {type(error).__name__}: {error}") from error
