"""Numbers of a text that another text has or has not, whichever way each marks thousands and decimals. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from appliance.text.words import numbers

_NARROW = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")  # 1 200, as French and Polish write it
_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3})+")
_BOTH = re.compile(r"(\d{1,3}(?:\.\d{3})+)(\.\d+)")
_DECIMAL = re.compile(r"\d+\.\d+")


class Numbers:
    """The numbers of texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._known = {_same(number) for text in texts for number in _of(text)}

    def has(self, number: str) -> bool:
        """Tell whether a number is among them: "1,200" is 1200 and 1.200, "6.5" is "6,50"."""
        return _same(number) in self._known

    def missing(self, text: str) -> list[str]:
        """Return the numbers of `text` that are not among them, in order."""
        return sorted({number for number in _of(text) if not self.has(number)}, key=lambda n: (len(n), n))


def _of(text: str) -> set[str]:
    return numbers(_NARROW.sub("", text))


def _same(number: str) -> str:
    if _THOUSANDS.fullmatch(number):  # 1.200 is 1200 in half of Europe
        return number.replace(".", "")
    number = (
        _BOTH.sub(lambda both: both[1].replace(".", "") + both[2], number)
        if _BOTH.fullmatch(number)
        else number
    )
    return number.rstrip("0").rstrip(".") if _DECIMAL.fullmatch(number) else number
