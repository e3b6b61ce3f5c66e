"""The numbers of OpenDocument lists and headings ("3.2", "b)"): the text has none, styles and counting make them."""

from __future__ import annotations

from typing import Any

from ingest.formats.elements import local, number, value
from ingest.formats.numerals import letters, roman

BULLET = "-"


class Counter:
    """Counts one list, or the headings, by level; levels count from 1."""

    def __init__(self, style: Any) -> None:
        self.style = style
        shapes = list(style) if style is not None else []
        self._shapes = {number(value(shape, "level")) or 1: shape for shape in shapes}
        self._counts: dict[int, int] = {}

    def next(self, level: int, start: int | None = None) -> str:
        """Return the label of the next item: "3.2", "b)", "-" for bullets, "" where the style gives none."""
        shape = self._shapes.get(level)
        first = start if start is not None else self._start(level) if level not in self._counts else None
        self._counts[level] = first if first is not None else self._counts[level] + 1
        for deeper in [n for n in self._counts if n > level]:
            del self._counts[deeper]
        if shape is None:
            return "" if self.style is not None else BULLET
        if "bullet" in local(shape) or "image" in local(shape):
            return BULLET
        return self._label(level, shape)

    def _label(self, level: int, shape: Any) -> str:
        if not value(shape, "num-format"):
            return ""
        n_shown = max(1, min(number(value(shape, "display-levels")) or 1, level))
        shown = range(level - n_shown + 1, level + 1)
        digits = [self._digits(n) for n in shown]
        return f"{value(shape, 'num-prefix')}{'.'.join(filter(None, digits))}{value(shape, 'num-suffix')}".strip()

    def _digits(self, level: int) -> str:
        style = value(self._shapes.get(level), "num-format")
        n = self._counts.get(level, self._start(level))
        text = {"a": letters, "i": roman}.get(style.lower(), str)(n) if style else ""
        return text.upper() if style.isupper() else text

    def _start(self, level: int) -> int:
        found = number(value(self._shapes.get(level), "start-value"))
        return 1 if found is None else found
