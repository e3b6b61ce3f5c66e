"""OpenDocument spreadsheets (ODS), cell by cell: rows and cells that repeat are counted, never laid out."""

from __future__ import annotations

from typing import Any

from ingest.formats.elements import child, children, descendants, local, number, value
from ingest.formats.odf import check_password
from ingest.formats.package import Package
from ingest.formats.reading import Reading, too_large
from ingest.formats.sheet import MAX_COLUMN, MAX_ROW, Cells, Row, Sheet
from ingest.formats.sheet_book import Book
from ingest.formats.sheet_numbers import Kind, NumberFormat, iso_text, number_text
from ingest.formats.tidy import one_line
from ingest.formats.xml_stream import stream
from ingest.limits import ParseLimits

OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
TABLES = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}style"
TABLE, ROW, COLUMN, SHAPES, CELL, COVERED = (
    TABLES + name
    for name in ("table", "table-row", "table-column", "shapes", "table-cell", "covered-table-cell")
)
ROWS_REPEATED, COLUMNS_REPEATED = TABLES + "number-rows-repeated", TABLES + "number-columns-repeated"
ROWS_SPANNED, COLUMNS_SPANNED = TABLES + "number-rows-spanned", TABLES + "number-columns-spanned"
VISIBILITY = TABLES + "visibility"
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
    for element in stream(
        package.read("content.xml"), "content.xml", (STYLE, COLUMN, SHAPES, ROW, TABLE), (CELL, COVERED)
    ):
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
        self.book.begin(self._sheet)
        self._goes_on = not self.book.is_full
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
        first = self._n_columns + 1
        self._n_columns += _count(element, COLUMNS_REPEATED)
        if element.get(VISIBILITY) in NOT_SEEN:
            self._sheet.hide_columns(first, self._n_columns)

    def _shapes(self, element: Any) -> None:
        self._beside(element, None)

    def _cell(self, element: Any) -> None:
        first = self._at + 1
        self._at += _count(element, COLUMNS_REPEATED)
        if len(element) == 0 or not self._goes_on:
            return
        row = self._n_rows + 1
        self._beside(element, (row, first, row, first) if first <= MAX_COLUMN and row <= MAX_ROW else None)
        text = _cell_text(element) if element.tag == CELL else ""
        if not text:
            return
        if self._at > MAX_COLUMN:
            raise too_large(f"a row has text in {self._at:,} columns, and a sheet has {MAX_COLUMN:,} at most")
        self._cells.update((column, text) for column in range(first, self._at + 1))
        rows, columns = _count(element, ROWS_SPANNED), _count(element, COLUMNS_SPANNED)
        if rows > 1 or columns > 1:
            self._spans[first] = rows, columns

    def _row(self, element: Any) -> None:
        first = self._n_rows + 1
        self._n_rows += _count(element, ROWS_REPEATED)
        if self._cells:
            if self._n_rows > MAX_ROW:
                raise too_large(f"a sheet has text in {self._n_rows:,} rows, and {MAX_ROW:,} are the most")
            hidden = element.get(VISIBILITY) in NOT_SEEN
            for row in range(first, self._n_rows + 1):
                self._goes_on = self._goes_on and self.book.take(Row(row, self._cells, hidden))
                if not self._goes_on:
                    break
            for column, (rows, columns) in self._spans.items():
                self._sheet.spans[first, column] = first + rows - 1, column + columns - 1
        self._begin_row()

    def _table(self, element: Any) -> None:
        self._name(element)
        if self.book.is_full:
            self.book.skip(self._sheet.name)
        else:
            self._sheet.n_rows = self._n_rows if self._n_rows < MAX_ROW else 0
            self.book.finish()
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


def _count(element: Any, attribute: str) -> int:
    return max(number(element.get(attribute, "1")) or 1, 1)


def _cell_text(cell: Any) -> str:
    """Return a cell's value: what is stored where it is a number or a date, as shown otherwise."""
    kind, stored = cell.get(OFFICE + "value-type", ""), cell.get(OFFICE + "value", "")
    if kind in ("date", "time"):
        return iso_text(cell.get(f"{OFFICE}{kind}-value", ""))
    if kind in FORMATS and stored:
        form = FORMATS[kind]
        if form.kind is Kind.CURRENCY:
            form = NumberFormat(form.kind, form.decimals, cell.get(OFFICE + "currency", ""))
        try:
            return number_text(float(stored), form)
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
