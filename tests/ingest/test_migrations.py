"""A record that an older version wrote is brought up to date as it is opened, whole or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ingest.access import Viewer
from ingest.database import SCHEMA_VERSION, Database
from ingest.errors import LibraryError
from ingest.library import Library
from ingest.text_digest import digest_of

ROOT = Viewer(0, frozenset())
SCHEMA_1 = Path(__file__).with_name("schema_1.sql")  # as version 1 shipped it; never edited


def old_record(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA_1.read_text())
    connection.executescript(
        """
        INSERT INTO meta VALUES ('schema_version', '1'), ('record_id', 'abc');
        INSERT INTO embedders VALUES (1, 'hash-64', 64);
        INSERT INTO documents (id, path, folder, size, mtime_ns, inode, uid, gid, mode, sha256, state, n_chunks,
          added_s, updated_s, queued_s) VALUES (7, CAST('a.txt' AS BLOB), x'', 1, 2, 3, 4, 5, 420, 'aa',
          'ready', 1, 0, 0, 0);
        INSERT INTO chunks (id, document_id, ordinal, text, heading, locator, n_tokens, digest)
          VALUES (9, 7, 0, 'The red pump', '', '{}', 3, x'00');
        INSERT INTO vectors VALUES (9, 1, zeroblob(128));
        """
    )
    connection.close()


def shape(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return the columns of each table and index."""
    with sqlite3.connect(path) as connection:
        names = [
            row[0]
            for row in connection.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
        ]
        found = {
            name: connection.execute("SELECT * FROM pragma_table_xinfo(?)", (name,)).fetchall()
            for name in names
        }
    connection.close()
    return found


def test_a_record_of_version_1_keeps_all_it_holds(tmp_path: Path) -> None:
    old_record(tmp_path / "library.db")
    library = Library(tmp_path / "library.db")
    try:
        [document] = library.documents(ROOT)
        assert (document.id, document.path, document.notes) == (7, "a.txt", ())
        assert [id for id, _ in library.lexical("pump", 5, ROOT)] == [9]
        with library.database.read() as connection:
            digest = connection.execute("SELECT text_digest FROM chunks").fetchone()[0]
        assert digest == digest_of("The red pump")
        assert library.database.meta("record_id") == "abc"
        assert library.database.meta("schema_version") == str(SCHEMA_VERSION)
    finally:
        library.close()
    Library(tmp_path / "library.db").close()


def test_a_migrated_record_has_the_shape_of_a_new_one(tmp_path: Path) -> None:
    old_record(tmp_path / "old.db")
    Database(tmp_path / "old.db").close()
    Database(tmp_path / "new.db").close()
    assert shape(tmp_path / "old.db") == shape(tmp_path / "new.db")


def test_a_migration_that_fails_leaves_the_old_record_as_it_was(tmp_path: Path) -> None:
    old_record(tmp_path / "library.db")
    connection = sqlite3.connect(tmp_path / "library.db")
    connection.execute("CREATE TABLE page_texts (in_the_way)")
    connection.close()
    before = shape(tmp_path / "library.db")
    with pytest.raises(LibraryError, match="page_texts already exists"):
        Database(tmp_path / "library.db")
    assert shape(tmp_path / "library.db") == before
