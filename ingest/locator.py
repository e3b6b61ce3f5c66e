"""Where in a document a text stands. One small type, shown the same in the API, the CLI and the TUI."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

PATH = " › "


@dataclass(frozen=True, slots=True)
class Locator:
    """A place to cite. Only the parts that the format knows are set.

    Attributes:
        part: what inside the file holds the text, outermost first: a message, an attachment, an archive's member.
        page: physical page, from 1.
        page_label: the page's printed label ("iii") where it differs from `page`.
        page_estimated: the format has no pages and `page` is a guess (DOCX).
        slide: of a presentation, from 1.
        sheet: of a spreadsheet, by name.
        cells: of that sheet: (top, left, bottom, right), from 1, all included.
        time: of a recording: (start, end) in seconds.
        heading: headings above the text, outermost first.
        rows: first and last row of a table, from 1, header row not counted.
        lines: first and last line of a text file, from 1.
    """

    part: tuple[str, ...] = ()
    page: int | None = None
    page_label: str | None = None
    page_estimated: bool = False
    slide: int | None = None
    sheet: str | None = None
    cells: tuple[int, int, int, int] | None = None
    time: tuple[float, float] | None = None
    heading: tuple[str, ...] = ()
    rows: tuple[int, int] | None = None
    lines: tuple[int, int] | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """Names above the text, outermost first: part, sheet, headings; often it only makes sense below them."""
        return (*self.part, *((self.sheet,) if self.sheet else ()), *self.heading)

    def __str__(self) -> str:
        place = [self._page(), f"slide {self.slide}" if self.slide else "", self._sheet(), self._time()]
        spans = [_span("row", self.rows), _span("line", self.lines)]
        return ", ".join(
            part for part in (PATH.join(self.part), *place, PATH.join(self.heading), *spans) if part
        )

    def _page(self) -> str:
        if self.page is None:
            return ""
        shown = self.page_label or str(self.page)
        return f"about page {shown}" if self.page_estimated else f"page {shown}"

    def _sheet(self) -> str:
        if self.sheet is None:
            return ""
        return f"{self.sheet}!{cell_range(self.cells)}" if self.cells else f"sheet {self.sheet}"

    def _time(self) -> str:
        if self.time is None:
            return ""
        start, end = (_clock(seconds) for seconds in self.time)
        return start if start == end else f"{start}–{end}"

    def to_json(self) -> dict[str, Any]:
        """Return the parts that are set; `from_json` reads them back."""
        values = ((name, getattr(self, name)) for name in self.__slots__)
        return {name: value for name, value in values if value not in (None, (), False)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Locator:
        """Read what `to_json` wrote; lists become tuples.

        Raises:
            TypeError: `data` has a key that no locator has.
        """
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
        return cls(**values)


def merged(places: Sequence[Locator]) -> Locator:
    """Return the place of texts that stand one after the other, in this order, on the page of the first."""
    first = places[0]
    lines = [place.lines for place in places if place.lines]
    return replace(
        first,
        cells=_cell_span([place.cells for place in places if place.cells]),
        time=_time_span([place.time for place in places if place.time]),
        heading=_common([place.heading for place in places]),
        rows=_row_span([place.rows for place in places if place.rows]),
        lines=(min(a for a, _ in lines), max(b for _, b in lines)) if lines else None,
    )


def cell_range(cells: tuple[int, int, int, int]) -> str:
    """Return a range as spreadsheets write it: "B2:D9", or "B2" for one cell."""
    top, left, bottom, right = cells
    first, last = f"{_column(left)}{top}", f"{_column(right)}{bottom}"
    return first if first == last else f"{first}:{last}"


def _column(number: int) -> str:
    letters = ""
    while number > 0:
        number, digit = divmod(number - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}"


def _span(noun: str, span: tuple[int, int] | None) -> str:
    if span is None:
        return ""
    first, last = span
    return f"{noun} {first}" if first == last else f"{noun}s {first}–{last}"


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    shared = paths[0]
    for path in paths[1:]:
        n_same = 0
        while n_same < min(len(shared), len(path)) and shared[n_same] == path[n_same]:
            n_same += 1
        shared = shared[:n_same]
    return shared


def _row_span(rows: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return first and last row; None for rows of several tables, whose numbers begin again."""
    if not rows or any(b[0] < a[0] for a, b in itertools.pairwise(rows)):
        return None
    return rows[0][0], rows[-1][1]


def _cell_span(ranges: Sequence[tuple[int, int, int, int]]) -> tuple[int, int, int, int] | None:
    if not ranges:
        return None
    tops, lefts, bottoms, rights = zip(*ranges, strict=True)
    return min(tops), min(lefts), max(bottoms), max(rights)


def _time_span(times: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    return (times[0][0], max(end for _, end in times)) if times else None
