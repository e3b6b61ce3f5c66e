"""Old Word documents (DOC, Word 6 to 2003): paragraphs, headings, tables, notes, comments, boxes and page margins.

Pages are not known: they need Word's layout.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingest.formats.doc_format import DROPPED, HIDDEN_TEXT, SHOWN, WHITE_TEXT, DocFormat, Paragraph
from ingest.formats.doc_numbering import DocNumbering
from ingest.formats.doc_text import (
    BOXES,
    COMMENTS,
    ENDNOTES,
    FOOTNOTES,
    HEADER_BOXES,
    HEADERS,
    LIST_NUMBERS,
    LISTS,
    MAIN,
    NOTE_PLACES,
    DocText,
)
from ingest.formats.headings import Headings
from ingest.formats.ole import Ole
from ingest.formats.reading import Reading, damaged
from ingest.formats.table import looks_like_header, row_text
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits
from ingest.locator import Locator
from ingest.unit import HIDDEN, Unit, UnitKind

CELL = "\x07"
MARK = re.compile("[\r\x07\x0c]")
FIELD_MARK = re.compile("[\x13\x14\x15]")
# Pictures and drawings, note numbers, annotation marks; line and column ends; two hyphens.
SPECIAL = str.maketrans(
    {1: "", 2: "", 5: "", 8: "", 11: "\n", 14: "\n", 0x13: "", 0x14: "", 0x15: "", 0x1E: "-", 0x1F: ""}
)
SURROGATE = re.compile("[\ud800-\udfff]")
NOTE_NAMES = {FOOTNOTES: "Footnote", ENDNOTES: "Endnote", COMMENTS: "Comment"}
MAX_HEADING = 250
MAX_CELL = 1500  # characters; a table with a longer cell lays out a page, and is read as paragraphs
MAX_NOTES = 50_000


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read an old Word document.

    Raises:
        RefusedError: it is locked, broken, over a limit, or of a Word that is not read.
    """
    ole = Ole(data, limits)
    try:
        walk = _Walk(DocText(ole, limits.legacy_encoding))
        units = list(walk.units())
    except struct.error as error:
        raise damaged("an inner table of it is cut off: open it in Word and save it as DOCX") from error
    return Reading(units, walk.title or _property_title(ole) or _first_heading(units))


def _property_title(ole: Ole) -> str:
    title = ole.title()
    return "" if title.lower().startswith(("microsoft word", "untitled", "document")) else title


def _first_heading(units: Sequence[Unit]) -> str:
    return next((unit.text for unit in units if unit.kind is UnitKind.HEADING), "")


@dataclass(slots=True)
class _Table:
    """A table while it is read: finished rows of cells of paragraphs, the row begun, the cell begun, hidden words."""

    rows: list[list[list[str]]] = field(default_factory=list)
    cells: list[list[str]] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)

    def end_cell(self) -> None:
        self.cells.append(self.cell)
        self.cell = []

    def end_row(self) -> None:
        if any(self.cells):
            self.rows.append(self.cells)
        self.cells = []


class _Walk:
    """Turns paragraphs into units and keeps what counts along the way: headings, the table begun, note numbers."""

    def __init__(self, text: DocText) -> None:
        self._text = text
        self._format = DocFormat(text)
        self._states = self._format.shown()
        self._headings = Headings()
        self._numbering = DocNumbering(text.place(LISTS, to_end=True), text.place(LIST_NUMBERS))
        self._notes = {position: note for kind in NOTE_PLACES for position, note in self._note_texts(kind)}
        self._note_positions = sorted(self._notes)
        self._next_note = 0
        self.title = ""

    def units(self) -> Iterator[Unit]:
        """Read the whole file: the text with its notes, then text boxes, then headers and footers once each."""
        for sub_document in (MAIN, BOXES):
            self._drop_field_codes(*self._text.span(sub_document))
            yield from self._blocks(*self._text.span(sub_document))
            self._headings = Headings()
        seen = set()
        for sub_document in (HEADERS, HEADER_BOXES):
            for text in self._lines(*self._text.span(sub_document)):
                if len(text) > 3 and text not in seen:
                    seen.add(text)
                    yield Unit(text, Locator())

    def _blocks(self, start: int, end: int) -> Iterator[Unit]:
        table = _Table()
        for first, mark in self._paragraphs(start, end):
            form = self._format.paragraph(mark)
            is_cell = mark < end and self._text.text[mark] == CELL
            if is_cell or form.in_table:
                self._into(table, first, mark, is_cell, form)
                continue
            yield from self._rows(table)
            table = _Table()
            yield from self._paragraph(first, mark, form)
            yield from self._notes_before(mark)
        yield from self._rows(table)
        yield from self._notes_before(end)

    def _into(self, table: _Table, first: int, mark: int, is_cell: bool, form: Paragraph) -> None:
        text = self._said(
            first, mark, SHOWN, WHITE_TEXT
        )  # the ground of cells is mostly dark where words are white
        # Word 6 and 95 do not tell us: there a cell without text after another cell's end ends the row.
        ends_row = form.row_end if self._format.is_known else bool(table.cells)
        if is_cell and ends_row and not text and not table.cell:
            table.end_row()
            return
        table.cell += [text] if text else []
        if hidden := self._said(first, mark, HIDDEN_TEXT):
            table.hidden.append(hidden)
        if is_cell:
            table.end_cell()

    def _rows(self, table: _Table) -> Iterator[Unit]:
        if table.cell:
            table.end_cell()
        table.end_row()
        rows = [[" ".join(cell) for cell in row] for row in table.rows]
        if max(map(len, rows), default=0) < 2 or any(len(cell) > MAX_CELL for row in rows for cell in row):
            for text in (text for row in table.rows for cell in row for text in cell):
                yield Unit(text, self._locator())
        else:
            header = row_text(rows[0]) if looks_like_header(rows[0], rows[1:]) else ""
            for number, row in enumerate(rows[1:] if header else rows, 1):
                yield Unit(row_text(row), self._locator((number, number)), UnitKind.TABLE_ROW, header)
        for text in table.hidden:
            yield Unit(text, self._locator(), flags=frozenset({HIDDEN}))

    def _paragraph(self, first: int, mark: int, form: Paragraph) -> Iterator[Unit]:
        if text := self._said(first, mark, SHOWN, *([WHITE_TEXT] if form.shaded else [])):
            kind = UnitKind.PARAGRAPH
            if form.list_number:
                text, kind = f"{self._numbering.label(form)} {text}".strip(), UnitKind.LIST_ITEM
            if form.level is not None and len(text) <= MAX_HEADING:
                kind = UnitKind.HEADING
                self._enter(form.level, text)
            yield Unit(text, self._locator(), kind)
        if hidden := self._said(first, mark, HIDDEN_TEXT, *([] if form.shaded else [WHITE_TEXT])):
            yield Unit(hidden, self._locator(), flags=frozenset({HIDDEN}))

    def _enter(self, level: int, text: str) -> None:
        if level:
            self._headings.enter(level, text)
        elif not self.title:
            self.title = text

    def _locator(self, rows: tuple[int, int] | None = None) -> Locator:
        return Locator(heading=self._headings.path, rows=rows)

    def _notes_before(self, end: int) -> Iterator[Unit]:
        while self._next_note < len(self._note_positions) and self._note_positions[self._next_note] < end:
            text = self._notes[self._note_positions[self._next_note]]
            self._next_note += 1
            if text:
                yield Unit(text, self._locator())

    def _note_texts(self, kind: int) -> Iterator[tuple[int, str]]:
        """Yield (position of the mark in the text, "Footnote 1: …") for each note of a kind."""
        marks, texts = (self._text.place(number) for number in NOTE_PLACES[kind])
        start, end = self._text.span(kind)
        n_notes = min(max(0, len(texts) // 4 - 2), len(marks) // 4, MAX_NOTES)
        positions = struct.unpack_from(f"<{n_notes}I", marks, 0)
        bounds = struct.unpack_from(f"<{n_notes + 1}I", texts, 0) if n_notes else ()
        for i, position in enumerate(positions):
            said = " ".join(self._lines(min(start + bounds[i], end), min(start + bounds[i + 1], end)))
            yield position, f"{NOTE_NAMES[kind]} {i + 1}: {said}" if said else ""

    def _paragraphs(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield (first character, mark) of each paragraph; the mark may be missing at the end."""
        for found in MARK.finditer(self._text.text, start, end):
            yield start, found.start()
            start = found.end()
        if start < end:
            yield start, end

    def _lines(self, start: int, end: int) -> Iterator[str]:
        self._drop_field_codes(start, end)
        for first, mark in self._paragraphs(start, end):
            if text := self._said(first, mark, SHOWN, WHITE_TEXT):
                yield text

    def _said(self, first: int, mark: int, *wanted: int) -> str:
        """Return the tidy text of some states between two positions."""
        text, states = self._text.text[first:mark], self._states[first:mark]
        if sum(map(states.count, wanted)) < len(states):
            text = "".join(ch for ch, own in zip(text, states, strict=True) if own in wanted)
        if SURROGATE.search(text):
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return one_line(text.translate(SPECIAL))

    def _drop_field_codes(self, start: int, end: int) -> None:
        """Mark what a field is made from ("HYPERLINK …", "TOC …"); what it shows stays.

        A field is 0x13 code 0x14 result 0x15, and fields nest. A code that never ends is text.
        """
        codes: list[int] = []  # of the fields open here, where the code began, or -1 past it
        for found in FIELD_MARK.finditer(self._text.text, start, end):
            if found.group() == "\x13":
                codes.append(found.start())
                continue
            if codes and codes[-1] >= 0:
                begin = codes[-1]
                self._states[begin : found.start()] = bytes([DROPPED]) * (found.start() - begin)
                codes[-1] = -1
            if codes and found.group() == "\x15":
                codes.pop()
