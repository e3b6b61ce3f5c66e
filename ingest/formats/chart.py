"""Charts in Office documents as a title and a table: categories down, series across. Reads what the chart keeps of
its figures, not the workbook behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

from ingest.formats.elements import child, children, descendants, local, number, value
from ingest.formats.table import row_text
from ingest.formats.tidy import one_line
from ingest.locator import Locator
from ingest.unit import Unit, UnitKind

MAX_ROWS = 500  # a chart of more points draws a curve: its figures answer no question
EPOCH = date(1899, 12, 30)  # day 0 of Excel's serial dates from March 1900 on
CACHES = ("strCache", "numCache", "strLit", "numLit")
CATEGORIES, VALUES = ("cat", "xVal"), ("val", "yVal", "bubbleSize")


@dataclass
class _Series:
    name: str
    categories: dict[int, str]
    columns: list[tuple[str, dict[int, str]]] = field(default_factory=list)


def chart_units(root: Any, locator: Locator) -> Iterator[Unit]:
    """Read a chart part, of the classic kinds (3-D too) or of those since Office 2016."""
    space = root if local(root) == "chartSpace" else child(root, "chartSpace")
    chart = child(root if space is None else space, "chart")
    if chart is None:
        return
    title = _words(child(chart, "title"))
    axes = [_words(child(axis, "title")) for axis in descendants(chart, "catAx", "valAx", "dateAx", "serAx")]
    named = "; ".join(dict.fromkeys(axis for axis in axes if axis))
    if title or named:
        lead = f"Chart: {title}" if title else "Chart"
        yield Unit(f"{lead} ({named})" if named else lead, locator)
    series = list(_series(chart)) or list(_new_series(root))
    yield from _table(series, locator)


def _words(element: Any) -> str:
    """Return a title's text, typed or taken from a cell."""
    typed = ("".join(t.text or "" for t in descendants(p, "t")) for p in descendants(element, "p"))
    return one_line(" ".join([*typed, *(v.text or "" for v in descendants(element, "v"))]))


def _series(chart: Any) -> Iterator[_Series]:
    for ser in descendants(child(chart, "plotArea"), "ser"):
        categories = next((_points(part) for part in children(ser, *CATEGORIES)), {})
        found = _Series(_words(child(ser, "tx")), categories)
        for part in children(ser, *VALUES):
            name = found.name if local(part) != "bubbleSize" else f"{found.name} (size)".strip()
            found.columns.append((name, _points(part)))
        yield found


def _points(part: Any) -> dict[int, str]:
    """Return index → shown value of a cache of strings or numbers; outer levels of categories are put before."""
    found: dict[int, str] = {}
    levels = list(descendants(part, "lvl")) or list(descendants(part, *CACHES))
    for level in levels:  # the innermost comes first; an outer one names only the first index that it spans
        own = _level(level)
        if not found:
            found = own
            continue
        last = ""
        for index in sorted(found):
            last = own.get(index, last)
            found[index] = one_line(f"{last} {found[index]}")
    return found


def _level(level: Any) -> dict[int, str]:
    shape = value(level, "formatCode") or _text(child(level, "formatCode"))
    found = {}
    for point in children(level, "pt"):
        told = _text(child(point, "v")) or _text(point)
        found[number(value(point, "idx")) or 0] = _shown(told, value(point, "formatCode") or shape)
    return found


def _new_series(root: Any) -> Iterator[_Series]:
    """Read the charts since Office 2016, whose figures stand apart from the series that show them."""
    data = {value(part, "id"): part for part in descendants(root, "data")}
    for series in descendants(root, "series"):
        part = data.get(value(child(series, "dataId")))
        if part is not None:
            name = _words(child(series, "tx"))
            categories = next((_points(dim) for dim in children(part, "strDim")), {})
            columns = [(name, _points(dim)) for dim in children(part, "numDim")]
            yield _Series(name, categories, columns)


def _table(series: list[_Series], locator: Locator) -> Iterator[Unit]:
    """Yield a table for each run of series over the same categories."""
    while series:
        n_same = next(
            (i for i, one in enumerate(series) if one.categories != series[0].categories), len(series)
        )
        same, series = series[:n_same], series[n_same:]
        yield from _rows(same, locator)


def _rows(same: list[_Series], locator: Locator) -> Iterator[Unit]:
    columns = [column for one in same for column in one.columns]
    header = row_text(["", *(name for name, _ in columns)])
    indices = sorted({*same[0].categories, *(index for _, column in columns for index in column)})
    rows = [
        row_text([same[0].categories.get(i, ""), *(column.get(i, "") for _, column in columns)])
        for i in indices
    ]
    for place, row in enumerate(rows[:MAX_ROWS], 1):
        if row:
            yield Unit(row, replace(locator, rows=(place, place)), UnitKind.TABLE_ROW, header)
    if not rows and header:  # a chart that keeps no figures
        yield Unit(header, locator)


def _text(element: Any) -> str:
    return one_line(element.text or "") if element is not None else ""


def _shown(text: str, shape: str) -> str:
    """Write a figure as the chart shows it: a percentage, a date, or without the noise of binary fractions."""
    try:
        figure = float(text)
    except ValueError:
        return one_line(text)
    if "%" in shape:
        return f"{figure * 100:.6g}%"
    if "yy" in shape.lower() and 1 <= figure < 2_958_466:
        return (EPOCH + timedelta(days=int(figure))).isoformat()
    return f"{figure:.15g}" if abs(figure) < 1e15 else text
