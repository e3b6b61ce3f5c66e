"""One page of a PDF, read by OCR: drawn in grey, within bounds that are checked before anything is drawn."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image

from ingest.formats import ocr, ocr_text
from ingest.formats.pdf import page_label
from ingest.formats.pdf_objects import Objects
from ingest.formats.pdf_open import open_at_all
from ingest.formats.reading import Reading, damaged, too_large
from ingest.limits import ParseLimits

# Of 10 pages of digital PDFs drawn and read, words right (2026-11-30): 150 dpi 94.2 %, 200 97.4, 250 97.1, 300 96.5,
# 350 97.2; 250 took the least time. Scans are read best at the resolution that they were made in.
DPI = 250
MIN_DPI, MAX_DPI = 200, 300
MAX_PIXELS = 200_000_000  # of one image on the page: a scan of A0 at 300 dpi has 140 million
MAX_OBJECTS = 20_000
MAX_DEPTH = 4  # forms in forms


def read_page(data: bytes, page: int, limits: ParseLimits) -> Reading:
    """Read a page, from 1, of a PDF that may be broken.

    Raises:
        RefusedError: there is no such page, it cannot be drawn within bounds, or OCR is not installed.
    """
    with closing(open_at_all(data)) as document:
        document.init_forms()  # what people filled in is drawn too
        try:
            opened = document[page - 1]
        except (pypdfium2.PdfiumError, IndexError) as error:
            raise damaged("this page is broken") from error
        with closing(opened):
            image = _drawn(opened, limits)
        label = page_label(document, page - 1)
    seen = ocr.recognise(image, limits)
    return Reading(ocr_text.units(seen.words, page, label), notes=seen.notes)


def _drawn(page: Any, limits: ParseLimits) -> Image.Image:
    """Return the page in grey, its longest side `ocr_max_side` pixels at most."""
    pixels = list(_pixels(page))
    largest = max(pixels, default=0)
    if largest > MAX_PIXELS:
        raise too_large(f"an image on the page has {largest // 1_000_000} million pixels")
    width, height = page.get_size()
    scale = min(_dpi(page, sum(pixels)) / 72, limits.ocr_max_side / max(width, height, 1.0))
    try:
        bitmap = page.render(scale=scale, grayscale=True)
    except (pypdfium2.PdfiumError, ValueError) as error:
        raise damaged("this page cannot be drawn") from error
    with closing(bitmap):
        size = bitmap.width, bitmap.height
        return Image.frombytes("L", size, bytes(bitmap.buffer), "raw", "L", bitmap.stride, 1)


def _dpi(page: Any, n_pixels: int) -> float:
    """Return the resolution to draw a page in: its picture's own where it is one."""
    width, height = page.get_size()
    if not (n_pixels and Objects(page).is_picture):
        return DPI
    return min(MAX_DPI, max(MIN_DPI, 72 * math.sqrt(n_pixels / max(width * height, 1.0))))


def _pixels(page: Any) -> Iterator[int]:
    """Yield the number of pixels of each image on a page, those inside forms too."""
    n_objects = min(pdfium.FPDFPage_CountObjects(page), MAX_OBJECTS)
    waiting = [(pdfium.FPDFPage_GetObject(page, i), 0) for i in range(n_objects)]
    n_seen = 0
    while waiting and n_seen < MAX_OBJECTS:
        item, depth = waiting.pop()
        n_seen += 1
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            width, height = ctypes.c_uint(), ctypes.c_uint()
            if pdfium.FPDFImageObj_GetImagePixelSize(item, width, height):
                yield width.value * height.value
        elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < MAX_DEPTH:
            n_inside = min(max(0, pdfium.FPDFFormObj_CountObjects(item)), MAX_OBJECTS - len(waiting))
            waiting += [(pdfium.FPDFFormObj_GetObject(item, i), depth + 1) for i in range(n_inside)]
