"""An OpenDocument table's rows and cells: which there are, which belong to the table itself, which are merged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest.formats.elements import child, children, descendants, local, number, value
from ingest.formats.odf_text import DRAWN
from ingest.formats.table import looks_like_header, row_text

MAX_REPEAT = 50  # of one cell in a row: files claim millions
MAX_MERGED = 60  # characters of a cell over several rows that are repeated in the rows below
CELLS = ("table-cell", "covered-table-cell")


def repeats(cell: Any) -> int:
    """Return how often a cell stands in its row."""
    return min(number(value(cell, "number-columns-repeated")) or 1, MAX_REPEAT)


def header_of(table: Any, cells: list[list[str]]) -> str:
    """Return the header row's text, "" for a table without one."""
    marked = any(True for _ in descendants(child(table, "table-header-rows"), "table-row"))
    has_header = len(cells) > 1 and (marked or looks_like_header(cells[0], cells[1:]))
    return row_text(cells[0]) if has_header else ""


def rows_of(table: Any) -> Iterator[Any]:
    """Yield a table's own rows, not those of tables in its cells."""
    for part in table:
        if local(part) == "table-row":
            yield part
        elif local(part) in ("table-rows", "table-header-rows", "table-row-group"):
            yield from rows_of(part)


def own_paragraphs(cell: Any) -> Iterator[Any]:
    """Yield the paragraphs of a cell, of lists and tables in it, not those of drawings and notes."""
    for part in cell:
        if local(part) in ("p", "h"):
            yield part
        elif local(part) not in DRAWN and local(part) != "annotation":
            yield from own_paragraphs(part)


def repeat_merged(rows: list[Any], cells: list[list[str]]) -> None:
    """Write a short cell over several rows into each of them, so that each row stands alone."""
    open_cells: dict[int, tuple[int, str]] = {}
    for row, texts in zip(rows, cells, strict=True):
        for column, cell in enumerate(list(children(row, *CELLS))[:MAX_REPEAT]):
            left, text = open_cells.get(column, (0, ""))
            if local(cell) == "covered-table-cell" and left > 0:
                texts += [""] * (column + 1 - len(texts))
                texts[column] = texts[column] or text
                open_cells[column] = (left - 1, text)
                continue
            n_rows = number(value(cell, "number-rows-spanned")) or 1
            own = texts[column] if column < len(texts) and len(texts[column]) <= MAX_MERGED else ""
            open_cells[column] = (n_rows - 1, own)
