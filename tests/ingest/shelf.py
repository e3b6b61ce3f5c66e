"""A folder with its record, and sweeps of it, without parser, embedder or threads."""

from __future__ import annotations

import time
from pathlib import Path

from ingest.database import Database
from ingest.folder import sha256_of
from ingest.record import Record
from ingest.sweeper import Sweeper, Swept

SETTLE_S = 0.02


class Shelf:
    """A folder and its record; files are taken in without being read."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "documents"
        self.folder.mkdir()
        self._database = Database(home / "library.db")
        self.record = Record(self._database, "embedder", 4, 1)
        self.restart()

    def restart(self) -> None:
        self.sweeper = Sweeper(self.record, self.folder, SETTLE_S)

    def close(self) -> None:
        self._database.close()

    def put(self, *paths: str) -> None:
        for path in paths:
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"the words of {path}")

    def take_in(self) -> dict[str, int]:
        """Sweep, finish every document, and return their ids by path."""
        self.sweeper.sweep()
        self.finish()
        return self.ids()

    def finish(self) -> None:
        """Do for all documents what a reading of each does, in one commit."""
        read = [(sha256_of(self.folder / path), id) for id, path in self.record.waiting()]
        with self._database.write() as connection:
            connection.executemany("UPDATE documents SET state = 'ready', sha256 = ? WHERE id = ?", read)

    def settle(self) -> Swept:
        """Sweep until nothing is left to be looked at again; return the sum."""
        n_queued = n_removed = 0
        for _ in range(10):
            swept = self.sweeper.sweep()
            n_queued, n_removed = n_queued + swept.n_queued, n_removed + swept.n_removed
            if swept.again_s is None:
                return Swept(n_queued, n_removed)
            time.sleep(swept.again_s)
        raise AssertionError("it never settles")

    def ids(self) -> dict[str, int]:
        return {path: entry.id for path, entry in self.record.entries().items()}


def many(folder: str, n: int) -> list[str]:
    return [f"{folder}/{i}.txt" for i in range(n)]
