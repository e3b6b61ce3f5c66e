"""What the records of an old Excel workbook (XLS) say beside its values: a password, the extent of its sheets, number
formats, what is hidden, comments and text boxes. The values are calamine's. Source: [MS-XLS]."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from ingest.formats.reading import needs_password
from ingest.formats.sheet_numbers import BUILT_IN, GENERAL, Kind, NumberFormat, number_format
from ingest.formats.tidy import one_line

BOF, EOF, FILE_PASS, BOUND_SHEET, FORMAT, XF = 0x0809, 0x000A, 0x002F, 0x0085, 0x041E, 0x00E0
NOTE, OBJECT, TEXT_OBJECT, CONTINUE, ROW, COLUMNS = 0x001C, 0x005D, 0x01B6, 0x003C, 0x0208, 0x007D
FORMULA, MUL_RK, R_STRING, LABEL_SST, NUMBER, LABEL, BOOL_ERR, RK = (
    0x0006, 0x00BD, 0x00D6, 0x00FD, 0x0203, 0x0204, 0x0205, 0x027E,
)  # fmt: skip
STRINGS = 0x00FC
CELLS = frozenset({FORMULA, MUL_RK, R_STRING, LABEL_SST, NUMBER, LABEL, BOOL_ERR, RK})
BIFF8 = 0x0600
SHOWN = frozenset({Kind.PERCENT, Kind.CURRENCY})
MAX_FORMATS = 500_000  # cells; 100 MB
ROW_HIDDEN, COLUMN_HIDDEN = 0x20, 0x01


@dataclass(slots=True)
class BiffSheet:
    """One sheet's facts; rows and columns count from 1.

    Attributes:
        formats: (row, column) → format, of percentages and amounts of money: what calamine's bare numbers lose.
        hidden_columns: first and last of each run.
        notes: row, column, object and author of each comment.
        texts: object → its text: of comments, and of text boxes.
    """

    top: int = 0
    left: int = 0
    bottom: int = 0
    right: int = 0
    formats: dict[tuple[int, int], NumberFormat] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    notes: list[tuple[int, int, int, str]] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)

    def n_area(self) -> int:
        """Count the cells from the first to the last."""
        return (self.bottom - self.top + 1) * (self.right - self.left + 1) if self.bottom else 0

    def extend(self, row: int, first: int, last: int) -> None:
        """Take in the cells of a row from the first column to the last."""
        self.top, self.left = min(self.top or row, row), min(self.left or first, first)
        self.bottom, self.right = max(self.bottom, row), max(self.right, last)


class Biff:
    """The facts of one workbook stream; what is cut off or makes no sense is passed over."""

    def __init__(self, stream: bytes) -> None:
        """Walk the records once.

        Raises:
            RefusedError: the workbook has a password.
        """
        self._sheets: dict[int, BiffSheet] = {}  # start of the substream → sheet
        self._starts: list[int] = []
        self._codes: dict[int, NumberFormat] = {}
        self._styles: list[int] = []
        self._version = BIFF8
        self._object = 0
        self._n_text, self._text = 0, ""  # of the text object being read
        self.n_strings = 0  # that the workbook claims to share among its cells
        self._walk(stream)

    def sheets(self) -> list[BiffSheet]:
        """Return the sheets in the workbook's order."""
        return [self._sheets.get(start, BiffSheet()) for start in self._starts]

    def _walk(self, stream: bytes) -> None:
        depth, sheet = 0, BiffSheet()
        for kind, at, body in _records(stream):
            if kind == FILE_PASS:
                raise needs_password()
            if kind == BOF:
                depth += 1
                if depth == 1:  # deeper ones are charts in a sheet, with cells of their own
                    sheet = self._sheets.setdefault(at, BiffSheet())
                    self._version = self._version if self._starts else int.from_bytes(body[:2], "little")
            elif kind == EOF:
                depth -= 1
            elif depth == 1:
                try:
                    self._take(kind, body, sheet)
                except (struct.error, IndexError):
                    continue

    def _take(self, kind: int, body: bytes, sheet: BiffSheet) -> None:
        if kind in CELLS:
            row, column = struct.unpack_from("<2H", body)
            n_cells = (len(body) - 6) // 6 if kind == MUL_RK else 1
            sheet.extend(row + 1, column + 1, column + n_cells)
            for i in range(n_cells):
                form = self._number_format(struct.unpack_from("<H", body, 4 + 6 * i)[0])
                if form.kind in SHOWN and len(sheet.formats) < MAX_FORMATS:
                    sheet.formats[row + 1, column + 1 + i] = form
        elif kind == BOUND_SHEET:
            self._starts.append(struct.unpack_from("<I", body)[0])
        elif kind == STRINGS:
            self.n_strings = struct.unpack_from("<I", body, 4)[0]
        elif kind == XF:
            self._styles.append(struct.unpack_from("<H", body, 2)[0])
        elif kind == FORMAT:
            key, length = struct.unpack_from("<2H", body)
            code = (
                _string(body[4:], length)
                if self._version == BIFF8
                else body[3 : 3 + body[2]].decode("cp1252", "replace")
            )
            self._codes[key] = number_format(code)
        elif kind == ROW:
            if struct.unpack_from("<H", body, 12)[0] & ROW_HIDDEN:
                sheet.hidden_rows.add(struct.unpack_from("<H", body)[0] + 1)
        elif kind == COLUMNS:
            first, last, _, _, flags = struct.unpack_from("<5H", body)
            if flags & COLUMN_HIDDEN:
                sheet.hidden_columns.append((first + 1, last + 1))
        elif self._version == BIFF8:
            self._take_text(kind, body, sheet)

    def _number_format(self, style: int) -> NumberFormat:
        key = self._styles[style] if style < len(self._styles) else 0
        return self._codes.get(key) or BUILT_IN.get(key, GENERAL)

    def _take_text(self, kind: int, body: bytes, sheet: BiffSheet) -> None:
        """Put the texts of comments and boxes together: an object, its text's length, then the text in pieces."""
        if kind == OBJECT:
            self._object = struct.unpack_from("<H", body, 6)[0]
        elif kind == TEXT_OBJECT:
            self._n_text, self._text = struct.unpack_from("<H", body, 10)[0], ""
        elif kind == CONTINUE and self._n_text > len(self._text):
            self._text += _string(body, self._n_text - len(self._text))
            if len(self._text) >= self._n_text:
                sheet.texts[self._object] = one_line(self._text)
                self._n_text, self._text = 0, ""
        elif kind == NOTE:
            row, column, _, number, length = struct.unpack_from("<5H", body)
            sheet.notes.append((row + 1, column + 1, number, one_line(_string(body[10:], length))))


def _records(stream: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield kind, place and body of each record."""
    at = 0
    while at + 4 <= len(stream):
        kind, length = struct.unpack_from("<2H", stream, at)
        yield kind, at, stream[at + 4 : at + 4 + length]
        at += 4 + length


def _string(body: bytes, n_chars: int) -> str:
    """Return characters behind a byte that tells whether they have one byte each or two."""
    if not body:
        return ""
    if body[0] & 1:
        return body[1 : 1 + 2 * n_chars].decode("utf-16-le", "replace")
    return body[1 : 1 + n_chars].decode("latin-1")
