"""What the formatting of an old Word document says of its text: headings, tables, lists, hidden and deleted words.

Reads formatted disk pages and the style sheet; fonts, colours and layout are nobody's business here.
Source: [MS-DOC] 2.9.33 (ChpxFkp), 2.9.175 (PapxFkp), 2.9.271 (STSH), 2.6 (single property modifiers).
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ingest.formats.doc_text import CHARACTER_PAGES, PARAGRAPH_PAGES, STYLES, DocText

PAGE = 512
OPERAND_BYTES = (1, 1, 2, 4, 2, 2, 0, 3)
DEFINE_TABLE, CHANGE_TABS = 0xD608, 0xC615
IN_TABLE, ROW_END, OUTLINE_LEVEL, LIST = 0x2416, 0x2417, 0x2640, 0x460B
LEVEL_IN_LIST, SHADES = 0x260A, (0x442D, 0xC64D)
ELSEWHERE = 0x6646  # too long for its page: in practice the row ends of wide tables
DELETED, VANISH, SYMBOL, COLOUR, OLD_COLOUR, HALF_POINTS = 0x0800, 0x083C, 0x6A09, 0x6870, 0x2A42, 0x4A43
WHITE, OLD_WHITE = 0x00FF_FFFF, 8
TINY = 4  # half points
TITLE_STYLE = 62
MAX_BASED_ON = 10
NO_LIST = 0xF801
SHOWN, HIDDEN_TEXT, DROPPED, WHITE_TEXT = range(4)  # white text is seen where the ground is dark


@dataclass(frozen=True, slots=True)
class Paragraph:
    """What formatting says of a paragraph.

    Attributes:
        level: 1 to 9 for headings, 0 for the document's title, None for all else.
        list_number: which list it is an item of, from 1; 0 for none.
        list_level: from 0.
        shaded: it has a ground of its own.
        row_end: this mark, if it ends a cell without text, ends a table's row; a table's other marks end cells.
    """

    level: int | None = None
    in_table: bool = False
    row_end: bool = False
    list_number: int = 0
    list_level: int = 0
    shaded: bool = False


class DocFormat:
    """Answers for paragraphs and characters by their position in the text; Word 6 and 95 say nothing."""

    def __init__(self, text: DocText) -> None:
        """Read the formatting of all paragraphs.

        Raises:
            struct.error: a table of it is cut off.
        """
        self._text = text
        self.is_known = not text.is_old
        styles = _styles(text.place(STYLES)) if self.is_known else {}
        self._styles = {number: _inherited(styles, number) for number in styles}
        runs = sorted(self._paragraph_runs()) if self.is_known else []
        self._starts = [start for start, _, _, _ in runs]
        self._runs = [(end, self._paragraph(style, changes)) for _, end, style, changes in runs]

    def paragraph(self, mark: int) -> Paragraph:
        """Return the formatting of the paragraph whose mark stands at a position."""
        offset = self._text.offset(mark)
        i = bisect_right(self._starts, offset) - 1
        return self._runs[i][1] if i >= 0 and offset < self._runs[i][0] else Paragraph()

    def shown(self) -> bytearray:
        """Return `SHOWN`, `HIDDEN_TEXT` or `DROPPED` (deleted words, symbols) for each character."""
        states = bytearray(len(self._text.text))
        runs = sorted(self._special_runs()) if self.is_known else []
        starts = [start for start, _, _ in runs]
        for piece in self._text.pieces if runs else ():
            end = piece.offset + piece.n_chars * piece.width
            i = max(0, bisect_right(starts, piece.offset) - 1)
            while i < len(runs) and runs[i][0] < end:
                first = max(0, runs[i][0] - piece.offset) // piece.width
                last = (max(piece.offset, min(end, runs[i][1])) - piece.offset) // piece.width
                if last > first:
                    place = piece.start + first
                    states[place : place + last - first] = bytes([runs[i][2]]) * (last - first)
                i += 1
        return states

    def _paragraph(self, style: int, changes: bytes) -> Paragraph:
        values = dict(_properties(changes))
        row_end = bool(values.get(ROW_END)) or ELSEWHERE in values
        shaded = any(values.get(name) for name in SHADES)
        form = _changed(self._styles.get(style, Paragraph()), values)
        return replace(form, in_table=bool(values.get(IN_TABLE)), row_end=row_end, shaded=shaded)

    def _paragraph_runs(self) -> Iterator[tuple[int, int, int, bytes]]:
        for page, first, last, i, n_runs in self._page_runs(PARAGRAPH_PAGES, 13):
            place = 2 * page[4 * (n_runs + 1) + 13 * i]
            if not place or place + 4 > PAGE:
                yield first, last, 0, b""
                continue
            length = 2 * page[place] - 1 if page[place] else 2 * page[place + 1]
            begin = place + 1 if page[place] else place + 2
            changes = page[begin : min(begin + length, PAGE)]
            style = struct.unpack_from("<H", changes, 0)[0] if len(changes) >= 2 else 0
            yield first, last, style, changes[2:]

    def _special_runs(self) -> Iterator[tuple[int, int, int]]:
        for page, first, last, i, n_runs in self._page_runs(CHARACTER_PAGES, 1):
            place = 2 * page[4 * (n_runs + 1) + i]
            if not place:
                continue
            values = dict(_properties(page[place + 1 : min(place + 1 + page[place], PAGE)]))
            if values.get(DELETED, 0) & 1 or SYMBOL in values:
                yield first, last, DROPPED
            elif values.get(VANISH, 0) & 1 or values.get(HALF_POINTS, TINY) < TINY:
                yield first, last, HIDDEN_TEXT
            elif values.get(COLOUR) == WHITE or values.get(OLD_COLOUR) == OLD_WHITE:
                yield first, last, WHITE_TEXT

    def _page_runs(self, place: int, entry_bytes: int) -> Iterator[tuple[bytes, int, int, int, int]]:
        """Yield each run of each formatted page: the page, the run's first and last offset, its number, their count."""
        table = self._text.place(place)
        n_pages = max(0, (len(table) - 4) // 8)
        numbers = struct.unpack_from(f"<{n_pages}I", table, 4 * (n_pages + 1))
        for number in dict.fromkeys(number & 0x3F_FFFF for number in numbers):
            page = self._text.stream[number * PAGE : (number + 1) * PAGE]
            n_runs = page[-1] if len(page) == PAGE else 0
            if 4 * (n_runs + 1) + entry_bytes * n_runs > PAGE:
                continue
            offsets = struct.unpack_from(f"<{n_runs + 1}I", page, 0) if n_runs else ()
            for i in range(n_runs):
                yield page, offsets[i], offsets[i + 1], i, n_runs


def _properties(changes: bytes) -> Iterator[tuple[int, int]]:
    """Yield (property, operand as a number)."""
    place = 0
    while place + 3 <= len(changes):
        (name,) = struct.unpack_from("<H", changes, place)
        size = OPERAND_BYTES[name >> 13]
        if name == DEFINE_TABLE:
            size = 1 + struct.unpack_from("<H", changes, place + 2)[0] if place + 4 <= len(changes) else 1
        elif name == CHANGE_TABS and changes[place + 2] == 255:
            return  # its length needs counting, and nothing of ours follows it
        elif not size:
            size = 1 + changes[place + 2]
        yield name, int.from_bytes(changes[place + 2 : place + 2 + size], "little")
        place += 2 + size


@dataclass(frozen=True, slots=True)
class _Style:
    builtin: int
    based_on: int
    own: dict[int, int]  # its own paragraph properties


def _styles(sheet: bytes) -> dict[int, _Style]:
    if len(sheet) < 6:
        return {}
    length, _, base = struct.unpack_from("<HHH", sheet, 0)
    place, number = 2 + length, 0
    styles = {}
    while place + 2 <= len(sheet):
        (length,) = struct.unpack_from("<H", sheet, place)
        if length:
            styles[number] = _style(sheet[place + 2 : place + 2 + length], base)
        place += 2 + length + length % 2
        number += 1
    return styles


def _style(style: bytes, base: int) -> _Style:
    if len(style) < base + 2 or base < 4:
        return _Style(0, 0x0FFF, {})
    builtin, kind = struct.unpack_from("<HH", style, 0)
    (n_letters,) = struct.unpack_from("<H", style, base)
    place = base + 2 + 2 * n_letters + 2  # the name ends with a zero
    own = {}
    if kind & 0x0F == 1 and place + 4 <= len(style):
        (length,) = struct.unpack_from("<H", style, place)
        own = dict(_properties(style[place + 4 : place + 2 + length]))
    return _Style(builtin & 0x0FFF, kind >> 4, own)


def _inherited(styles: dict[int, _Style], style: int) -> Paragraph:
    """Return the level and list of a style, looked up along what it is based on."""
    chain: list[_Style] = []
    while style in styles and len(chain) < MAX_BASED_ON:
        chain.append(styles[style])
        style = styles[style].based_on
    form = Paragraph()
    for ancestor in reversed(chain):
        if 1 <= ancestor.builtin <= 9 or ancestor.builtin == TITLE_STYLE:
            form = replace(form, level=0 if ancestor.builtin == TITLE_STYLE else ancestor.builtin)
        form = _changed(form, ancestor.own)
    return form


def _changed(form: Paragraph, values: dict[int, int]) -> Paragraph:
    """Return a style's formatting with a paragraph's own changes."""
    if OUTLINE_LEVEL in values and form.level != 0:
        own = values[OUTLINE_LEVEL]
        form = replace(form, level=own + 1 if own < 9 else None)
    if LIST in values:
        number = values[LIST]
        form = replace(form, list_number=0 if number == NO_LIST else number)
    if LEVEL_IN_LIST in values:
        form = replace(form, list_level=min(values[LEVEL_IN_LIST], 8))
    return form
