"""One PDF page as lines: characters and boxes out of PDFium, words, lines in reading order."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import pypdfium2.raw as pdfium

from ingest.formats.pdf_objects import Box, Objects, upright
from ingest.formats.pdf_rows import HYPHEN, Line, Word, is_row_text, lines
from ingest.formats.reading import too_large
from ingest.formats.tidy import visible

HYPHENS = (0xFFFE, 0x0002)  # how PDFium marks a hyphen that only the line's end put there
SPACES = frozenset({0x00, 0x09, 0x0A, 0x0D, 0x20, 0xA0, 0x2002, 0x2003, 0x2009, 0x3000})
LINE_END = 0x0A
BOLD = 600
BOLD_NAME = re.compile(rb"bold|black|heavy", re.IGNORECASE)
RTL_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Page:
    """A page's lines in reading order, hidden ones last.

    Attributes:
        has_image, has_marks: tell an empty page from one with text that cannot be read.
        is_picture: images cover nearly all of it.
    """

    lines: list[Line]
    has_image: bool = False
    has_marks: bool = False
    is_picture: bool = False


def read_page(page: Any, max_chars: int) -> Page:
    """Read an open page.

    Raises:
        RefusedError: it has more than `max_chars` characters.
    """
    textpage = page.get_textpage()
    text = textpage.raw
    try:
        n_chars = pdfium.FPDFText_CountChars(text)
        if n_chars > max_chars:
            raise too_large(f"one page has {n_chars} characters, more than the limit of {max_chars}")
        objects = Objects(page)
        found = _lines(text, n_chars, objects)
        return Page(found, objects.n_images > 0, objects.n_objects > 0, objects.is_picture)
    finally:
        textpage.close()


def _lines(text: Any, n_chars: int, objects: Objects) -> list[Line]:
    seen: list[Line] = []
    unseen: list[Line] = []
    groups = _by_direction(text, n_chars)
    hidden = {index for turn, words in groups for index in objects.hidden(text, words, turn)}
    for turn, words in groups:
        own = lines([word for word in words if word.index not in hidden])
        if turn == groups[0][0] and (not is_row_text(own) or _is_rtl(words)):
            return _drawn(text, n_chars, hidden)
        seen += [replace(line, bold=_is_bold(text, line)) for line in own]
        # Apart from the others: a number beside the page would else hide the line that it stands level with.
        unseen += [
            replace(line, hidden=True) for line in lines([word for word in words if word.index in hidden])
        ]
    return seen + unseen


def _by_direction(text: Any, n_chars: int) -> list[tuple[int, list[Word]]]:
    """Return (quarter turns, words) for each direction of writing, the most frequent first.

    A stamp along the side of a page would otherwise stand in the middle of its lines; a table drawn sideways is
    read as if the page were turned.
    """
    groups: dict[int, list[Word]] = {}
    for turn, word in _words(text, n_chars):
        groups.setdefault(turn, []).append(word)
    return sorted(groups.items(), key=lambda group: -sum(len(word.text) for word in group[1]))


def _words(text: Any, n_chars: int) -> Iterator[tuple[int, Word]]:
    """Yield (quarter turns, word), its box as it stands when the text is upright."""
    box = pdfium.FS_RECTF()
    get_unicode, get_box, get_angle = (
        pdfium.FPDFText_GetUnicode,
        pdfium.FPDFText_GetLooseCharBox,
        pdfium.FPDFText_GetCharAngle,
    )
    chars: list[str] = []
    x0 = y0 = x1 = y1 = 0.0
    start = turn = 0
    for i in range(n_chars):
        code = get_unicode(text, i)
        if code in SPACES:
            if chars:
                yield turn, _word(chars, (x0, y0, x1, y1), start)
                chars = []
            continue
        if not get_box(text, i, box):
            continue
        is_hyphen = code in HYPHENS
        own = turn if is_hyphen and chars else _turn(get_angle(text, i))
        left, top, right, bottom = upright(box, own)
        if chars and (own != turn or _is_apart(x0, y0, x1, y1, left, top, bottom)):
            yield turn, _word(chars, (x0, y0, x1, y1), start)
            chars = []
        if not chars:
            x0, y0, x1, y1, start, turn = left, top, right, bottom, i, own
        # Plain comparisons: this loop runs once a character, and is half the time a PDF takes.
        if left < x0:
            x0 = left
        if top < y0:
            y0 = top
        if right > x1:
            x1 = right
        if bottom > y1:
            y1 = bottom
        chars.append(HYPHEN if is_hyphen else chr(code) if code < 0x110000 else "")
    if chars:
        yield turn, _word(chars, (x0, y0, x1, y1), start)


def _is_apart(x0: float, y0: float, x1: float, y1: float, left: float, top: float, bottom: float) -> bool:
    """Tell a jump of the pen from a word's box to a character: another line, a gap, or a step back."""
    height = max(y1 - y0, bottom - top, 0.1)
    down = abs((y0 + y1) - (top + bottom)) / 2
    return down > 0.6 * height or left - x1 > 0.5 * height or left < x0 - 0.3 * height


def _turn(angle: float) -> int:
    """Return the clockwise quarter turns that bring text upright; PDFium's angle is clockwise, in radians."""
    if not angle:
        return 0
    return -round(angle / (math.pi / 2)) % 4 if angle >= 0 else 0


def _word(chars: list[str], box: Box, start: int) -> Word:
    text = "".join(chars)
    if text.isascii() and text.isprintable():
        return Word(text, *box, start)
    ends = text.endswith(HYPHEN)
    return Word(visible(_joined(text)) + (HYPHEN if ends else ""), *box, start)


def _joined(text: str) -> str:
    """Return a text with its surrogate pairs as the characters that they mean."""
    if any("\ud800" <= ch <= "\udfff" for ch in text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return text


def _is_rtl(words: Sequence[Word]) -> bool:
    letters = [ch for word in words for ch in word.text if ch.isalpha()]
    rtl = sum("\u0590" <= ch <= "\u08ff" or "\ufb1d" <= ch <= "\ufefc" for ch in letters)
    return rtl > RTL_SHARE * len(letters) if letters else False


def _drawn(text: Any, n_chars: int, hidden: Set[int]) -> list[Line]:
    """Return PDFium's own lines, in drawing order, with boxes stacked top down."""
    found: list[Line] = []
    chars: list[str] = []
    start = 0
    for i in range(n_chars + 1):
        code = pdfium.FPDFText_GetUnicode(text, i) if i < n_chars else LINE_END
        if code != LINE_END:
            chars.append(HYPHEN if code in HYPHENS else chr(code) if code < 0x110000 else "")
            continue
        row = "".join(chars).strip(" \t\r")
        if row:
            y = len(found) * 12.0
            unseen = any(index in hidden for index in range(start, i))
            row = visible(_joined(row)) + (HYPHEN if row.endswith(HYPHEN) else "")
            found.append(Line((row,), 0.0, y, 500.0, y + 10, 10.0, hidden=unseen))
        chars, start = [], i + 1
    return found


def _is_bold(text: Any, line: Line) -> bool:
    return all(_is_bold_char(text, index) for index in (line.index, line.last))


def _is_bold_char(text: Any, index: int) -> bool:
    if pdfium.FPDFText_GetFontWeight(text, index) >= BOLD:
        return True
    # The standard fonts have no descriptor to read a weight from, only a name.
    name = ctypes.create_string_buffer(128)
    pdfium.FPDFText_GetFontInfo(text, index, name, len(name), ctypes.c_int())
    return BOLD_NAME.search(name.value) is not None
