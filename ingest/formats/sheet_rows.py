"""Rows of one sheet to units: tables with their names, titles above them, merged and hidden cells."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence

from ingest.formats.sheet import Row, Sheet, Spans
from ingest.formats.sheet_header import column_names, n_above_table, names_for_next
from ingest.formats.table import SEPARATOR
from ingest.unit import Unit, UnitKind

MAX_TITLE = 100  # characters; what is longer is a paragraph
MAX_FILLED = 500_000  # cells filled from merged ranges; real sheets stay far below
MAX_GAP = 3  # rows from a header to its table
MAX_ALIGNED = 50  # columns whose empty cells keep their place in a row without names


def sheet_units(sheet: Sheet, rows: Iterable[Row]) -> Iterator[Unit]:
    """Return the units of a sheet, block by block; a block's hidden rows and columns come after what is seen."""
    last: _Block | None = None
    for rows_together in _blocks(_filled_down(rows, sheet.spans)):
        block = _Block(sheet, rows_together)
        if last is not None:
            block.go_on(last)
        yield from block.units()
        last = block


def _blocks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Part rows where an empty one stands between."""
    block: list[Row] = []
    for row in rows:
        if block and row.number != block[-1].number + 1:
            yield block
            block = []
        block.append(row)
    if block:
        yield block


def _filled_down(rows: Iterable[Row], spans: Spans) -> Iterator[Row]:
    """Repeat the text of a range merged over several rows in each of them, so that each row reads alone."""
    if not any(bottom > top for (top, _), (bottom, _) in spans.items()):
        yield from rows
        return
    running: dict[int, tuple[int, str]] = {}  # column → last row, text
    n_left = MAX_FILLED
    for row in rows:
        if n_left <= 0:
            yield row
            continue
        running = {column: run for column, run in running.items() if run[0] >= row.number}
        added = {column: text for column, (_, text) in running.items() if column not in row.cells}
        n_left -= len(running) + 1
        for column, text in row.cells.items():
            bottom, _ = spans.get((row.number, column), (row.number, column))
            if bottom > row.number:
                running[column] = bottom, text
        cells = dict(sorted((row.cells | added).items())) if added else row.cells
        yield Row(row.number, cells, row.hidden)


class _Block:
    """Rows without an empty one between: a table, mostly, with a title."""

    def __init__(self, sheet: Sheet, rows: Sequence[Row]) -> None:
        self.columns = sorted(set().union(*(row.cells for row in rows)))
        n_above = n_above_table(rows, sheet.spans)
        n_header, self.names = column_names(rows[n_above:], self.columns, sheet.spans)
        self._sheet = sheet
        self.rows = rows
        self.n_above, self._n_before_body = n_above, n_above + n_header

    def go_on(self, last: _Block) -> None:
        """Take the names from the block above: a header with an empty row below it, or a table with spacer rows."""
        named = names_for_next(last.rows[last.n_above :])
        is_near = self.rows[0].number - last.rows[-1].number <= MAX_GAP
        if is_near and named and len(self.rows) > 1 and len(set(self.columns).difference(named)) <= 1:
            self._n_before_body, self.names = self.n_above, named
        elif not self.names and len(self.columns) > 1 and set(self.columns) <= set(last.names):
            self.names = last.names

    def units(self) -> Iterator[Unit]:
        """Yield what stands above the table, its header, its rows, and then what is hidden of them."""
        if len(self.columns) == 1:
            yield from self._lines()
            return
        title = yield from self._titles()
        for hidden in (False, True):
            for i, row in enumerate(self.rows[self.n_above :], self.n_above):
                if columns := self._columns(row, hidden):
                    names = self.names if i >= self._n_before_body else {}
                    text = self._text(row, columns, names)
                    yield self._sheet.unit(text, _place(row, columns), heading=title, hidden=hidden)

    def _lines(self) -> Iterator[Unit]:
        """Yield a single column as what it mostly is: lines of text."""
        (column,) = self.columns
        for row in self.rows:
            hidden = row.hidden or column in self._sheet.hidden_columns
            yield self._sheet.unit(
                row.cells[column], _place(row, self.columns), UnitKind.PARAGRAPH, hidden=hidden
            )

    def _titles(self) -> Generator[Unit, None, str]:
        """Yield the rows above the table; return the heading of the table: a short line right above it."""
        title = ""
        for row in self.rows[: self.n_above]:
            text = SEPARATOR.join(row.cells.values())
            title = text if len(row.cells) == 1 and len(text) <= MAX_TITLE else ""
            kind = UnitKind.HEADING if title else UnitKind.PARAGRAPH
            yield self._sheet.unit(text, _place(row, list(row.cells)), kind, hidden=row.hidden)
        return title

    def _columns(self, row: Row, hidden: bool) -> list[int]:
        """Return the row's columns that are seen, or those that are not."""
        if row.hidden:
            return list(row.cells) if hidden else []
        return [column for column in row.cells if (column in self._sheet.hidden_columns) is hidden]

    def _text(self, row: Row, columns: Sequence[int], names: dict[int, str]) -> str:
        if names:
            named = ((names.get(column, ""), row.cells[column]) for column in columns)
            return "; ".join(f"{name}: {text}" if name else text for name, text in named)
        if len(self.columns) > MAX_ALIGNED or len(columns) < len(row.cells):
            return SEPARATOR.join(row.cells[column] for column in columns)
        aligned = [column for column in self.columns if column <= columns[-1]]
        return SEPARATOR.join(row.cells.get(column, "") for column in aligned).strip()


def _place(row: Row, columns: Sequence[int]) -> tuple[int, int, int, int]:
    return row.number, columns[0], row.number, columns[-1]
