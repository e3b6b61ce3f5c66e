"""Table rows out of lines with several cells; cells that wrap are put back together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.formats.pdf_rows import HYPHEN, Line
from ingest.formats.table import looks_like_header, row_text

MAX_STEP = 4.0  # heights from line to line; a table does not go on further down
WRAP_STEP = 1.35  # heights from line to line inside a cell, at most
PADDING = 1.25  # rows are at least this much further apart than the lines of a cell, where cells are padded
ALIGNED = 0.6  # heights by which the lines of one column may differ in their start


@dataclass(slots=True)
class Row:
    """One row, of one or more lines."""

    lines: list[Line]
    cells: list[str]

    @property
    def text(self) -> str:
        return row_text([cell.replace(HYPHEN, "-") for cell in self.cells])


def table_at(lines: Sequence[Line], i: int) -> tuple[list[Row], int]:
    """Return the rows of the table that begins at a line, and its lines; ([], 0) where none does."""
    if len(lines[i].cells) < 2:
        return [], 0
    rows = [Row([lines[i]], list(lines[i].cells))]
    n_lines = 1
    while i + n_lines < len(lines):
        line, above = lines[i + n_lines], lines[i + n_lines - 1]
        if not 0 < line.y0 - above.y0 <= MAX_STEP * line.height:
            break
        columns = _columns(rows[-1].lines[0], line)
        if columns and _wraps(rows, line, lines[i + n_lines + 1 : i + n_lines + 2]):
            _wrap(rows[-1], line, columns)
        elif len(line.cells) > 1:
            rows.append(Row([line], list(line.cells)))
        else:
            break
        n_lines += 1
    return (rows, n_lines) if len(rows) > 1 or len(rows[0].cells) > 2 else ([], 0)


def header_of(rows: Sequence[Row]) -> str:
    """Return the first row as the table's header, "" where it does not look like one."""
    first, others = rows[0], rows[1:]
    if len(others) < 2 or len(first.cells) < max(len(row.cells) for row in others):
        return ""
    return first.text if looks_like_header(first.cells, [row.cells for row in others]) else ""


def _columns(first: Line, line: Line) -> list[int]:
    """Return the column of each of a line's cells in a row, or [] where one begins elsewhere."""
    columns = []
    for start in line.starts:
        near = [k for k, x in enumerate(first.starts) if abs(x - start) <= ALIGNED * line.height]
        if not near:
            return []
        columns.append(near[0])
    return columns


def _wraps(rows: Sequence[Row], line: Line, below: Sequence[Line]) -> bool:
    """Tell the second line of a row's cells from a row of its own."""
    row = rows[-1]
    step = line.y0 - row.lines[-1].y0
    if step > WRAP_STEP * line.height or len(line.cells) > len(row.cells):
        return False
    before = row.lines[0].y0 - rows[-2].lines[-1].y0 if len(rows) > 1 else 0.0
    after = below[0].y0 - line.y0 if below else 0.0
    is_padded = max(before, after) >= PADDING * step
    begins_later = line.starts[0] > row.lines[0].starts[0] + ALIGNED * line.height
    if begins_later and len(line.cells) == 1:
        return is_padded or any(ch.islower() for ch in line.cells[0])
    is_value = any(not any(ch.isalpha() for ch in cell) for cell in line.cells)  # "Total | 5,738" is a row
    return is_padded and len(line.cells) < len(row.cells) and not is_value and line.bold == row.lines[0].bold


def _wrap(row: Row, line: Line, columns: Sequence[int]) -> None:
    row.lines.append(line)
    for column, cell in zip(columns, line.cells, strict=True):
        above = row.cells[column]
        row.cells[column] = above[:-1] + cell if above.endswith(HYPHEN) else f"{above} {cell}"
