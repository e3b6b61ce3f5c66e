"""What is drawn on a PDF page besides text, and which of the text nobody can see. Reads through PDFium's C calls."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import pypdfium2.raw as pdfium

from ingest.formats.pdf_rows import Word

INVISIBLE = 3  # text render mode: neither fill nor stroke
WHITE = 250
MIN_HEIGHT = 2.0  # points; smaller text is not meant to be read
MAX_BACKS = 1_000  # areas that white text is compared with
MAX_OBJECTS = 20_000  # looked at for hidden text on one page
FULL = 0.8  # of a page that images cover in a scan
ALL_WHITE = 0.95  # of the words
Box = tuple[float, float, float, float]


def upright(box: Any, turn: int) -> Box:
    """Return (left, top, right, bottom), y down, of a box in PDF coordinates after clockwise quarter turns."""
    if turn == 1:
        return box.bottom, box.left, box.top, box.right
    if turn == 2:
        return -box.right, box.bottom, -box.left, box.top
    if turn == 3:
        return -box.top, -box.right, -box.bottom, -box.left
    return box.left, -box.top, box.right, -box.bottom


class Objects:
    """What is drawn on a page besides text, and which of the text cannot be seen."""

    def __init__(self, page: Any) -> None:
        self.n_objects = pdfium.FPDFPage_CountObjects(page)
        self.n_images = 0
        self._is_suspect = False
        self._backs: list[Any] = []  # boxes of all that is not white
        self._pictures: list[Any] = []  # of images, and of forms, which may hold images
        self._n_picture_points = 0.0
        self._frame = pdfium.FS_RECTF()
        pdfium.FPDF_GetPageBoundingBox(page, self._frame)
        for i in range(min(self.n_objects, MAX_OBJECTS)):
            self._look(pdfium.FPDFPage_GetObject(page, i))

    @property
    def is_picture(self) -> bool:
        """Whether images cover nearly all of the page, as a scan does."""
        return self._n_picture_points >= FULL * _area(self._frame) > 0

    def hidden(self, text: Any, words: Sequence[Word], turn: int) -> set[int]:
        """Return the indices of the words that a reader of the page cannot see.

        Invisible text over an image is the text layer of a scan; white text counts only where not all of it is
        white (some files say so of text that is seen), and nothing dark lies behind it.
        """
        frame = upright(self._frame, turn)
        out = {word.index for word in words if _is_off(word, frame)}
        if not self._is_suspect:
            return out
        pictures = [upright(box, turn) for box in self._pictures]
        out |= {
            word.index
            for word in words
            if _mode(text, word.index) == INVISIBLE and not _is_backed(word, pictures)
        }
        white = [word for word in words if _is_white(pdfium.FPDFText_GetFillColor, text, word.index)]
        if len(white) >= ALL_WHITE * len(words):
            return out
        backs = [upright(box, turn) for box in self._backs]
        return out | {word.index for word in white if not _is_backed(word, backs)}

    def _look(self, item: Any) -> None:
        kind = pdfium.FPDFPageObj_GetType(item)
        is_white = _is_white(pdfium.FPDFPageObj_GetFillColor, item)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            invisible = pdfium.FPDFTextObj_GetTextRenderMode(item) == INVISIBLE
            self._is_suspect = self._is_suspect or invisible or is_white
            return
        is_image, is_form = kind == pdfium.FPDF_PAGEOBJ_IMAGE, kind == pdfium.FPDF_PAGEOBJ_FORM
        self.n_images += is_image
        self._is_suspect = self._is_suspect or is_form  # the text in it is looked at word by word
        if (kind == pdfium.FPDF_PAGEOBJ_PATH and is_white) or len(self._backs) >= MAX_BACKS:
            return
        left, bottom, right, top = (ctypes.c_float() for _ in range(4))
        if not pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
            return
        box = pdfium.FS_RECTF(left.value, top.value, right.value, bottom.value)
        self._backs.append(box)
        if is_image or is_form:
            self._pictures.append(box)
            self._n_picture_points += _area(_common(box, self._frame)) if is_image else 0.0


def _common(one: Any, other: Any) -> Any:
    return pdfium.FS_RECTF(
        max(one.left, other.left), min(one.top, other.top),
        min(one.right, other.right), max(one.bottom, other.bottom),
    )  # fmt: skip


def _area(box: Any) -> float:
    return float(max(0.0, box.right - box.left) * max(0.0, box.top - box.bottom))


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
