"""Rich text's runs put together: to paragraphs and cells, cells to rows, rows to tables, all to units."""

from __future__ import annotations

import re

from ingest.formats.headings import Headings
from ingest.formats.rtf_words import ASIDES
from ingest.formats.table import looks_like_header, row_text
from ingest.formats.tidy import lines_kept, one_line
from ingest.locator import Locator
from ingest.unit import HIDDEN, Unit, UnitKind

SURROGATES = re.compile("[\ud800-\udfff]")

Runs = list[tuple[str, bool]]  # of one paragraph: (text, whether it is hidden)


class Units:
    """The units of one document, as its paragraphs and cells end."""

    def __init__(self) -> None:
        self.runs: Runs = []
        self.is_item = False
        self._units: list[Unit] = []
        self._headings = Headings()
        self._cells: list[str] = []
        self._rows: list[tuple[list[str], bool]] = []  # (cells, whether any of it is hidden)
        self._row_hidden = False
        self._asides: list[tuple[str, Runs]] = []  # of the paragraph or row being read
        self._table_asides: list[tuple[str, Runs]] = []
        self._page_headers: set[str] = set()

    def add_aside(self, word: str, runs: Runs) -> None:
        """Keep a note until the paragraph or row around it ends."""
        self._asides.append((word, runs))

    def end_paragraph(self, level: int) -> None:
        """End a paragraph outside tables."""
        self.end_row()
        runs, self.runs = self.runs, []
        if one_line(_joined(runs)):
            self._end_table()
        shown = lines_kept(_joined([run for run in runs if not run[1]]))
        if level and shown:
            self._headings.enter(level, one_line(shown))
            self._add(one_line(shown), UnitKind.HEADING)
        else:
            self._add(shown, UnitKind.LIST_ITEM if self.is_item else UnitKind.PARAGRAPH)
        self._add(lines_kept(_joined([run for run in runs if run[1]])), UnitKind.PARAGRAPH, hidden=True)
        self.is_item = False
        self._end_asides(self._asides)

    def end_cell(self) -> None:
        """End a cell."""
        self._row_hidden |= any(hidden and text.strip() for text, hidden in self.runs)
        self._cells.append(one_line(_joined(self.runs)))
        self.runs, self.is_item = [], False

    def end_row(self) -> None:
        """End a row, if one is open."""
        if any(self._cells):
            self._rows.append((self._cells, self._row_hidden))
            self._table_asides += self._asides
            self._asides.clear()
        self._cells, self._row_hidden = [], False

    def finish(self) -> list[Unit]:
        """Return all units."""
        self._end_table()
        return self._units

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        cells = [row for row, _ in rows]
        header = row_text(cells[0]) if len(rows) > 1 and looks_like_header(cells[0], cells[1:]) else ""
        for number, (row, hidden) in enumerate(rows[1:] if header else rows, 1):
            locator = Locator(heading=self._headings.path, rows=(number, number))
            flags = frozenset({HIDDEN}) if hidden else frozenset()
            self._units.append(Unit(row_text(row), locator, UnitKind.TABLE_ROW, header, flags))
        self._end_asides(self._table_asides)

    def _end_asides(self, asides: list[tuple[str, Runs]]) -> None:
        for word, runs in asides:
            text = lines_kept(_joined(runs))
            if word.startswith(("header", "footer")):
                if text in self._page_headers:
                    continue
                self._page_headers.add(text)
            hidden = all(is_hidden for part, is_hidden in runs if part.strip())
            self._add(ASIDES[word] + text if text else "", UnitKind.PARAGRAPH, hidden)
        asides.clear()

    def _add(self, text: str, kind: UnitKind, hidden: bool = False) -> None:
        if text:
            flags = frozenset({HIDDEN}) if hidden else frozenset()
            self._units.append(Unit(text, Locator(heading=self._headings.path), kind, flags=flags))


def _joined(runs: Runs) -> str:
    text = "".join(text for text, _ in runs)
    if SURROGATES.search(text):  # a character beyond U+FFFF is written as two
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
