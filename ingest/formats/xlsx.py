"""Excel workbooks (XLSX, XLSM), cell by cell: memory follows the cells that are there, never the sheet's extent.

Reads transitional and strict files; number formats are in `xlsx_styles`, comments and drawings in `xlsx_asides`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ingest.formats.elements import child, children, descendants, local, number, relation_id, value
from ingest.formats.embedded import files
from ingest.formats.office import broken_notes, core_title
from ingest.formats.package import Package
from ingest.formats.reading import Reading, RefusedError, too_large
from ingest.formats.sheet import MAX_COLUMN, MAX_ROW, Row, Sheet, Spans, cells_of, column_number
from ingest.formats.sheet_book import Book
from ingest.formats.sheet_numbers import GENERAL, NumberFormat, iso_text, number_text
from ingest.formats.tidy import one_line
from ingest.formats.xlsx_asides import add_asides, people
from ingest.formats.xlsx_styles import number_formats
from ingest.formats.xml_stream import stream
from ingest.limits import ParseLimits
from ingest.unit import Outcome, Part

MAIN = (
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "http://purl.oclc.org/ooxml/spreadsheetml/main",  # strict
)
STRING, CELL, ROW, COLUMN = (
    tuple(f"{{{space}}}{name}" for space in MAIN) for name in ("si", "c", "row", "col")
)
# Merged ranges stand after the rows that need them, so they are looked for in the bytes.
MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*["\']([A-Z0-9:$]{2,40})["\']')
LAST_ROW = re.compile(rb'<(?:\w+:)?row\s[^>]*?\br\s*=\s*["\'](\d{1,7})["\']')
MAX_MERGED = 50_000
TAIL = 256 * 1024  # bytes of a sheet's end in which its last row is looked for
ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a workbook, hidden sheets included.

    Raises:
        RefusedError: it is broken, over a limit, or has a password.
    """
    package = Package(data, limits)
    package.xml("_rels/.rels")
    return _Workbook(package, limits).reading()


@dataclass(frozen=True, slots=True)
class _Values:
    """What cells refer to."""

    strings: list[str]
    formats: list[NumberFormat]
    from_1904: bool


class _Workbook:
    """The parts of a package, and what its sheets share."""

    def __init__(self, package: Package, limits: ParseLimits) -> None:
        self._package = package
        self._limits = limits
        self._parts: list[Part] = []
        main = package.main("xl/workbook.xml")
        self._root = package.xml(main)
        self._relations = package.relations(main)
        strings, styles = self._part("sharedStrings"), self._part("styles")
        self._values = _Values(
            list(_strings(package.read(strings), strings)) if strings else [],
            number_formats(package.optional(styles)) if styles else [],
            value(child(self._root, "workbookPr"), "date1904") in ("1", "true"),
        )
        self._people = people(package, self._part("person"))

    def reading(self) -> Reading:
        """Read the sheets in the workbook's order; one that is broken is named, unless all are."""
        book, n_broken, sheets = Book(), 0, list(descendants(self._root, "sheet"))
        for element in sheets:
            try:
                self._read_sheet(book, element)
            except RefusedError as refusal:
                n_broken += 1
                if refusal.outcome is not Outcome.DAMAGED or n_broken == len(sheets):
                    raise
                book.note(f"sheet {one_line(value(element, 'name'))} cannot be read: {refusal.reason}")
        for sentence in broken_notes(self._package):
            book.note(sentence)
        return book.reading(core_title(self._package), self._parts)

    def _read_sheet(self, book: Book, element: Any) -> None:
        sheet = Sheet(one_line(value(element, "name")), value(element, "state") in ("hidden", "veryHidden"))
        kind, path = self._relations.get(relation_id(element), ("", ""))
        if kind not in ("worksheet", "chartsheet", "dialogsheet"):
            return  # macro sheets hold no text for people
        if book.is_full:
            book.skip(sheet.name)
            return
        data = self._sheet_data(path, sheet.name)
        add_asides(self._package, path, sheet, self._people)
        self._parts += files(self._package, self._package.relations(path).values(), self._limits)
        if kind == "worksheet":
            sheet.spans, sheet.n_rows = _spans(data), _n_rows(data)
        book.add(sheet, _rows(data, path, sheet, self._values) if kind == "worksheet" else ())

    def _sheet_data(self, path: str, name: str) -> bytes:
        try:
            return self._package.read(path)
        except RefusedError as refusal:
            if refusal.outcome is not Outcome.TOO_LARGE:
                raise
            raise too_large(
                f"sheet {name} is over {self._limits.max_part_mb} MB when unpacked: "
                "save the rows that people ask about as a workbook of their own"
            ) from refusal

    def _part(self, kind: str) -> str:
        return next((path for found, path in self._relations.values() if found == kind), "")


def _strings(data: bytes, path: str) -> Iterator[str]:
    for item in stream(data, path, STRING):
        yield _rich(item)


def _rich(element: Any) -> str:
    """Return the text of a string with runs; readings beside Japanese words (phonetic runs) are left out."""
    if len(element) == 1 and local(element[0]) == "t":
        return _text(element[0].text or "")
    parts = [child(run, "t") if local(run) == "r" else run for run in children(element, "r", "t")]
    return _text("".join(part.text or "" for part in parts if part is not None))


def _text(text: str) -> str:
    """Undo the escapes for characters that XML cannot hold; one line."""
    if "_x" in text:
        text = ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return one_line(text)


def _rows(data: bytes, path: str, sheet: Sheet, values: _Values) -> Iterator[Row]:
    """Yield the rows that have text; columns that are hidden are put into the sheet on the way."""
    cells: dict[int, str] = {}
    row = column = 0
    for element in stream(data, path, (*ROW, *COLUMN), CELL):
        tag = element.tag
        if tag in CELL:
            column = column_number(element.get("r", "")) or column + 1
            text = _cell_text(element, sheet, values)
            if text and column <= MAX_COLUMN:
                cells[column] = text
        elif tag in ROW:
            row = number(element.get("r", "")) or row + 1
            if cells and row <= MAX_ROW:
                yield Row(row, cells, element.get("hidden") in ("1", "true"))
            cells, column = {}, 0
        elif element.get("hidden") in ("1", "true"):
            sheet.hide_columns(number(element.get("min", "")) or 1, number(element.get("max", "")) or 0)


def _cell_text(cell: Any, sheet: Sheet, values: _Values) -> str:
    kind = cell.get("t", "n")
    stored, has_formula = "", False
    for part in cell:
        name = part.tag[-2:]  # no call for each of a million cells
        if name == "}v":
            stored = part.text or ""
        elif name == "}f":
            has_formula = True
        elif name == "is":
            return _rich(part)
    if not stored:
        sheet.n_unsaved += has_formula and kind != "str"
        return ""
    if kind == "s":
        index = number(stored)
        return values.strings[index] if index is not None and 0 <= index < len(values.strings) else ""
    if kind == "n":
        return _number(stored, cell.get("s", ""), values)
    if kind == "b":
        return "TRUE" if stored.strip() in ("1", "true") else "FALSE"
    return iso_text(stored.strip()) if kind == "d" else _text(stored)


def _number(stored: str, style: str, values: _Values) -> str:
    try:
        amount = float(stored)
    except ValueError:
        return one_line(stored)
    index = number(style) if style else None
    known = index is not None and 0 <= index < len(values.formats)
    return number_text(
        amount, values.formats[index] if known and index is not None else GENERAL, values.from_1904
    )


def _spans(data: bytes) -> Spans:
    """Return the merged ranges of a sheet's bytes, the first `MAX_MERGED`."""
    after_rows = max(data.rfind(b"sheetData>"), 0)
    spans: Spans = {}
    for found in itertools.islice(MERGED.finditer(data, after_rows), MAX_MERGED):
        if cells := cells_of(found[1].decode("ascii")):
            spans[cells[0], cells[1]] = cells[2], cells[3]
    return spans


def _n_rows(data: bytes) -> int:
    """Return the number of the last row, 0 when it is not found near the end."""
    found = LAST_ROW.findall(data[-TAIL:])
    return int(found[-1]) if found else 0
