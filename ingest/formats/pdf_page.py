"""One PDF page as lines: characters and boxes out of PDFium, words, and what is hidden. The only user of its C calls."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pypdfium2.raw as pdfium

from ingest.formats.pdf_rows import HYPHEN, Line, Word, is_row_text, lines
from ingest.formats.reading import too_large
from ingest.formats.tidy import visible

HYPHENS = (0xFFFE, 0x0002)  # how PDFium marks a hyphen that only the line's end put there
SPACES = frozenset({0x00, 0x09, 0x0A, 0x0D, 0x20, 0xA0, 0x2002, 0x2003, 0x2009, 0x3000})
BOLD = 600
INVISIBLE = 3  # text render mode: neither fill nor stroke
WHITE = 250
MIN_HEIGHT = 2.0  # points; smaller text is not meant to be read
MAX_OBJECTS = 20_000  # looked at for hidden text on one page
RTL_SHARE = 0.2
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Page:
    """A page's lines in reading order; `has_image` and `has_marks` tell an empty page from a scanned one."""

    lines: list[Line]
    height: float
    has_image: bool
    has_marks: bool


def read_page(page: Any, max_chars: int) -> Page:
    """Read an open page.

    Raises:
        RefusedError: it has more than `max_chars` characters.
    """
    text = page.get_textpage()
    try:
        n_chars = pdfium.FPDFText_CountChars(text)
        if n_chars > max_chars:
            raise too_large(f"one page has {n_chars} characters, more than the limit of {max_chars}")
        rotation = pdfium.FPDFPage_GetRotation(page)
        words = list(_words(text, n_chars, rotation))
        scan = _Scan(page, rotation)
        found = lines(words)
        if not is_row_text(found) or _is_rtl(words):
            found = _drawn(text)
        else:
            hidden = scan.hidden(text, words)
            found = [replace(line, bold=_is_bold(text, line), hidden=_in(line, hidden)) for line in found]
        return Page(found, page.get_height(), scan.n_images > 0, scan.n_objects > 0)
    finally:
        text.close()


def _words(text: Any, n_chars: int, rotation: int) -> Iterator[Word]:
    box = pdfium.FS_RECTF()
    chars: list[str] = []
    x0 = y0 = x1 = y1 = 0.0
    start = 0
    for i in range(n_chars):
        code = pdfium.FPDFText_GetUnicode(text, i)
        if code in SPACES:
            if chars:
                yield _word(chars, (x0, y0, x1, y1), start)
                chars = []
            continue
        char = HYPHEN if code in HYPHENS else chr(code) if code < 0x110000 else ""
        if not pdfium.FPDFText_GetLooseCharBox(text, i, ctypes.byref(box)):
            continue
        left, top, right, bottom = _upright(box, rotation)
        if chars and _is_apart((x0, y0, x1, y1), (left, top, right, bottom)):
            yield _word(chars, (x0, y0, x1, y1), start)
            chars = []
        if chars:
            x0, y0, x1, y1 = min(x0, left), min(y0, top), max(x1, right), max(y1, bottom)
        else:
            x0, y0, x1, y1, start = left, top, right, bottom, i
        chars.append(char)
    if chars:
        yield _word(chars, (x0, y0, x1, y1), start)


def _upright(box: Any, rotation: int) -> Box:
    """Return (left, top, right, bottom) with y down, as the page is shown."""
    if rotation == 1:
        return box.bottom, box.left, box.top, box.right
    if rotation == 2:
        return -box.right, box.bottom, -box.left, box.top
    if rotation == 3:
        return -box.top, -box.right, -box.bottom, -box.left
    return box.left, -box.top, box.right, -box.bottom


def _is_apart(word: Box, char: Box) -> bool:
    """Tell a jump of the pen: another line, a gap, or a step back by more than an overlap."""
    height = max(word[3] - word[1], char[3] - char[1], 0.1)
    down = abs((word[1] + word[3]) - (char[1] + char[3])) / 2
    return down > 0.6 * height or char[0] - word[2] > 0.5 * height or char[0] < word[0] - 0.3 * height


def _word(chars: list[str], box: Box, start: int) -> Word:
    text = "".join(chars)
    if any("\ud800" <= ch <= "\udfff" for ch in chars):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    ends = text.endswith(HYPHEN)
    return Word(visible(text) + (HYPHEN if ends else ""), *box, start)


def _is_rtl(words: Sequence[Word]) -> bool:
    letters = [ch for word in words for ch in word.text if ch.isalpha()]
    rtl = sum("\u0590" <= ch <= "\u08ff" or "\ufb1d" <= ch <= "\ufefc" for ch in letters)
    return rtl > RTL_SHARE * len(letters) if letters else False


def _drawn(text: Any) -> list[Line]:
    """Return PDFium's own lines, in drawing order, with boxes stacked top down."""
    raw = text.get_text_range().replace("\ufffe", HYPHEN).replace("\r\n", "\n")
    rows = [row.strip() for row in raw.split("\n")]
    return [
        Line((visible(row) + (HYPHEN if row.endswith(HYPHEN) else ""),), 0.0, i * 12.0, 500.0, i * 12.0 + 10, 10.0)
        for i, row in enumerate(rows)
        if row
    ]


def _is_bold(text: Any, line: Line) -> bool:
    return all(pdfium.FPDFText_GetFontWeight(text, index) >= BOLD for index in (line.index, line.last))


def _in(line: Line, hidden: Sequence[Word]) -> bool:
    return any(line.y0 <= word.middle <= line.y1 and line.x0 <= word.x0 <= line.x1 for word in hidden)


class _Scan:
    """What is drawn on a page besides text, and which of the text cannot be seen."""

    def __init__(self, page: Any, rotation: int) -> None:
        self.n_objects = pdfium.FPDFPage_CountObjects(page)
        self.n_images = 0
        self._rotation = rotation
        self._is_suspect = False
        self._backs: list[Box] = []
        frame = pdfium.FS_RECTF()
        pdfium.FPDF_GetPageBoundingBox(page, ctypes.byref(frame))
        self._frame = _upright(frame, rotation)
        for i in range(min(self.n_objects, MAX_OBJECTS)):
            self._look(pdfium.FPDFPage_GetObject(page, i))

    def hidden(self, text: Any, words: Sequence[Word]) -> list[Word]:
        """Return the words that a reader of the page cannot see.

        Invisible text over an image is the text layer of a scan; white text counts only where most is not white
        and nothing dark lies behind it.
        """
        out = [word for word in words if self._is_off(word)]
        if not self._is_suspect:
            return out
        unseen = [word for word in words if not self.n_images and _mode(text, word.index) == INVISIBLE]
        white = [word for word in words if _is_white_char(text, word.index) and not self._is_backed(word)]
        return out + unseen + (white if len(white) * 2 < len(words) else [])

    def _look(self, item: Any) -> None:
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            mode = pdfium.FPDFTextObj_GetTextRenderMode(item)
            self._is_suspect = self._is_suspect or mode == INVISIBLE or _is_white_object(item)
            return
        self.n_images += kind == pdfium.FPDF_PAGEOBJ_IMAGE
        is_path = kind == pdfium.FPDF_PAGEOBJ_PATH
        if kind == pdfium.FPDF_PAGEOBJ_FORM:
            self._is_suspect = True  # its text is not looked at here, but word by word
        if not (is_path and _is_white_object(item)):
            left, bottom, right, top = (ctypes.c_float() for _ in range(4))
            if pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
                box = pdfium.FS_RECTF(left=left.value, top=top.value, right=right.value, bottom=bottom.value)
                self._backs.append(_upright(box, self._rotation))

    def _is_off(self, word: Word) -> bool:
        left, top, right, bottom = self._frame
        outside = word.x1 < left or word.x0 > right or word.y1 < top or word.y0 > bottom
        return outside or 0 < word.height < MIN_HEIGHT

    def _is_backed(self, word: Word) -> bool:
        x = (word.x0 + word.x1) / 2
        return any(left <= x <= right and top <= word.middle <= bottom for left, top, right, bottom in self._backs)


def _mode(text: Any, index: int) -> int:
    item = pdfium.FPDFText_GetTextObject(text, index)
    return int(pdfium.FPDFTextObj_GetTextRenderMode(item)) if item else 0


def _is_white_object(item: Any) -> bool:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    found = pdfium.FPDFPageObj_GetFillColor(item, red, green, blue, alpha)
    return bool(found) and min(red.value, green.value, blue.value) >= WHITE


def _is_white_char(text: Any, index: int) -> bool:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    found = pdfium.FPDFText_GetFillColor(text, index, red, green, blue, alpha)
    return bool(found) and min(red.value, green.value, blue.value) >= WHITE
