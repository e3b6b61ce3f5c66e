"""A Word document's list numbers ("3.2", "b)"): the text has none, `numbering.xml` and counting make them."""

from __future__ import annotations

import re
from typing import Any

from ingest.formats.elements import child, is_on, local, value

PLACE = re.compile(r"%([1-9])")
ROMAN = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"),
        strict=True,
    )
)
BULLET = "-"


class Numbering:
    """Counts the numbered paragraphs of one document, in reading order."""

    def __init__(self, root: Any = None) -> None:
        parts = [] if root is None else list(root)
        self._abstract = {value(p, "abstractNumId"): p for p in parts if local(p) == "abstractNum"}
        self._nums = {value(p, "numId"): p for p in parts if local(p) == "num"}
        self._counts: dict[str, dict[int, int]] = {}

    def label(self, num_pr: Any) -> str:
        """Return the next number of a paragraph with this w:numPr: "3.2", "b)", "-" for bullets, "" for none."""
        num_id = value(child(num_pr, "numId"))
        num = self._nums.get(num_id)
        if num is None:
            return "" if num_id in ("", "0") else BULLET
        level = _int(value(child(num_pr, "ilvl")), 0)
        abstract_id = value(child(num, "abstractNumId"))
        levels = self._levels(num, abstract_id)
        shape = levels.get(level)
        if shape is None:
            return BULLET
        key = num_id if any(local(part) == "lvlOverride" for part in num) else abstract_id
        counts = self._counts.setdefault(key, {})
        counts[level] = counts.get(level, _start(shape) - 1) + 1
        for deeper in [n for n in counts if n > level]:
            del counts[deeper]
        return _text(shape, counts, levels)

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
    if style in ("lowerLetter", "upperLetter") and 0 < n <= 26 * 20:
        text = chr(ord("a") + (n - 1) % 26) * ((n - 1) // 26 + 1)
    elif style in ("lowerRoman", "upperRoman") and 0 < n < 4000:
        text = _roman(n)
    elif style == "none":
        text = ""
    else:
        text = f"{n:02d}" if style == "decimalZero" else str(n)
    return text.upper() if style.startswith("upper") else text


def _roman(n: int) -> str:
    text = ""
    for worth, sign in ROMAN:
        text += sign * (n // worth)
        n %= worth
    return text


def _start(shape: Any) -> int:
    return _int(value(child(shape, "start")), 1)


def _int(text: str, default: int) -> int:
    try:
        return int(text[:9])
    except ValueError:
        return default
