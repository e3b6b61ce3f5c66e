"""A Word run: whether its text can be seen, and the signs that are no text in the file (symbols, form fields)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from typing import Any

from ingest.formats.docx_styles import Styles
from ingest.formats.elements import child, children, is_on, number, value

TINY = 6  # half-points: nobody reads 3 pt on paper
WHITE = 0xF8  # each channel at least
BLANK = frozenset({"", "auto", "nil", "none"})
TICKED, EMPTY = "\u2612", "\u2610"
# Word writes signs of the fonts Wingdings and Symbol into a private area, with the font's own number.
SYMBOLS = {
    "wingdings": {0xFC: "\u2713", 0xFB: "\u2717", 0xFE: "\u2612", 0xFD: "\u2612", 0xA8: "\u2610", 0x6F: "\u2610",
                  0x78: "\u2612", 0xE0: "\u2192", 0xDF: "\u2190", 0x4A: ":-)", 0x4C: ":-("},
    "symbol": {0xB3: "\u2265", 0xA3: "\u2264", 0xB0: "\u00b0", 0xB1: "\u00b1", 0xB9: "\u2260", 0xAE: "\u2192",
               0x6D: "\u00b5", 0x61: "\u03b1", 0x62: "\u03b2", 0x67: "\u03b3", 0x44: "\u0394",
               0xD7: "\u00b7", 0xB4: "\u00d7"},
}  # fmt: skip


class Sight(Enum):
    """Whether a reader of the page sees a run."""

    SEEN = auto()
    UNSEEN = auto()  # white on white, or too small
    VANISHED = auto()  # w:vanish: switched off in Word


def sight(run: Any, styles: Styles, shaded: bool, around: Sight) -> Sight:
    """Return whether a run can be seen.

    Args:
        shaded: the ground may be dark: white text is then how it looks best.
        around: what the paragraph's style says, which the run may overrule.
    """
    properties = child(run, "rPr")
    if properties is None:
        return around
    own = child(properties, "vanish")
    if own is None and (around is Sight.VANISHED or styles.is_hidden(value(child(properties, "rStyle")))):
        return Sight.VANISHED
    if is_on(own):
        return Sight.VANISHED
    size = number(value(child(properties, "sz")))
    if size is not None and 0 <= size < TINY:
        return Sight.UNSEEN
    if not shaded and _is_white(value(child(properties, "color"))) and not is_shaded(properties):
        return Sight.UNSEEN
    return Sight.SEEN


def is_shaded(properties: Any) -> bool:
    """Tell whether w:pPr, w:rPr, w:tcPr or w:tblPr gives a ground of its own that is not white."""
    shade, marker = child(properties, "shd"), value(child(properties, "highlight"))
    fill = value(shade, "fill").lower()
    tinted = bool(value(shade, "themeFill")) or (fill not in BLANK and not _is_white(fill))
    patterned = value(shade) not in ("", "clear", "nil")
    return tinted or patterned or marker.lower() not in (*BLANK, "white")


def _is_white(colour: str) -> bool:
    try:
        return len(colour) == 6 and min(bytes.fromhex(colour)) >= WHITE
    except ValueError:
        return False


def symbol(element: Any) -> str:
    """Return a w:sym as a sign that text has; a space for one that is not known."""
    try:
        code = int(value(element, "char"), 16)
    except ValueError:
        return " "
    font = value(element, "font").lower()
    if code < 0xF000:
        return chr(code) if code <= 0xFFFF else " "
    return SYMBOLS.get(font, {}).get(code - 0xF000, " ")


def field_text(element: Any) -> str:
    """Return what a form field of Word 97 shows and its text does not say: a tick, a choice from a list."""
    data = child(element, "ffData")
    box = child(data, "checkBox")
    if box is not None:
        checked = child(box, "checked")
        return TICKED if is_on(child(box, "default") if checked is None else checked) else EMPTY
    choices = child(data, "ddList")
    entries = list(_entries(choices))
    chosen = number(value(child(choices, "result"))) or 0
    return entries[chosen] if 0 <= chosen < len(entries) else ""


def _entries(choices: Any) -> Iterator[str]:
    return (value(entry) for entry in children(choices, "listEntry"))
