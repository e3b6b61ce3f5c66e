"""The record, as those who ask see it: documents, chunks, lexical search; each viewer sees what he may read.

Writes nothing: record.py does, on the same database.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ingest.access import Viewer
from ingest.database import Database
from ingest.errors import LibraryError
from ingest.filter import EVERYTHING, Filter, Scope, check_documents, check_formats, conditions, folders_of
from ingest.stored import (
    CHUNK_COLUMNS,
    CLOSED,
    DOCUMENT_COLUMNS,
    VISIBLE,
    StoredChunk,
    StoredDocument,
    to_chunk,
    to_document,
    viewer_parameters,
)

# A word in a title or heading counts for every chunk below it, so for less than one in the text itself.
HEADING_WEIGHT = 0.4


def fts_term(word: str) -> str:
    """Return a word as FTS5 takes it, nothing in it syntax, but for a * at its end: all words that begin so."""
    plain = word.removesuffix("*").replace('"', '""')
    return f'"{plain}"*' if word.endswith("*") else f'"{plain}"'


class Library:
    """The record in `library.db`; readers may be on any thread.

    Raises:
        LibraryError: the file cannot be opened, is damaged, or was written by a newer version.
    """

    def __init__(self, path: Path) -> None:
        self.database = Database(path)

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def documents(self, viewer: Viewer) -> list[StoredDocument]:
        """Return the documents that the viewer may read, by path."""
        return [to_document(row) for row in self._documents(viewer, "1 ORDER BY d.path", {})]

    def document(self, id: int, viewer: Viewer) -> StoredDocument | None:
        """Return one document, or None where there is none or the viewer may not read it."""
        rows = self._documents(viewer, "d.id = :id", {"id": id})
        return to_document(rows[0]) if rows else None

    def sees(self, path: str, viewer: Viewer) -> bool:
        """Tell whether the viewer may read the document of a path."""
        return bool(self._documents(viewer, "d.path = :path", {"path": os.fsencode(path)}))

    def chunks(self, ids: Sequence[int], viewer: Viewer) -> dict[int, StoredChunk]:
        """Return those of the chunks that still exist and that the viewer may read."""
        found = self._chunks(
            viewer, "c.id IN (SELECT value FROM json_each(:ids))", {"ids": json.dumps([*map(int, ids)])}
        )
        return {chunk.id: chunk for chunk in found}

    def text_of(self, document_id: int, viewer: Viewer) -> list[StoredChunk]:
        """Return every chunk of a document, in its order; none where the viewer may not read it."""
        return self._chunks(viewer, "c.document_id = :id ORDER BY c.ordinal", {"id": document_id})

    def around(self, chunk_id: int, n_blocks: int, viewer: Viewer) -> list[StoredChunk]:
        """Return the chunk and up to `n_blocks` before and after it, in the document's order."""
        return self._chunks(
            viewer,
            "(c.document_id, c.ordinal) IN (SELECT o.document_id, n.ordinal FROM chunks o JOIN chunks n "
            "ON n.document_id = o.document_id AND abs(n.ordinal - o.ordinal) <= :n_blocks WHERE o.id = :id) "
            "ORDER BY c.ordinal",
            {"id": chunk_id, "n_blocks": n_blocks},
        )

    def same_text(self, chunk_ids: Sequence[int], viewer: Viewer) -> dict[int, list[str]]:
        """Return for each chunk the paths of other documents, of those the viewer may read, that hold the same text."""
        found: dict[int, list[str]] = defaultdict(list)
        with self.database.read() as connection:
            rows = connection.execute(
                f"{CLOSED} SELECT DISTINCT o.id, d.path FROM chunks o JOIN chunks c ON c.text_digest = o.text_digest "
                "AND c.document_id <> o.document_id JOIN documents d ON d.id = c.document_id "
                f"WHERE o.id IN (SELECT value FROM json_each(:ids)) AND {VISIBLE} ORDER BY d.path",
                {**viewer_parameters(viewer), "ids": json.dumps([*map(int, chunk_ids)])},
            ).fetchall()
        for chunk_id, path in rows:
            found[chunk_id].append(os.fsdecode(path))
        return found

    def beside(self, chunk_ids: Sequence[int], viewer: Viewer) -> dict[tuple[int, int], StoredChunk]:
        """Return the chunks just before and after each of these, by (document id, ordinal)."""
        found = self._chunks(
            viewer,
            "(c.document_id, c.ordinal) IN (SELECT o.document_id, o.ordinal + step.value "
            "FROM chunks o, json_each('[-1, 1]') step WHERE o.id IN (SELECT value FROM json_each(:ids)))",
            {"ids": json.dumps([*map(int, chunk_ids)])},
        )
        return {(chunk.document.id, chunk.ordinal): chunk for chunk in found}

    def scope(self, only: Filter, viewer: Viewer) -> Scope | None:
        """Return what a filter lets in, of what the viewer may read; None where it lets in everything.

        Raises:
            NotInLibraryError: it names a collection, document or type that none of the viewer's documents has.
        """
        if only == EVERYTHING:
            return None
        folders: list[bytes] = []
        if only.collections:
            folders = folders_of(only.collections, self._distinct("d.folder", viewer))
        if only.documents:
            check_documents(only.documents, self._known(only.documents, viewer))
        if only.formats:
            check_formats(only.formats, self._distinct("d.format", viewer))
        where, values = conditions(only, folders)
        found = self._documents(viewer, where, values, "d.id, d.n_chunks")
        return Scope(frozenset(row["id"] for row in found), sum(row["n_chunks"] for row in found))

    def lexical(
        self, match: str, n: int, viewer: Viewer, scope: Scope | None = None
    ) -> list[tuple[int, float]]:
        """Search the words.

        Args:
            match: an FTS5 query; columns are `text` and `heading` (title and headings, of less weight).
            scope: documents to search; None: all.
        Returns:
            (chunk id, score), best first; score = -bm25, higher is better.
        Raises:
            LibraryError: `match` is no FTS5 query.
        """
        # The plus keeps SQLite from asking the index once a document.
        inside = "AND +d.id IN (SELECT value FROM json_each(:documents))" if scope else ""
        values = {
            "match": match, "n": n, "weight": HEADING_WEIGHT, "depth": -1 if scope else 2 * n,
            "documents": json.dumps(sorted(scope.documents)) if scope else "", **viewer_parameters(viewer),
        }  # fmt: skip
        # Ranked first, and looked up then: half the time. Few visible ones among the best are looked for deeper.
        query = (
            f"{CLOSED}, best AS MATERIALIZED (SELECT rowid AS id, -bm25(chunks_fts, 1.0, :weight) AS score "
            "FROM chunks_fts WHERE chunks_fts MATCH :match ORDER BY score DESC, rowid LIMIT :depth) "
            "SELECT b.id, b.score, (SELECT count(*) FROM best) AS n_best FROM best b JOIN chunks c ON c.id = b.id "
            f"JOIN documents d ON d.id = c.document_id WHERE {VISIBLE} {inside} ORDER BY b.score DESC, b.id LIMIT :n"
        )
        with self.database.read() as connection:
            rows = connection.execute(query, values).fetchall()
            if len(rows) < n and not scope and (not rows or rows[0]["n_best"] == 2 * n):
                rows = connection.execute(query, values | {"depth": -1}).fetchall()
        return [(row[0], row[1]) for row in rows]

    def lexical_among(
        self, match: str, n: int, documents: Collection[int], viewer: Viewer
    ) -> list[tuple[int, float]]:
        """Search the words of a few documents, faster than a scope does; see `lexical`."""
        found: list[tuple[int, float]] = []
        with self.database.read() as connection:
            for document in documents:
                rows = connection.execute(
                    f"{CLOSED} SELECT f.rowid, -bm25(chunks_fts, 1.0, :weight) AS score FROM chunks_fts f "
                    "JOIN chunks c ON c.id = f.rowid JOIN documents d ON d.id = c.document_id "
                    "WHERE chunks_fts MATCH :match AND f.rowid BETWEEN "
                    "(SELECT min(id) FROM chunks WHERE document_id = :document) AND "
                    "(SELECT max(id) FROM chunks WHERE document_id = :document) "
                    f"AND d.id = :document AND {VISIBLE} ORDER BY score DESC, f.rowid LIMIT :n",
                    {
                        "match": match, "n": n, "weight": HEADING_WEIGHT, "document": document,
                        **viewer_parameters(viewer),
                    },
                ).fetchall()  # fmt: skip
                found += [(row[0], row[1]) for row in rows]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:n]

    def containing(
        self, pieces: Mapping[str, float], n: int, viewer: Viewer, scope: Scope | None = None
    ) -> list[tuple[int, float]]:
        """Search for pieces of text wherever they stand, by reading every chunk: for scripts without spaces.

        Args:
            pieces: piece → weight.
        Returns:
            (chunk id, sum of the weights of the pieces it holds), best first.
        """
        inside = "AND d.id IN (SELECT value FROM json_each(:documents))" if scope else ""
        query = (
            f"{CLOSED} SELECT c.id, (SELECT sum(p.value) FROM json_each(:pieces) p WHERE instr(c.text, p.key)) score "
            f"FROM chunks c JOIN documents d ON d.id = c.document_id WHERE {VISIBLE} {inside} AND score > 0 "
            "ORDER BY score DESC, c.id LIMIT :n"
        )
        values = {
            "pieces": json.dumps(pieces), "n": n, "documents": json.dumps(sorted(scope.documents)) if scope else "",
            **viewer_parameters(viewer),
        }  # fmt: skip
        with self.database.read() as connection:
            return [(row[0], row[1]) for row in connection.execute(query, values)]

    def n_containing(self, pieces: Sequence[str]) -> dict[str, int]:
        """Return for each piece of text the number of chunks that hold it, by reading every chunk."""
        query = "SELECT p.value, count(*) FROM chunks c JOIN json_each(:pieces) p ON instr(c.text, p.value) GROUP BY 1"
        with self.database.read() as connection:
            found = dict(map(tuple, connection.execute(query, {"pieces": json.dumps(pieces)})))
        return {piece: found.get(piece, 0) for piece in pieces}

    def names(self) -> list[tuple[int, str, str, int]]:
        """Return (id, path, title, number of chunks) of every document that has any, whoever may read it."""
        with self.database.read() as connection:
            query = "SELECT id, path, title, n_chunks FROM documents WHERE n_chunks > 0"
            return [(id, os.fsdecode(path), title, n) for id, path, title, n in connection.execute(query)]

    def names_stamp(self) -> tuple[float, ...]:
        """Return what changes whenever `names` does."""
        with self.database.read() as connection:
            query = "SELECT count(*), coalesce(max(updated_s), 0), coalesce(sum(n_chunks), 0) FROM documents"
            return tuple(connection.execute(query).fetchone())

    def versions(self) -> set[str]:
        """Return the SHA-256 of every document's version, whoever may read it."""
        with self.database.read() as connection:
            return {row[0] for row in connection.execute("SELECT DISTINCT sha256 FROM documents")} - {""}

    def last_read(self) -> list[tuple[int, str, str]]:
        """Return (id, path, SHA-256) of every document with text, the one read last first, whoever may read it."""
        with self.database.read() as connection:
            query = (
                "SELECT id, path, sha256 FROM documents WHERE state = 'ready' AND n_chunks > 0 "
                "ORDER BY updated_s DESC, id DESC"
            )
            return [(id, os.fsdecode(path), sha256) for id, path, sha256 in connection.execute(query)]

    def document_frequency(self, terms: Sequence[str]) -> dict[str, int]:
        """Return for each term the number of chunks whose text holds it, in any form that stems alike."""
        with self.database.read() as connection:
            return {term: _count_holding(connection, term) for term in terms}

    def n_chunks(self) -> int:
        """Return the number of chunks of all documents."""
        with self.database.read() as connection:
            return int(connection.execute("SELECT coalesce(sum(n_chunks), 0) FROM documents").fetchone()[0])

    def counts(self) -> dict[str, int]:
        """Return the number of documents in each state that occurs."""
        with self.database.read() as connection:
            return dict(
                map(tuple, connection.execute("SELECT state, count(*) FROM documents GROUP BY state"))
            )

    def _documents(
        self, viewer: Viewer, where: str, values: Mapping[str, object], columns: str = DOCUMENT_COLUMNS
    ) -> list[sqlite3.Row]:
        with self.database.read() as connection:
            return connection.execute(
                f"{CLOSED} SELECT {columns} FROM documents d WHERE {VISIBLE} AND {where}",
                {**viewer_parameters(viewer), **values},
            ).fetchall()

    def _known(self, ids: Sequence[int], viewer: Viewer) -> set[int]:
        where = "d.id IN (SELECT value FROM json_each(:ids))"
        return {row["id"] for row in self._documents(viewer, where, {"ids": json.dumps(ids)}, "d.id")}

    def _distinct(self, column: str, viewer: Viewer) -> set[Any]:
        """What occurs in a column, among the documents that the viewer may read."""
        return {row[0] for row in self._documents(viewer, "1", {}, f"DISTINCT {column}")}

    def _chunks(self, viewer: Viewer, where: str, values: dict[str, object]) -> list[StoredChunk]:
        with self.database.read() as connection:
            rows = connection.execute(
                f"{CLOSED} SELECT {DOCUMENT_COLUMNS}, {CHUNK_COLUMNS} FROM chunks c "
                f"JOIN documents d ON d.id = c.document_id WHERE {VISIBLE} AND {where}",
                {**viewer_parameters(viewer), **values},
            ).fetchall()
        return [to_chunk(row) for row in rows]


def _count_holding(connection: sqlite3.Connection, term: str) -> int:
    # Counted by a search, since only FTS5 itself knows how its tokenizer stems the term.
    try:
        query = "SELECT count(*) FROM chunks_fts WHERE chunks_fts MATCH ?"
        return int(connection.execute(query, (f"text : {fts_term(term)}",)).fetchone()[0])
    except sqlite3.OperationalError as error:
        raise LibraryError(f"{term!r} cannot be looked up: {error}") from error
