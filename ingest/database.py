"""The SQLite file under the record: opening and migrating it, one writer at a time, a few reading connections.

Knows of no table but `meta` more than that it counts ids; what is stored is the business of library.py and record.py.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingest.damage import damage_of, set_aside
from ingest.errors import DiskFullError, LibraryError
from ingest.text_digest import digest_of

log = logging.getLogger(__name__)

ROOM = Path(__file__).parent
SCHEMA_VERSION = 2  # migrations/N.sql makes version N of version N - 1
READER_CACHE_KIB = 512  # of each; the system's own cache holds the file once for all of them
MAX_IDLE_READERS = 8  # kept open for the next reader; more threads than that only pay for opening one
BUSY_TIMEOUT_S = 10.0  # a backup tool may hold the file for a moment

# FULL, not NORMAL: in WAL mode NORMAL may lose the last commits in a power cut. The record would survive
# that, since the folder is the truth, but its counters would go back too, and ids that Chroma still holds
# would be given to other texts. One commit a document costs one fsync, which nobody notices beside embedding.
PRAGMAS = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA temp_store = MEMORY;
"""


class Database:
    """One SQLite file in WAL mode.

    Readers borrow a connection from a small pool, from any thread, and never wait for the writer. A file that is found
    damaged is set aside, and an empty one begins.

    Raises:
        LibraryError: the file cannot be opened, or was written by a newer version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._write_lock = threading.Lock()
        self._pool_lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        first_id = 0
        with self._mapped():
            path.parent.mkdir(parents=True, exist_ok=True)
            if damage := damage_of(path):
                set_aside(path, damage, "every document is read again")
                # Conversations know documents and chunks by ids that must never mean others: begin far beyond them.
                first_id = int(time.time()) * 1000
            self._writer = self._connect()
        try:
            with self._mapped():
                self._prepare(first_id)
        except BaseException:
            self._writer.close()
            raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for reading; every statement sees what was committed before it."""
        connection = self._borrow()
        try:
            with self._mapped():
                yield connection
        finally:
            self._give_back(connection)

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection whose statements all see the same moment; be short, the WAL grows meanwhile."""
        with self.read() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def write(self, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Lend the writing connection for one transaction: committed at the end, or nothing at all.

        Args:
            durable: survives a power cut from the moment it is committed; else from the next durable one on.
        Raises:
            DiskFullError: no room; nothing was changed.
            LibraryError: any other failure; nothing was changed.
        """
        with self._write_lock, self._mapped():
            self._writer.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:  # SQLite itself rolls back when the disk is full
                    self._writer.execute("ROLLBACK")
                raise

    def meta(self, key: str) -> str | None:
        """Return one value of the meta table."""
        with self.read() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else None

    def set_meta(self, key: str, value: str) -> None:
        """Keep one value in the meta table."""
        with self.write() as connection:
            connection.execute(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (key, value),
            )

    def close(self) -> None:
        """Close every connection; those on loan are closed when they come back."""
        with self._pool_lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        with self._write_lock:
            self._writer.close()

    def _connect(self) -> sqlite3.Connection:
        # isolation_level None: we write BEGIN and COMMIT ourselves. A connection serves one thread at a time
        # (the pool sees to it), so sqlite3's own check, which ties it to one thread for ever, is off.
        connection = sqlite3.connect(
            self.path, isolation_level=None, check_same_thread=False, timeout=BUSY_TIMEOUT_S
        )
        connection.row_factory = sqlite3.Row
        try:
            connection.executescript(PRAGMAS)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, first_id: int) -> None:
        if not self._writer.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            schema = (ROOM / "schema.sql").read_text(encoding="utf-8")
            self._writer.executescript(
                f"BEGIN IMMEDIATE; {schema}"
                f"INSERT INTO meta VALUES ('schema_version', '{SCHEMA_VERSION}');"
                f"INSERT INTO meta VALUES ('record_id', '{uuid.uuid4().hex}');"
                f"INSERT INTO sqlite_sequence VALUES ('documents', {first_id}), ('chunks', {first_id});"
                "COMMIT;"
            )
        found = int(self._writer.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()[0])
        if found > SCHEMA_VERSION:
            raise LibraryError(
                f"{self.path}: written by a newer appliance (record version {found}, this one knows "
                f"{SCHEMA_VERSION}): install that again, or move the file away to have the folder read anew"
            )
        for version in range(found + 1, SCHEMA_VERSION + 1):
            self._migrate(version)

    def _migrate(self, version: int) -> None:
        log.info("%s: the record becomes version %d", self.path, version)
        steps = (ROOM / "migrations" / f"{version}.sql").read_text(encoding="utf-8")
        self._writer.create_function("digest_of", 1, digest_of, deterministic=True)
        self._writer.executescript(
            f"BEGIN IMMEDIATE; {steps} UPDATE meta SET value = '{version}' WHERE key = 'schema_version'; COMMIT;"
        )

    def _borrow(self) -> sqlite3.Connection:
        with self._pool_lock:
            if self._closed:
                raise LibraryError(f"{self.path}: the record is closed")
            if self._idle:
                return self._idle.pop()
        with self._mapped():
            connection = self._connect()
            connection.execute("PRAGMA query_only = ON")
            connection.execute(f"PRAGMA cache_size = -{READER_CACHE_KIB}")
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._pool_lock:
            if not self._closed and len(self._idle) < MAX_IDLE_READERS:
                self._idle.append(connection)
                return
        connection.close()

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise self._explained(error) from error

    def _explained(self, error: sqlite3.Error | OSError) -> LibraryError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind, the rest its details
        if code == sqlite3.SQLITE_FULL:
            return DiskFullError(f"{self.path}: the disk is full; make room, ingest goes on by itself")
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return LibraryError(
                f"{self.path}: the record is damaged ({error}): stop the appliance, move {self.path.name}* away and "
                "start it: every document is then read again from the folder"
            )
        if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM) or isinstance(
            error, OSError
        ):
            return LibraryError(
                f"{self.path}: cannot be used ({error}): check that the folder exists and is writable"
            )
        if code == sqlite3.SQLITE_IOERR:  # EIO, but EDQUOT too: SQLite calls only ENOSPC a full disk
            return LibraryError(
                f"{self.path}: cannot be read or written ({error}): a quota may be used up, or the disk is failing; "
                "ingest goes on by itself once it can"
            )
        return LibraryError(f"{self.path}: {error}")
