"""OpenDocument spreadsheets (ODS), cell by cell: rows and cells that repeat are counted, never laid out."""

from __future__ import annotations

from typing import Any

from ingest.formats.elements import child, children, descendants, local, number, value
from ingest.formats.odf import check_password
from ingest.formats.package import Package
from ingest.formats.reading import Reading, too_large
from ingest.formats.sheet import MAX_COLUMN, MAX_ROW, Cells, Row, Sheet
from ingest.formats.sheet_book import MAX_ROWS, Book
from ingest.formats.sheet_numbers import Kind, NumberFormat, iso_text, number_text
from ingest.formats.tidy import one_line
from ingest.formats.xml_stream import stream
from ingest.limits import ParseLimits

SPACES = {
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
}
STYLE = f"{{{SPACES['style']}}}style"
TABLE, ROW, COLUMN, SHAPES, CELL, COVERED = (
    f"{{{SPACES['table']}}}{name}"
    for name in ("table", "table-row", "table-column", "shapes", "table-cell", "covered-table-cell")
)
BESIDE = ("annotation", "frame", "custom-shape", "rect", "ellipse", "line", "connector", "caption", "g")
FORMATS = {
    "float": NumberFormat(),
    "percentage": NumberFormat(Kind.PERCENT, 2),
    "currency": NumberFormat(Kind.CURRENCY, 2),
}
NOT_SEEN = ("collapse", "filter")
MAX_SPACES = 100  # of one text:s


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a workbook, hidden sheets included.

    Raises:
        RefusedError: it is broken, over a limit, has a password, or repeats cells beyond what a sheet can hold.
    """
    package = Package(data, limits)
    check_password(package)
    title = child(child(package.optional("meta.xml"), "meta"), "title")
    reader = _Reader()
    for element in stream(package.read("content.xml"), "content.xml", tuple(reader.steps)):
        reader.steps[element.tag](element)
    return reader.book.reading(one_line(title.text or "") if title is not None else "")


class _Reader:
    """The sheet being read: cells come before their row ends, rows before their table ends."""

    def __init__(self) -> None:
        self.book = Book()
        self.steps = {
            STYLE: self._style, COLUMN: self._column, SHAPES: self._shapes, CELL: self._cell,
            COVERED: self._cell, ROW: self._row, TABLE: self._table,
        }  # fmt: skip
        self._unseen_styles: set[str] = set()
        self._begin_sheet()

    def _begin_sheet(self) -> None:
        self._sheet = Sheet("")
        self._rows: list[Row] = []
        self._n_rows = self._n_columns = 0
        self._begin_row()

    def _begin_row(self) -> None:
        self._cells: dict[int, str] = {}
        self._at = 0
        self._spans: dict[int, tuple[int, int]] = {}  # column → rows, columns

    def _style(self, element: Any) -> None:
        if value(child(element, "table-properties"), "display") == "false":
            self._unseen_styles.add(value(element, "name"))

    def _column(self, element: Any) -> None:
        n, first = _repeated(element, "columns"), self._n_columns + 1
        self._n_columns += n
        if value(element, "visibility") in NOT_SEEN:
            self._sheet.hidden_columns.update(range(first, min(first + n, MAX_COLUMN + 1)))

    def _shapes(self, element: Any) -> None:
        self._beside(element, None)

    def _cell(self, element: Any) -> None:
        n, first = _repeated(element, "columns"), self._at + 1
        self._at += n
        text = _cell_text(element) if element.tag == CELL else ""
        row = self._n_rows + 1
        self._beside(element, (row, first, row, first) if first <= MAX_COLUMN and row <= MAX_ROW else None)
        if not text:
            return
        if self._at > MAX_COLUMN:
            raise too_large(f"a row has text in {self._at:,} columns, and a sheet has {MAX_COLUMN:,} at most")
        self._cells.update((column, text) for column in range(first, self._at + 1))
        rows, columns = (
            number(value(element, f"number-{side}-spanned")) or 1 for side in ("rows", "columns")
        )
        if rows > 1 or columns > 1:
            self._spans[first] = rows, columns

    def _row(self, element: Any) -> None:
        n, first = _repeated(element, "rows"), self._n_rows + 1
        self._n_rows += n
        if self._cells:
            if self._n_rows > MAX_ROW:
                raise too_large(f"a sheet has text in {self._n_rows:,} rows, and {MAX_ROW:,} are the most")
            self._sheet.n_rows = self._n_rows
            hidden = value(element, "visibility") in NOT_SEEN
            # One more than is read, so that the book sees that rows are left out.
            last = min(self._n_rows, first + MAX_ROWS - len(self._rows))
            self._rows.extend(Row(row, self._cells, hidden) for row in range(first, last + 1))
            for column, (rows, columns) in self._spans.items():
                self._sheet.spans[first, column] = first + rows - 1, column + columns - 1
        self._begin_row()

    def _table(self, element: Any) -> None:
        self._name(element)
        self.book.add(self._sheet, self._rows)
        self._begin_sheet()

    def _name(self, table: Any) -> None:
        self._sheet.name = one_line(value(table, "name"))
        self._sheet.hidden = value(table, "style-name") in self._unseen_styles

    def _beside(self, element: Any, cells: Cells | None) -> None:
        """Keep comments and the text of shapes."""
        for part in children(element, *BESIDE):
            if not self._sheet.name:
                self._name(next(element.iterancestors(TABLE)))
            text = "\n".join(filter(None, (_paragraph(p) for p in descendants(part, "p", "h"))))
            if text and local(part) == "annotation":
                author = child(part, "creator")
                self._sheet.add_comment(
                    cells, "" if author is None else one_line(author.text or ""), one_line(text)
                )
            elif text:
                self._sheet.add_text(cells, text)


def _repeated(element: Any, side: str) -> int:
    return max(number(value(element, f"number-{side}-repeated")) or 1, 1)


def _cell_text(cell: Any) -> str:
    """Return a cell's value: what is stored where it is a number or a date, as shown otherwise."""
    kind, stored = value(cell, "value-type"), value(cell, "value")
    if kind == "date":
        return iso_text(value(cell, "date-value"))
    if kind == "time":
        return iso_text(value(cell, "time-value"))
    if kind in FORMATS and stored:
        form = FORMATS[kind]
        symbol = value(cell, "currency") if form.kind is Kind.CURRENCY else ""
        try:
            return number_text(float(stored), NumberFormat(form.kind, form.decimals, symbol))
        except ValueError:
            return one_line(stored)
    return one_line("\n".join(_paragraph(part) for part in children(cell, "p", "h", "list")))


def _paragraph(element: Any) -> str:
    """Return a paragraph's text; spaces, tabs and line ends are elements, and notes inside it are no part of it."""
    parts = [element.text or ""]
    for part in element:
        name = local(part)
        if name == "s":
            parts.append(" " * min(number(value(part, "c")) or 1, MAX_SPACES))
        elif name in ("tab", "line-break"):
            parts.append(" ")
        elif name not in BESIDE:
            parts.append(_paragraph(part))
        parts.append(part.tail or "")
    return "".join(parts)
