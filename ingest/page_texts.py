"""Pages that took long to read (OCR), kept until their document is finished: a stop resumes at the next page."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ingest.database import Database
from ingest.unit import Unit, unit_from_json, unit_to_json


class PageTexts:
    """The pages of unfinished documents, by the bytes they were read from.

    Args:
        reader_version: pages that another version read are not found.
    """

    def __init__(self, database: Database, reader_version: int) -> None:
        self._database = database
        self._reader_version = reader_version

    def page_text(self, sha256: str, part: str, page: int) -> tuple[Unit, ...] | None:
        """Return a page's units, or None when it has to be read.

        Args:
            sha256: of the outer file.
            part: key of the file inside it; empty for the file itself.
        """
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT units FROM page_texts WHERE sha256 = ? AND part = ? AND page = ? AND reader_version = ?",
                (sha256, part, page, self._reader_version),
            ).fetchone()
        return tuple(unit_from_json(data) for data in json.loads(row["units"])) if row else None

    def keep_page_text(self, sha256: str, part: str, page: int, units: Sequence[Unit]) -> None:
        """Keep a page that was read."""
        # json.dumps escapes lone surrogates, which SQLite cannot hold.
        text = json.dumps([unit_to_json(unit) for unit in units])
        with self._database.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO page_texts VALUES (?, ?, ?, ?, ?)",
                (sha256, part, page, self._reader_version, text),
            )

    def drop_page_texts(self, sha256: str) -> None:
        """Forget the pages of a file."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM page_texts WHERE sha256 = ?", (sha256,))
