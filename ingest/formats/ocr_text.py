"""Words that were seen in a picture to units: what is no text dropped, rows and paragraphs put together. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from ingest.formats.ocr import DPI, OcrWord, confidence
from ingest.formats.pdf_page import Page
from ingest.formats.pdf_plausible import is_text
from ingest.formats.pdf_rows import Line, Word, lines
from ingest.formats.pdf_text import paragraphs
from ingest.unit import OCR, Unit

# Mean confidence. Lines of scans have 80 and more; what Tesseract sees in photographs and drawings has 20 to 60.
MIN_LINE = 60.0
MIN_PAGE = 65.0
MIN_CHARS = 3  # letters and digits of a whole page
RULES = frozenset("|_—~=¦‖[]{}\\/<>°*'\"`´‘’“”.,:;-–•")  # what ruled lines and specks are taken for
ASIDE = 60.0  # points from one line beside the page to the next: they are no paragraph
ALIKE = 0.3  # by which heights of lines in one size of type differ, as they are measured in pictures


def units(seen: Sequence[OcrWord], page: int, label: str | None = None) -> list[Unit]:
    """Return a page's units, flagged as read from a picture; nothing where it shows no text."""
    words = list(_text_only(seen))
    text = "".join(found.word.text for found in words)
    if sum(map(str.isalnum, text)) < MIN_CHARS or confidence(words) < MIN_PAGE or not is_text(text):
        return []
    level = lines([_in_points(found) for found in words if not found.sideways])
    found = Page(_alike([*level, *_aside(words)]))
    return [
        replace(unit, locator=replace(unit.locator, page=page), flags=unit.flags | {OCR})
        for unit in paragraphs([found], [label], {})
    ]


def _text_only(seen: Sequence[OcrWord]) -> Iterator[OcrWord]:
    by_line: dict[int, list[OcrWord]] = defaultdict(list)
    for found in seen:
        if not RULES.issuperset(found.word.text):
            by_line[found.line].append(found)
    for line in by_line.values():
        if confidence(line) >= MIN_LINE:
            yield from line


def _aside(words: Sequence[OcrWord]) -> Iterator[Line]:
    """Yield the lines that run up or down the page, as if they stood above each other in a corner."""
    by_line: dict[int, list[str]] = defaultdict(list)
    for found in words:
        if found.sideways:
            by_line[found.line].append(found.word.text)
    for i, texts in enumerate(by_line.values()):
        yield Line((" ".join(texts),), 0.0, ASIDE * i, 1.0, ASIDE * i + 10, 10.0)


def _in_points(found: OcrWord) -> Word:
    scale = 72 / DPI
    word = found.word
    return replace(word, x0=word.x0 * scale, y0=word.y0 * scale, x1=word.x1 * scale, y1=word.y1 * scale)


def _alike(found: Sequence[Line]) -> list[Line]:
    """Give lines of about the page's usual height just that height: they are one size of type, and no headings."""
    if not found:
        return []
    usual = median(line.height for line in found)
    return [
        replace(line, height=usual) if abs(line.height - usual) <= ALIKE * usual else line for line in found
    ]
