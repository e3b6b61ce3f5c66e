"""A Word table's rows and cells: which there are, which are merged, whether the first row names the columns."""

from __future__ import annotations

from typing import Any

from ingest.formats.docx_run import is_shaded
from ingest.formats.elements import child, descendants, is_on, local, value
from ingest.formats.table import looks_like_header, row_text

MAX_MERGED = 60  # characters of a vertically merged cell that are repeated in the rows below
WRAPPERS = frozenset({"sdt", "sdtContent", "ins", "customXml", "smartTag"})


def rows_of(table: Any) -> list[Any]:
    """Return the rows, without those that a tracked change deleted."""
    return [row for row in _parts(table, "tr") if child(row, "trPr", "del") is None]


def cells_of(row: Any) -> list[Any]:
    """Return a row's cells, without those that a tracked change deleted."""
    return [cell for cell in _parts(row, "tc") if child(cell, "tcPr", "cellDel") is None]


def _parts(parent: Any, name: str) -> list[Any]:
    """Return a table's rows or a row's cells, also those inside content controls and tracked insertions."""
    found = []
    for part in parent:
        if local(part) == name:
            found.append(part)
        elif local(part) in WRAPPERS:
            found += _parts(part, name)
    return found


def header_of(rows: list[Any], cells: list[list[str]]) -> str:
    """Return the header row's text, "" for a table without one."""
    marked = child(rows[0], "trPr", "tblHeader")
    has_header = is_on(marked) if marked is not None else looks_like_header(cells[0], cells[1:])
    return row_text(cells[0]) if has_header and len(cells) > 1 else ""


def may_be_dark(table: Any) -> bool:
    """Tell whether a table's style or one of its cells may give the text a ground that is not white."""
    if value(child(table, "tblPr", "tblStyle")):
        return True
    return any(is_shaded(properties) for properties in descendants(table, "tblPr", "tcPr", "pPr"))


def own_paragraphs(cell: Any) -> list[Any]:
    """Return the paragraphs of a cell, those of tables in it too, and not those of text boxes."""
    return [part for part in cell.iter() if local(part) == "p" and not _in_box(part, cell)]


def _in_box(part: Any, cell: Any) -> bool:
    parent = part.getparent()
    while parent is not None and parent is not cell:
        if local(parent) in ("txbxContent", "Fallback"):
            return True
        parent = parent.getparent()
    return False


def repeat_merged(rows: list[Any], cells: list[list[str]]) -> None:
    """Write a vertically merged cell's short text into the rows that it spans, so that each row stands alone."""
    above: dict[int, str] = {}
    for row, texts in zip(rows, cells, strict=True):
        column = 0
        for i, cell in enumerate(cells_of(row)):
            merge = child(cell, "tcPr", "vMerge")
            if merge is not None and value(merge) != "restart" and not texts[i]:
                texts[i] = above.get(column, "")
            above[column] = texts[i] if merge is not None and len(texts[i]) <= MAX_MERGED else ""
            span = value(child(cell, "tcPr", "gridSpan"))
            column += int(span[:3]) if span.isdigit() else 1
