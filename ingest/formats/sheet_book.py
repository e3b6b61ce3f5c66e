"""The reading of a workbook, sheet after sheet, within bounds; staff are told what is not read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ingest.formats.reading import Reading
from ingest.formats.sheet import Row, Sheet
from ingest.formats.sheet_rows import sheet_units
from ingest.unit import Part, Unit

MAX_ROWS = 20_000  # of a sheet
# Characters of a workbook, `ROW_COST` for each unit included: written as JSON they stay below the parser's 64 MB.
MAX_TEXT = 8_000_000
ROW_COST = 100


class Book:
    """What has been read of a workbook so far."""

    def __init__(self) -> None:
        self._units: list[Unit] = []
        self._notes: list[str] = []
        self._n_left = MAX_TEXT

    @property
    def is_full(self) -> bool:
        """No further sheet is read."""
        return self._n_left <= 0

    def add(self, sheet: Sheet, rows: Iterable[Row]) -> None:
        """Read a sheet: its rows, then what stands beside them."""
        if self.is_full:
            self._notes.append(f"sheet {sheet.name} is not read: the workbook has too much text before it")
            return
        kept = list(self._kept(sheet, rows))
        if sheet.hidden and (kept or sheet.asides):
            self._notes.append(f"sheet {sheet.name} is hidden")
        elif any(row.hidden or not sheet.hidden_columns.isdisjoint(row.cells) for row in kept):
            self._notes.append(f"sheet {sheet.name} has hidden rows or columns")
        if sheet.n_unsaved:
            formulas = "a formula has" if sheet.n_unsaved == 1 else f"{sheet.n_unsaved} formulas have"
            self._notes.append(
                f"sheet {sheet.name}: {formulas} no stored result: open the workbook, save it, and add it again"
            )
        self._take(sheet, sheet_units(sheet, kept))
        self._take(sheet, sheet.asides)

    def note(self, sentence: str) -> None:
        """Tell staff something about the workbook."""
        self._notes.append(sentence)

    def reading(self, title: str = "", parts: Sequence[Part] = ()) -> Reading:
        """Return all that was read."""
        return Reading(self._units, title, parts=parts, notes=self._notes)

    def _kept(self, sheet: Sheet, rows: Iterable[Row]) -> Iterator[Row]:
        n_left = self._n_left
        for n_rows, row in enumerate(rows):
            # Before anything is joined: one long text may stand in every cell.
            n_left -= sum(map(len, row.cells.values())) + ROW_COST
            if n_rows == MAX_ROWS or n_left < 0:
                of = f" of {sheet.n_rows:,}" if sheet.n_rows > n_rows else ""
                self._notes.append(f"sheet {sheet.name}: only the first {n_rows:,} rows{of} are read")
                return
            yield row

    def _take(self, sheet: Sheet, units: Iterable[Unit]) -> None:
        for unit in units:
            self._n_left -= len(unit.text) + ROW_COST
            if self._n_left < 0:
                self._notes.append(
                    f"sheet {sheet.name} is not read to its end: the workbook has too much text"
                )
                return
            self._units.append(unit)
