"""Where a sheet's table begins, and what names its columns. Decides on the first rows; changes nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ingest.formats.sheet import Row, Spans
from ingest.formats.table import is_value, looks_like_header

N_SAMPLE = 100
MAX_ABOVE = 10  # rows of titles and notes above a table
MAX_NAMED = 1_000  # columns; a wider table has no names
# "2025", "FY 2025", "2024/25", "Q1", "Q1 2025", "2025-03", "Jan 2025", "Plan 2025": a column of that period.
PERIOD = re.compile(
    r"(?:(?:FY|Q[1-4]|H[12]|[^\W\d]{3,})[ /-]?)?(?:19|20)\d\d(?:[-/ ]?(?:Q[1-4]|H[12]|\d\d))?"
    r"|Q[1-4]|H[12]|FY[ -]?\d\d",
    re.IGNORECASE,
)
MAX_HEADER = 2  # rows of a block that holds nothing but a header


def n_above_table(rows: Sequence[Row], spans: Spans) -> int:
    """Count the rows above the table: narrow ones, at most `MAX_ABOVE`."""
    width = Counter(len(row.cells) for row in rows[:N_SAMPLE]).most_common(1)[0][0]
    if width < 2:
        return 0
    for i, row in enumerate(rows[:MAX_ABOVE]):
        if len(row.cells) > max(1, width // 2) or _is_group_row(row, spans):
            return i
    return 0


def column_names(
    rows: Sequence[Row], columns: Sequence[int], spans: Spans, forms: bool = True
) -> tuple[int, dict[int, str]]:
    """Return how many rows the header has (0, 1 or 2), and the names by column.

    Args:
        forms: two columns may be a form ("Name | Alice" over "Town | Utrecht"), which has no header.
    """
    if len(columns) > MAX_NAMED or len(columns) < 2 or len(rows) < 2:
        return 0, {}
    first, below = rows[0].cells, rows[1:N_SAMPLE]
    if len(rows) > 2 and _is_group_row(rows[0], spans):
        names = _joined(rows[0], rows[1].cells, spans)
        if _is_header(names, columns, rows[2:N_SAMPLE]):
            return 2, names
    if forms and len(columns) == 2 and not _are_values(columns[1], below):
        return 0, {}
    return (1, dict(first)) if _is_header(first, columns, below) else (0, {})


def names_for_next(rows: Sequence[Row]) -> dict[int, str]:
    """Return the names that a block gives the table below it: it holds a header and nothing else. Empty for none."""
    cells = rows[-1].cells
    texts = list(cells.values())
    if len(rows) > MAX_HEADER or len(cells) < 2 or not looks_like_header(_as_words(cells, ()), [texts]):
        return {}
    return dict(cells)


def _is_header(names: dict[int, str], columns: Sequence[int], below: Sequence[Row]) -> bool:
    cells = {column: names.get(column, "") for column in columns}
    return looks_like_header(_as_words(cells, below), [list(cells.values())])


def _as_words(cells: dict[int, str], below: Sequence[Row]) -> list[str]:
    """Return the cells with periods as words: "2025" names a column, unless there are years below it as well."""
    return [
        f"period {text}" if text and PERIOD.fullmatch(text) and not _are_periods(column, below) else text
        for column, text in cells.items()
    ]


def _are_periods(column: int, rows: Sequence[Row]) -> bool:
    texts = [row.cells[column] for row in rows if column in row.cells]
    return sum(bool(PERIOD.fullmatch(text)) for text in texts) * 2 > len(texts)


def _are_values(column: int, rows: Sequence[Row]) -> bool:
    """Tell whether a column holds numbers, amounts or dates, mostly."""
    texts = [row.cells[column] for row in rows if column in row.cells]
    return sum(map(is_value, texts)) * 2 > len(texts)


def _is_group_row(row: Row, spans: Spans) -> bool:
    """Tell a row that names groups of columns, by merged cells, from a title merged over the whole table."""
    wide = [column for column in row.cells if spans.get((row.number, column), (0, 0))[1] > column]
    return bool(wide) and (len(row.cells) > 1 or wide[0] > 1)


def _joined(top: Row, second: dict[int, str], spans: Spans) -> dict[int, str]:
    """Return "2025 Plan", "2025 Actual": each name with that of its group."""
    groups: dict[int, str] = {}
    for column, text in top.cells.items():
        _, right = spans.get((top.number, column), (top.number, column))
        groups.update((covered, text) for covered in range(column, right + 1))
    columns = sorted({*second, *(column for column in groups if column in second or column in top.cells)})
    return {
        column: " ".join(dict.fromkeys(part for part in (groups.get(column), second.get(column)) if part))
        for column in columns
    }
