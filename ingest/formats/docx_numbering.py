"""A Word document's list numbers ("3.2", "b)"): the text has none, `numbering.xml` and counting make them."""

from __future__ import annotations

import re
from typing import Any

from ingest.formats.docx_styles import Styles
from ingest.formats.elements import child, children, is_on, local, value
from ingest.formats.numerals import letters, roman

PLACE = re.compile(r"%([1-9])")
BULLET = "-"


class Numbering:
    """Counts the numbered paragraphs of one document, in reading order."""

    def __init__(self, root: Any = None, styles: Styles | None = None) -> None:
        self._styles = styles or Styles()
        parts = [] if root is None else list(root)
        self._abstract = {value(p, "abstractNumId"): p for p in parts if local(p) == "abstractNum"}
        self._nums = {value(p, "numId"): p for p in parts if local(p) == "num"}
        self._counts: dict[str, dict[int, int]] = {}

    def paragraph_label(self, own: Any, style: str) -> str:
        """Return the next number of a paragraph: "3.2", "b)", "-" for bullets, "" for none.

        Args:
            own: its w:numPr, or None; what it leaves out comes from the style.
        """
        styled = self._styles.numbering(style)
        num_id = value(child(own, "numId")) or value(child(styled, "numId"))
        level = value(child(own, "ilvl")) or value(child(styled, "ilvl"))
        return self._label(num_id, level, style)

    def _label(self, num_id: str, told: str, style: str) -> str:
        num = self._nums.get(num_id)
        if num is None:
            return "" if num_id in ("", "0") else BULLET
        abstract_id = self._abstract_id(num)
        levels = self._levels(num, abstract_id)
        # A heading's style names only the list; the list's level names the style.
        linked = (n for n, shape in levels.items() if style and value(child(shape, "pStyle")) == style)
        level = _int(told, 0) if told else next(linked, 0)
        shape = levels.get(level)
        if shape is None:
            return BULLET
        key = num_id if any(local(part) == "lvlOverride" for part in num) else abstract_id
        counts = self._counts.setdefault(key, {})
        counts[level] = counts.get(level, _start(shape, num, level) - 1) + 1
        for deeper in [n for n in counts if n > level]:
            del counts[deeper]
        return _text(shape, counts, levels)

    def _abstract_id(self, num: Any) -> str:
        """Return the list that a number stands for; one may point on to the list of a list style."""
        own = value(child(num, "abstractNumId"))
        link = value(child(self._abstract.get(own), "numStyleLink"))
        linked = self._nums.get(value(child(self._styles.numbering(link), "numId"))) if link else None
        return own if linked is None else value(child(linked, "abstractNumId"))

    def _levels(self, num: Any, abstract_id: str) -> dict[int, Any]:
        abstract = self._abstract.get(abstract_id)
        parts = [] if abstract is None else [part for part in abstract if local(part) == "lvl"]
        parts += [
            lvl
            for override in num
            if local(override) == "lvlOverride"
            for lvl in override
            if local(lvl) == "lvl"
        ]
        return {_int(value(part, "ilvl"), 0): part for part in parts}


def _text(shape: Any, counts: dict[int, int], levels: dict[int, Any]) -> str:
    style = value(child(shape, "numFmt"))
    if style == "bullet":
        return BULLET
    plain = is_on(child(shape, "isLgl"))

    def number(match: re.Match[str]) -> str:
        level = int(match[1]) - 1
        other = levels.get(level)
        if other is None:
            return ""
        return _number(
            counts.get(level, _start(other)), "decimal" if plain else value(child(other, "numFmt"))
        )

    return PLACE.sub(number, value(child(shape, "lvlText"))).strip()


def _number(n: int, style: str) -> str:
    if style in ("lowerLetter", "upperLetter"):
        text = letters(n)
    elif style in ("lowerRoman", "upperRoman"):
        text = roman(n)
    elif style == "none":
        text = ""
    else:
        text = f"{n:02d}" if style == "decimalZero" else str(n)
    return text.upper() if style.startswith("upper") else text


def _start(shape: Any, num: Any = None, level: int = 0) -> int:
    for override in children(num, "lvlOverride"):
        if _int(value(override, "ilvl"), 0) == level and (told := value(child(override, "startOverride"))):
            return _int(told, 1)
    return _int(value(child(shape, "start")), 1)


def _int(text: str, default: int) -> int:
    try:
        return int(text[:9])
    except ValueError:
        return default
