"""The reading of a workbook, sheet after sheet, within bounds; staff are told what is not read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ingest.formats.reading import Reading, too_large
from ingest.formats.sheet import Row, Sheet
from ingest.formats.sheet_rows import sheet_units
from ingest.unit import Part, Unit

MAX_ROWS = 20_000  # of a sheet
# Characters of a workbook, `ROW_COST` for each unit included: written as JSON they stay below the parser's 64 MB.
MAX_TEXT = 8_000_000
ROW_COST = 100
MAX_CELLS = 2_000_000  # of a sheet; 200 MB while they are held


class Book:
    """What has been read of a workbook so far. Sheets come one after the other: `begin`, `take` each row, `finish`."""

    def __init__(self) -> None:
        self._units: list[Unit] = []
        self._notes: list[str] = []
        self._n_left = MAX_TEXT
        self._sheet = Sheet("")
        self._rows: list[Row] = []
        self._n_raw = self._n_cells = 0
        self._is_cut = False

    @property
    def is_full(self) -> bool:
        """No further sheet is read."""
        return self._n_left <= 0

    def add(self, sheet: Sheet, rows: Iterable[Row]) -> None:
        """Read a sheet at once."""
        self.begin(sheet)
        for row in rows:
            if not self.take(row):
                break
        self.finish()

    def begin(self, sheet: Sheet) -> None:
        """Start a sheet; what it knows of itself may still come while its rows do."""
        self._sheet, self._rows = sheet, []
        self._n_raw = self._n_cells = 0
        self._is_cut = False

    def take(self, row: Row) -> bool:
        """Keep a row; False when no further row of this sheet is read."""
        # Before anything is joined: one long text may stand in every cell.
        self._n_raw += sum(map(len, row.cells.values())) + ROW_COST
        self._n_cells += len(row.cells)
        full = self._n_raw > self._n_left or self._n_cells > MAX_CELLS or len(self._rows) == MAX_ROWS
        if full:
            self._is_cut = True
            return False
        self._rows.append(row)
        return True

    def finish(self) -> None:
        """Turn the rows into units, add what stands beside them, and note what staff should know."""
        sheet = self._sheet
        if sheet.hidden and (self._rows or sheet.asides):
            self._notes.append(f"sheet {sheet.name} is hidden")
        elif any(row.hidden or not sheet.hidden_columns.isdisjoint(row.cells) for row in self._rows):
            self._notes.append(f"sheet {sheet.name} has hidden rows or columns")
        if sheet.n_unsaved:
            formulas = "a formula has" if sheet.n_unsaved == 1 else f"{sheet.n_unsaved:,} formulas have"
            self._notes.append(
                f"sheet {sheet.name}: {formulas} no stored result: open the workbook, save it, and add it again"
            )
        n_units = self._emit(sheet_units(sheet, self._rows))
        self._emit(sheet.asides)
        if self._is_cut:
            of = f" of {sheet.n_rows:,}" if sheet.n_rows > n_units else ""
            self._notes.append(f"sheet {sheet.name}: only the first {n_units:,} rows{of} are read")
        self._rows = []

    def skip(self, name: str) -> None:
        """Note a sheet that comes after the workbook is full."""
        self._notes.append(f"sheet {name} is not read: there is too much text before it")

    def note(self, sentence: str) -> None:
        """Tell staff something about the workbook."""
        self._notes.append(sentence)

    def reading(self, title: str = "", parts: Sequence[Part] = ()) -> Reading:
        """Return all that was read.

        Raises:
            RefusedError: there is text, but too much in one row.
        """
        if self._is_cut and not self._units:
            raise too_large("one row has more text than is read of a whole workbook")
        return Reading(self._units, title, parts=parts, notes=self._notes)

    def _emit(self, units: Iterable[Unit]) -> int:
        """Keep units while there is room; return how many."""
        n_before = len(self._units)
        for unit in units:
            self._n_left -= len(unit.text) + ROW_COST
            if self._n_left < 0:
                self._is_cut = True
                break
            self._units.append(unit)
        return len(self._units) - n_before
