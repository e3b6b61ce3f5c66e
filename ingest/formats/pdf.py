"""PDFs with a text layer: pages, headings, paragraphs and table rows. Scans are reported, not read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from ingest.formats.pdf_page import Page, read_page
from ingest.formats.pdf_text import Outline, paragraphs, squashed
from ingest.formats.reading import Reading, RefusedError, damaged, too_large
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits
from ingest.unit import Outcome, Unit, UnitKind

MIN_PAGE_CHARS = 8  # fewer are a page number on a scan
MAX_BOOKMARKS = 5_000
VOWELS = frozenset("aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýœ")
JUNK_TITLES = (
    "(anonymous)",
    "(unspecified)",
    "microsoft word",
    "untitled",
    "document",
    "powerpoint",
    "microsoft powerpoint",
)


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a PDF's text layer.

    Raises:
        RefusedError: it has a password, is broken, has too many pages, or holds pictures of text only.
    """
    with closing(_open(data)) as document:
        n_pages = len(document)
        if n_pages > limits.max_pages:
            raise too_large(f"it has {n_pages} pages, more than the limit of {limits.max_pages}")
        pages = [_read(document, i, limits) for i in range(n_pages)]
        outline = _outline(document)
        labels = [_label(document, i) for i in range(n_pages)]
        title = _title(document)
    texts = [page if _is_plausible(page) else None for page in pages]
    if not any(texts):
        if any(page and (page.has_image or page.has_marks) for page in pages):
            raise RefusedError(
                Outcome.NEEDS_OCR, "its pages are pictures of text (a scan): reading scans is not installed"
            )
        return Reading([], title, n_pages)
    units = list(paragraphs(texts, labels, outline))
    return Reading(units, title or _first_heading(units), n_pages)


def _open(data: bytes) -> pypdfium2.PdfDocument:
    start = data.find(b"%PDF-")
    try:
        return pypdfium2.PdfDocument(data[start:] if start > 0 else data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD:
            raise RefusedError(
                Outcome.NEEDS_PASSWORD, "it has a password: save a copy without one"
            ) from error
        raise damaged(
            "the file is cut off or broken; if it is still being copied, it is read again when it is whole"
        ) from error


def _read(document: Any, i: int, limits: ParseLimits) -> Page | None:
    """Read one page; None where PDFium cannot open it, as in a file that was cut off and mended."""
    try:
        page = document[i]
    except pypdfium2.PdfiumError:
        return None
    with closing(page):
        try:
            return read_page(page, limits.max_page_chars)
        except pypdfium2.PdfiumError:
            return None


def _label(document: Any, i: int) -> str | None:
    try:
        label = one_line(document.get_page_label(i))
    except (pypdfium2.PdfiumError, UnicodeDecodeError):
        return None
    return label if label and label != str(i + 1) and len(label) <= 20 else None


def _outline(document: Any) -> Outline:
    """Return the bookmarks as page index → (level from 1, squashed title)."""
    outline: Outline = {}
    try:
        for mark in islice(document.get_toc(), MAX_BOOKMARKS):
            target = mark.get_dest()
            index = target.get_index() if target is not None else None
            title = squashed(mark.get_title())
            if index is not None and title:
                outline.setdefault(index, []).append((mark.level + 1, title))
    except (pypdfium2.PdfiumError, UnicodeDecodeError, RecursionError):
        return outline  # a broken outline costs headings, not the text
    return outline


def _title(document: Any) -> str:
    try:
        title = one_line(document.get_metadata_value("Title"))
    except (pypdfium2.PdfiumError, UnicodeDecodeError):
        return ""
    junk = title.lower().startswith(JUNK_TITLES) or title.lower().endswith(
        (".doc", ".docx", ".indd", ".pdf", ".tex")
    )
    return "" if junk or len(title) < 4 else title


def _first_heading(units: list[Unit]) -> str:
    return next((unit.text for unit in units[:50] if unit.kind is UnitKind.HEADING), "")


def _is_plausible(page: Page | None) -> bool:
    """Tell text from what a font without a character map gives: few letters, private codes, no vowels."""
    if page is None:
        return False
    chars = [ch for line in page.lines for cell in line.cells for ch in cell if not ch.isspace()]
    if not chars or (page.has_image and sum(len(line.text) for line in page.lines) < MIN_PAGE_CHARS):
        return False
    odd = sum(ch == "\ufffd" or "\ue000" <= ch <= "\uf8ff" for ch in chars)
    words = sum(ch.isalnum() or not ch.isascii() for ch in chars)
    if odd * 5 > len(chars) or words * 2 < len(chars):
        return False
    latin = [ch for ch in _lower(chars) if ch < "\u0250" and ch.isalpha()]
    return len(latin) * 2 < len(chars) or sum(ch in VOWELS for ch in latin) > 0.12 * len(latin)


def _lower(chars: list[str]) -> Iterator[str]:
    return (ch.lower() for ch in chars)
