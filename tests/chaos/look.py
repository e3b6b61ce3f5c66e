"""A look into the files of a state: `python -m tests.chaos.look record|index STATE [DEAD WORD…]`, JSON to stdout.

A process of its own: it runs where the state is mounted, which we are not.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

MIN_COSINE = 0.999  # a vector stored as float16, and as Chroma holds it
N_NEAREST = 64


def main() -> None:
    """Look as the command line says."""
    what, state, dead = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    wrong, n_vectors = record(state, dead) if what == "record" else (index(state), 0)
    print(json.dumps({"wrong": wrong, "n_vectors": n_vectors}))


def record(state: Path, dead: Sequence[str]) -> tuple[list[str], int]:
    """Look into the record; return what is wrong in it, and the number of vectors.

    Args:
        dead: words that should not stand in it.
    """
    with closing(sqlite3.connect(state / "library.db", timeout=30, isolation_level=None)) as database:

        def count(query: str) -> int:
            return int(database.execute(f"SELECT count(*) FROM {query}").fetchone()[0])

        wrong = [
            f"{count(query)} {what}"
            for what, query in (
                ("chunks without a vector", "chunks WHERE id NOT IN (SELECT chunk_id FROM vectors)"),
                ("vectors without a chunk", "vectors WHERE chunk_id NOT IN (SELECT id FROM chunks)"),
                ("chunks without a document", "chunks WHERE document_id NOT IN (SELECT id FROM documents)"),
                ("pages of unfinished work", "page_texts"),
                ("documents with a wrong number of chunks", "documents d WHERE n_chunks <> "
                 "(SELECT count(*) FROM chunks c WHERE c.document_id = d.id)"),
            )
            if count(query)
        ]  # fmt: skip
        said = database.execute("PRAGMA integrity_check").fetchone()[0]
        wrong += [f"the record is damaged: {said}"] * (said != "ok")
        try:
            database.execute("INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError as error:
            wrong.append(f"the words are not those of the chunks: {error}")
        for word in dead:
            if database.execute("SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ?", (word,)).fetchone():
                wrong.append(f"{word} is still in the record")
        return wrong, count("vectors")


def index(state: Path) -> list[str]:
    """Open the index of a stopped daemon and compare it with the record, vector by vector."""
    from ingest.dense import Dense
    from ingest.library import Library
    from ingest.vector_log import VectorLog

    library = Library(state / "library.db")
    with closing(library), library.database.read() as connection:
        fingerprint, n_dims = connection.execute("SELECT fingerprint, n_dims FROM embedders").fetchone()
        with closing(Dense(state / "chroma", library, fingerprint, n_dims)) as dense:
            if not dense.wait(120):
                return [f"the index does not open: {dense.reason}"]
            stored = VectorLog(library.database, fingerprint)
            ids, vectors = stored.vectors_of(stored.ids())
            wrong = []
            for id, vector in zip(ids, vectors, strict=True):
                scores = dict(dense.query(vector, N_NEAREST))
                best = max(scores.values(), default=0.0)
                if scores.get(id, best) < MIN_COSINE or best < MIN_COSINE:
                    wrong.append(f"chunk {id} is not where its vector is: {scores.get(id)}, best {best}")
            return wrong


if __name__ == "__main__":
    main()
