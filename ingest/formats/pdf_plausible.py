"""Whether a PDF page's text is what people see on it, or must be read from its picture. Pure."""

from __future__ import annotations

from ingest.formats.pdf_page import Page

MIN_CHARS = 8  # fewer are a page number on a scan
MIN_PICTURE_CHARS = 100  # fewer, on a page that is one picture, are a stamp on a scan
MIN_VOWELS = 0.12  # of Latin letters; words of any language have more
VOWELS = frozenset("aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýœ")


def is_plausible(page: Page | None) -> bool:
    """Tell text from what a font without a character map gives: few letters, private codes, no vowels."""
    if page is None:
        return False
    chars = _chars(page)
    is_number = page.has_image and sum(len(line.text) for line in page.lines) < MIN_CHARS
    return bool(chars) and not is_number and is_text(chars)


def is_scan(page: Page | None) -> bool:
    """Tell a page whose text is (also) in its picture from one that is empty or read in full."""
    if page is None:
        return False
    if page.is_picture and len(_chars(page)) < MIN_PICTURE_CHARS:
        return True
    return (page.has_image or page.has_marks) and not is_plausible(page)


def is_text(chars: str) -> bool:
    """Tell whether characters, without white space, can be the words of a language."""
    odd = sum(ch == "\ufffd" or "\ue000" <= ch <= "\uf8ff" for ch in chars)
    words = sum(ch.isalnum() or not ch.isascii() for ch in chars)
    if odd * 5 > len(chars) or words * 2 < len(chars):
        return False
    latin = [ch for ch in chars.lower() if ch < "\u0250" and ch.isalpha()]
    return len(latin) * 2 < len(chars) or sum(ch in VOWELS for ch in latin) > MIN_VOWELS * len(latin)


def _chars(page: Page) -> str:
    return "".join("".join(cell.split()) for line in page.lines if not line.hidden for cell in line.cells)
