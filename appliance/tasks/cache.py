"""tasks.db: what the model wrote in each step of a task, so that a task which was stopped goes on where it was.

Only a cache: whatever is wrong with it (a full disk, a damaged file) costs work that is done again, and no answer. A
key holds the whole prompt: who cannot read the text cannot ask for what was made of it.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

from ingest.damage import damage_of, set_aside

log = logging.getLogger(__name__)

MAX_BYTES = 64 * 2**20  # of texts: some 100,000 steps
_PRUNED_TO = 0.9  # of it, so that not every step prunes
_SCHEMA = """
PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA auto_vacuum = FULL;
CREATE TABLE IF NOT EXISTS steps (
    key BLOB PRIMARY KEY, version TEXT NOT NULL, text TEXT NOT NULL, digest BLOB NOT NULL, used REAL NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS steps_by_use ON steps (used);
"""


class StepCache:
    """Texts by key. Thread-safe; no method raises because of the file."""

    def __init__(
        self, path: Path, max_bytes: int = MAX_BYTES, clock: Callable[[], float] = time.time
    ) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._n_bytes = 0
        try:
            self._open()
        except (sqlite3.Error, OSError) as error:
            self._lost(error)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def get(self, key: bytes) -> str | None:
        """Return the text that was kept under a key, if it is still whole."""
        with self._lock:
            if self._db is None:
                return None
            try:
                row = self._db.execute("SELECT text, digest FROM steps WHERE key = ?", (key,)).fetchone()
                if row is None or row[1] != _digest(row[0]):
                    return None
                self._db.execute("UPDATE steps SET used = ? WHERE key = ?", (self._clock(), key))
            except sqlite3.Error as error:  # not even readable, or no room to say that it was used
                self._lost(error)
                return None
            return str(row[0])

    def put(self, key: bytes, version: str, text: str) -> None:
        """Keep a text; the least recently used go where there are too many.

        Args:
            version: SHA-256 of the document it was made of; see `keep_only`.
        """
        with self._lock:
            if self._db is None:
                return
            try:
                self._db.execute(
                    "INSERT OR REPLACE INTO steps VALUES (?, ?, ?, ?, ?)",
                    (key, version, text, _digest(text), self._clock()),
                )
                self._n_bytes += len(text.encode())
                if self._n_bytes > self._max_bytes:
                    self._prune()
            except sqlite3.Error as error:
                self._lost(error)

    def keep_only(self, versions: Iterable[str]) -> None:
        """Forget what was made of documents that are none of these."""
        with self._lock:
            if self._db is None:
                return
            try:
                kept = set(versions)
                known = [row[0] for row in self._db.execute("SELECT DISTINCT version FROM steps")]
                gone = [(version,) for version in known if version not in kept]
                self._db.executemany("DELETE FROM steps WHERE version = ?", gone)
                self._n_bytes = self._measured(self._db)
            except sqlite3.Error as error:
                self._lost(error)

    def _open(self) -> None:
        if damage := damage_of(self._path):
            set_aside(self._path, damage, "tasks that were stopped begin anew")
        self._db = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
        self._db.executescript(_SCHEMA)
        self._n_bytes = self._measured(self._db)

    def _measured(self, db: sqlite3.Connection) -> int:
        return int(db.execute("SELECT coalesce(sum(length(CAST(text AS BLOB))), 0) FROM steps").fetchone()[0])

    def _prune(self) -> None:
        assert self._db is not None
        self._n_bytes = self._measured(self._db)
        self._db.execute(
            "DELETE FROM steps WHERE key IN (SELECT key FROM (SELECT key, sum(length(CAST(text AS BLOB))) "
            "OVER (ORDER BY used DESC, key) AS total FROM steps) WHERE total > ?)",
            (int(self._max_bytes * _PRUNED_TO),),
        )
        self._n_bytes = self._measured(self._db)

    def _lost(self, error: Exception) -> None:
        log.warning("%s: steps of tasks are not kept: %s", self._path, error)


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
