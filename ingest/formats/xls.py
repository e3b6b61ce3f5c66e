"""Excel workbooks that only calamine reads: XLS, XLSB, and XLSX that `xlsx` calls damaged. The only importer of it.

calamine lays a sheet out from its first to its last cell, so the extents are looked at before.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import python_calamine as calamine

from ingest.formats.biff import Biff, BiffSheet
from ingest.formats.ole import Ole
from ingest.formats.package import Package
from ingest.formats.reading import Reading, RefusedError, damaged, needs_password, too_large
from ingest.formats.sheet import Row, Sheet
from ingest.formats.sheet_book import Book
from ingest.formats.sheet_numbers import number_text, value_text
from ingest.formats.tidy import one_line
from ingest.formats.xlsb import n_area
from ingest.limits import ParseLimits
from ingest.unit import Outcome

MAX_AREA = (
    8_000_000  # cells of a sheet from the first to the last: calamine takes 24 bytes for each, used or not
)
MIN_STRING = 3  # bytes
STREAMS = ("Workbook", "Book")
BEFORE_EXCEL_5 = (b"\x09\x00", b"\x09\x02", b"\x09\x04")
UNREAD = (calamine.SheetTypeEnum.MacroSheet, calamine.SheetTypeEnum.Vba)


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read an old workbook (XLS), hidden sheets and comments included.

    Raises:
        RefusedError: it has a password, is broken, over a limit, or from before Excel 5.
    """
    if data.startswith(BEFORE_EXCEL_5):
        reason = "it was saved by Excel 4 or older: open it in Excel or LibreOffice and save it as XLSX"
        raise RefusedError(Outcome.UNSUPPORTED, reason)
    return _read(data, _facts(data, limits))


def read_package(data: bytes, limits: ParseLimits) -> Reading:
    """Read a zipped workbook (XLSB, or XLSX): values, without number formats and comments.

    Raises:
        RefusedError: it has a password, is broken or over a limit.
    """
    package = Package(data, limits)
    package.xml("_rels/.rels")
    for name in package.names():
        if name.lower().startswith("xl/") and name.lower().endswith((".xml", ".bin")):
            part = package.read(name)  # a bomb is refused here
            if name.lower().startswith("xl/worksheets/") and name.lower().endswith(".bin"):
                _check_area(n_area(part))
    return _read(data, ())


def _facts(data: bytes, limits: ParseLimits) -> Sequence[BiffSheet]:
    """Return what the records tell of each sheet; nothing where the container is broken, which calamine minds less."""
    try:
        ole = Ole(data, limits)
        name = next((name for name in STREAMS if ole.has(name)), "")
        stream = ole.read(name)
        biff = Biff(stream)
    except RefusedError as refusal:
        if refusal.outcome is Outcome.DAMAGED:
            return ()
        raise
    if biff.n_strings * MIN_STRING > len(stream):  # calamine makes room for as many, and dies of it
        raise damaged("its table of texts is broken: open it in Excel or LibreOffice and save it as XLSX")
    for sheet in biff.sheets():
        _check_area(sheet.n_area())
    return biff.sheets()


def _check_area(n_cells: int) -> None:
    if n_cells > MAX_AREA:
        raise too_large(
            f"a sheet spans {n_cells:,} cells from its first to its last, and over {MAX_AREA:,} are not read: "
            "save it as XLSX, or delete what stands far off from the rest"
        )


def _read(data: bytes, facts: Sequence[BiffSheet]) -> Reading:
    try:
        return _read_sheets(calamine.CalamineWorkbook.from_filelike(io.BytesIO(data)), facts)
    except calamine.PasswordError as error:
        raise needs_password() from error
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise damaged(
            f"the workbook is broken ({one_line(str(error))[:200]}): save it again in Excel"
        ) from error
    except BaseException as error:
        # A panic in Rust comes as a class without a name to import, beside Exception; it is no stop of the process.
        if type(error).__name__ != "PanicException":
            raise
        raise damaged("the workbook is broken: save it again in Excel") from error


def _read_sheets(workbook: calamine.CalamineWorkbook, facts: Sequence[BiffSheet]) -> Reading:
    book = Book()
    known = len(facts) == len(workbook.sheets_metadata)
    for index, metadata in enumerate(workbook.sheets_metadata):
        if metadata.typ not in UNREAD:
            _read_sheet(book, workbook, index, facts[index] if known else BiffSheet())
    return book.reading()


def _read_sheet(book: Book, workbook: calamine.CalamineWorkbook, index: int, facts: BiffSheet) -> None:
    metadata = workbook.sheets_metadata[index]
    is_hidden = metadata.visible != calamine.SheetVisibleEnum.Visible
    sheet = Sheet(one_line(metadata.name), is_hidden)
    if book.is_full:
        book.skip(sheet.name)
        return
    source = workbook.get_sheet_by_index(index)
    sheet.n_rows = source.total_height
    sheet.spans = {
        (top + 1, left + 1): (bottom + 1, right + 1)
        for (top, left), (bottom, right) in source.merged_cell_ranges or ()
    }
    for first, last in facts.hidden_columns:
        sheet.hide_columns(first, last)
    boxes = dict(facts.texts)
    for row, column, number, author in facts.notes:
        if text := boxes.pop(number, ""):
            sheet.add_comment((row, column, row, column), author, text.removeprefix(f"{author}:").strip())
    for text in boxes.values():
        sheet.add_text(None, text)
    book.add(sheet, _rows(source, facts))


def _rows(source: calamine.CalamineSheet, facts: BiffSheet) -> Iterator[Row]:
    """Yield the rows that have text; calamine's begin with the sheet's first row, and with its first used column."""
    first_column = source.start[1] + 1 if source.start else 1
    for number, values in enumerate(source.iter_rows(), 1):
        cells = {}
        for column, value in enumerate(values, first_column):
            form = facts.formats.get((number, column))
            shown = number_text(value, form) if form and isinstance(value, int | float) else value_text(value)
            if text := one_line(shown):
                cells[column] = text
        if cells:
            yield Row(number, cells, number in facts.hidden_rows)
