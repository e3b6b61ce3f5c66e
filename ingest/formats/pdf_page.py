"""One PDF page as lines: characters and boxes out of PDFium, words, and what is hidden. Most C calls are here."""

from __future__ import annotations

import ctypes
import math
import re
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
BOLD_NAME = re.compile(rb"bold|black|heavy", re.IGNORECASE)
INVISIBLE = 3  # text render mode: neither fill nor stroke
WHITE = 250
MIN_HEIGHT = 2.0  # points; smaller text is not meant to be read
MAX_BACKS = 1_000  # areas that white text is compared with
MAX_OBJECTS = 20_000  # looked at for hidden text on one page
RTL_SHARE = 0.2
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Page:
    """A page's lines in reading order; `has_image` and `has_marks` tell an empty page from a scanned one."""

    lines: list[Line]
    has_image: bool
    has_marks: bool


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
        scan = _Scan(page)
        found: list[Line] = []
        for turn, words in _by_direction(text, n_chars):
            own = lines(words)
            if not is_row_text(own) or _is_rtl(words):
                return Page(_drawn(textpage), scan.n_images > 0, scan.n_objects > 0)
            hidden = scan.hidden(text, words, turn)
            found += [replace(line, bold=_is_bold(text, line), hidden=_in(line, hidden)) for line in own]
        return Page(found, scan.n_images > 0, scan.n_objects > 0)
    finally:
        textpage.close()


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
        left, top, right, bottom = _upright(box, own)
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


def _upright(box: Any, turn: int) -> Box:
    """Return (left, top, right, bottom), y down, of a box in PDF coordinates after clockwise quarter turns."""
    if turn == 1:
        return box.bottom, box.left, box.top, box.right
    if turn == 2:
        return -box.right, box.bottom, -box.left, box.top
    if turn == 3:
        return -box.top, -box.right, -box.bottom, -box.left
    return box.left, -box.top, box.right, -box.bottom


def _word(chars: list[str], box: Box, start: int) -> Word:
    text = "".join(chars)
    if text.isascii() and text.isprintable():
        return Word(text, *box, start)
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
        Line(
            (visible(row) + (HYPHEN if row.endswith(HYPHEN) else ""),),
            0.0,
            i * 12.0,
            500.0,
            i * 12.0 + 10,
            10.0,
        )
        for i, row in enumerate(rows)
        if row
    ]


def _is_bold(text: Any, line: Line) -> bool:
    return all(_is_bold_char(text, index) for index in (line.index, line.last))


def _is_bold_char(text: Any, index: int) -> bool:
    if pdfium.FPDFText_GetFontWeight(text, index) >= BOLD:
        return True
    # The standard fonts have no descriptor to read a weight from, only a name.
    name = ctypes.create_string_buffer(128)
    pdfium.FPDFText_GetFontInfo(text, index, name, len(name), ctypes.c_int())
    return BOLD_NAME.search(name.value) is not None


def _in(line: Line, hidden: Sequence[Word]) -> bool:
    return any(line.y0 <= word.middle <= line.y1 and line.x0 <= word.x0 <= line.x1 for word in hidden)


class _Scan:
    """What is drawn on a page besides text, and which of the text cannot be seen."""

    def __init__(self, page: Any) -> None:
        self.n_objects = pdfium.FPDFPage_CountObjects(page)
        self.n_images = 0
        self._is_suspect = False
        self._backs: list[Any] = []
        self._frame = pdfium.FS_RECTF()
        pdfium.FPDF_GetPageBoundingBox(page, self._frame)
        for i in range(min(self.n_objects, MAX_OBJECTS)):
            self._look(pdfium.FPDFPage_GetObject(page, i))

    def hidden(self, text: Any, words: Sequence[Word], turn: int) -> list[Word]:
        """Return the words that a reader of the page cannot see.

        Invisible text over an image is the text layer of a scan; white text counts only where most is not white
        and nothing dark lies behind it.
        """
        frame = _upright(self._frame, turn)
        out = [word for word in words if _is_off(word, frame)]
        if not self._is_suspect:
            return out
        unseen = [word for word in words if not self.n_images and _mode(text, word.index) == INVISIBLE]
        white = [word for word in words if _is_white(pdfium.FPDFText_GetFillColor, text, word.index)]
        if len(white) * 2 >= len(words):
            return out + unseen
        backs = [_upright(box, turn) for box in self._backs]
        return out + unseen + [word for word in white if not _is_backed(word, backs)]

    def _look(self, item: Any) -> None:
        kind = pdfium.FPDFPageObj_GetType(item)
        is_white = _is_white(pdfium.FPDFPageObj_GetFillColor, item)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            invisible = pdfium.FPDFTextObj_GetTextRenderMode(item) == INVISIBLE
            self._is_suspect = self._is_suspect or invisible or is_white
            return
        self.n_images += kind == pdfium.FPDF_PAGEOBJ_IMAGE
        if kind == pdfium.FPDF_PAGEOBJ_FORM:
            self._is_suspect = True  # the text in it is not looked at here, but word by word
        if not (kind == pdfium.FPDF_PAGEOBJ_PATH and is_white) and len(self._backs) < MAX_BACKS:
            left, bottom, right, top = (ctypes.c_float() for _ in range(4))
            if pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
                self._backs.append(pdfium.FS_RECTF(left.value, top.value, right.value, bottom.value))


def _is_off(word: Word, frame: Box) -> bool:
    left, top, right, bottom = frame
    outside = word.x1 < left or word.x0 > right or word.y1 < top or word.y0 > bottom
    return outside or 0 < word.height < MIN_HEIGHT


def _is_backed(word: Word, backs: Sequence[Box]) -> bool:
    x = (word.x0 + word.x1) / 2
    return any(left <= x <= right and top <= word.middle <= bottom for left, top, right, bottom in backs)


def _mode(text: Any, index: int) -> int:
    item = pdfium.FPDFText_GetTextObject(text, index)
    return int(pdfium.FPDFTextObj_GetTextRenderMode(item)) if item else 0


def _is_white(get: Any, *what: Any) -> bool:
    """Ask one of PDFium's two fill colour calls, whose last four arguments are the colour."""
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    return bool(get(*what, red, green, blue, alpha)) and min(red.value, green.value, blue.value) >= WHITE
