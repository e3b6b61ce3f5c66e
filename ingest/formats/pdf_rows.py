"""Lines, columns and table rows from the boxes of words on a page. Pure geometry; knows no PDF.

Coordinates are points, x to the right and y **down**. PDFium's own text follows the drawing order and loses rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from ingest.formats.table import SEPARATOR

HYPHEN = "\u0002"  # a hyphen that only a line's end put there; joined when lines become paragraphs
MAX_COLUMN_DEPTH = 3
MIN_COLUMN_ROWS = 5
MIN_COLUMN_WORDS = 4  # words of an unbroken stretch of a line of prose
MIN_WORDY = 0.55  # share of stretches with that many; less is a table
PLAIN_WORDY = 0.8  # the same where only one side is prose
PLAIN_FILL = 0.75  # the same where only one side is prose
LEVEL = 0.12  # heights by which cells of one row may differ
MIN_LEVEL = 0.7  # share of the shorter side's lines that stand level with the other side's, in a table
MIN_FILL = 0.6  # median stretch to the longest in a column: lines of prose fill it, cells do not
MAX_CROSSING = 0.3  # share of lines that may run across a column gap: titles, wide figures
N_BINS = 400
MIN_ROW_CHARS = 3  # when most rows are shorter, the text is vertical or stamped on the side


@dataclass(frozen=True, slots=True)
class Word:
    """A run of characters without space, its box, and the index of its first character on the page."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    index: int = 0

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a column, or one row of a table when it has several cells.

    Attributes:
        cells: texts parted by gaps wider than the line is high.
        starts: x of each cell's beginning.
        index, last: of its first character, and of its last word's first.
    """

    cells: tuple[str, ...]
    x0: float
    y0: float
    x1: float
    y1: float
    height: float
    index: int = 0
    last: int = 0
    starts: tuple[float, ...] = ()
    bold: bool = False
    hidden: bool = False

    @property
    def text(self) -> str:
        return SEPARATOR.join(self.cells)


def lines(words: Sequence[Word]) -> list[Line]:
    """Return a page's lines in reading order: columns of prose one after the other, tables row by row."""
    return [_line(row) for row in _ordered(_rows(words), 0)]


def is_row_text(found: Sequence[Line]) -> bool:
    """Tell whether lines make sense as rows; vertical text does not, and is better read in drawing order."""
    lengths = [sum(map(len, line.cells)) for line in found]
    return sum(length < MIN_ROW_CHARS for length in lengths) * 2 <= len(lengths)


def _rows(words: Iterable[Word]) -> list[list[Word]]:
    """Group words that stand beside each other, top to bottom, each group left to right."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda w: (w.middle, w.x0)):
        # A raised or small word belongs to the row that covers half of it; only the last few rows can.
        home = next((row for row in reversed(rows[-3:]) if _beside(word, row[0])), None)
        if home is None:
            rows.append([word])
        else:
            home.append(word)
    return [sorted(row, key=lambda w: w.x0) for row in rows]


def _beside(word: Word, first: Word) -> bool:
    overlap = min(word.y1, first.y1) - max(word.y0, first.y0)
    return overlap > 0.55 * min(word.height, first.height)


def _ordered(rows: list[list[Word]], depth: int) -> list[list[Word]]:
    """Read columns one after the other wherever there are any; rows across the gap part them into bands."""
    gap = _column_gap(rows) if depth < MAX_COLUMN_DEPTH else None
    if gap is None:
        return rows
    ordered: list[list[Word]] = []
    band: list[Word] = []
    for row in rows:
        if _crosses(row, gap):
            ordered += _columns(band, gap, depth)
            ordered.append(row)
            band = []
        else:
            band += row
    return ordered + _columns(band, gap, depth)


def _columns(band: list[Word], gap: float, depth: int) -> list[list[Word]]:
    left = [word for word in band if (word.x0 + word.x1) / 2 < gap]
    right = [word for word in band if (word.x0 + word.x1) / 2 >= gap]
    return [row for side in (left, right) if side for row in _ordered(_rows(side), depth + 1)]


def _crosses(row: Sequence[Word], x: float) -> bool:
    return any(x0 < x < x1 for x0, x1 in _segments(row))


def _segments(row: Sequence[Word]) -> list[tuple[float, float]]:
    """Return the stretches of a row without a gap as wide as 0.7 of its height."""
    segments: list[tuple[float, float]] = []
    for word in row:
        if segments and word.x0 - segments[-1][1] < 0.7 * word.height:
            segments[-1] = segments[-1][0], max(segments[-1][1], word.x1)
        else:
            segments.append((word.x0, word.x1))
    return segments


def _column_gap(rows: Sequence[Sequence[Word]]) -> float | None:
    """Return the x of a gap between two columns of prose, or None."""
    if len(rows) < 2 * MIN_COLUMN_ROWS:
        return None
    left = min(row[0].x0 for row in rows)
    width = max(word.x1 for row in rows for word in row) - left
    if width <= 0:
        return None
    crossing = _crossing(rows, left, width)
    allowed = MAX_CROSSING * len(rows)
    low, high = N_BINS // 5, N_BINS * 4 // 5
    candidates = sorted(range(low, high), key=lambda i: (crossing[i], abs(i - N_BINS // 2)))
    for i in candidates[:1]:
        x = left + (_middle_of_run(crossing, i) + 0.5) * width / N_BINS
        if crossing[i] <= allowed and _is_prose(rows, x):
            return x
    return None


def _crossing(rows: Sequence[Sequence[Word]], left: float, width: float) -> list[int]:
    """Count, for each of `N_BINS` vertical stripes, the rows that cover it."""
    steps = [0] * (N_BINS + 1)
    for row in rows:
        for x0, x1 in _segments(row):
            first = int((x0 - left) / width * N_BINS)
            last = min(N_BINS - 1, int((x1 - left) / width * N_BINS))
            steps[max(0, first)] += 1
            steps[max(first, last) + 1] -= 1
    total, counts = 0, []
    for step in steps[:N_BINS]:
        total += step
        counts.append(total)
    return counts


def _middle_of_run(crossing: Sequence[int], i: int) -> float:
    first = last = i
    while first > 0 and crossing[first - 1] <= crossing[i]:
        first -= 1
    while last < N_BINS - 1 and crossing[last + 1] <= crossing[i]:
        last += 1
    return (first + last) / 2


def _is_prose(rows: Sequence[Sequence[Word]], x: float) -> bool:
    """Tell two columns of prose from two of a table: lines of several words that fill their column.

    Prose beside a drawing or a listing counts too, unless the other side's lines stand level with it, as cells do.
    """
    parted = [
        ([w for w in row if w.x0 < x], [w for w in row if w.x0 >= x]) for row in rows if not _crosses(row, x)
    ]
    sides = [_Side([pair[i] for pair in parted if pair[i]]) for i in (0, 1)]
    if min(side.n_rows for side in sides) < MIN_COLUMN_ROWS:
        return False
    if all(side.wordy >= MIN_WORDY for side in sides):
        return max(side.fill for side in sides) >= MIN_FILL
    pairs = [(left[0], right[0]) for left, right in parted if left and right]
    n_level = sum(abs(a.middle - b.middle) <= LEVEL * a.height for a, b in pairs)
    is_cells = n_level >= MIN_LEVEL * min(side.n_rows for side in sides)
    return not is_cells and any(side.is_plain_prose for side in sides)


class _Side:
    """What the lines on one side of a gap are like, by their unbroken stretches."""

    def __init__(self, rows: Sequence[Sequence[Word]]) -> None:
        stretches = [
            (x0, x1, sum(x0 <= word.x0 <= x1 for word in row)) for row in rows for x0, x1 in _segments(row)
        ]
        widths = [x1 - x0 for x0, x1, _ in stretches]
        self.n_rows = len(rows)
        self.wordy = sum(n >= MIN_COLUMN_WORDS for _, _, n in stretches) / max(1, len(stretches))
        self.fill = median(widths) / max(*widths, 0.1) if widths else 0.0

    @property
    def is_plain_prose(self) -> bool:
        return self.n_rows >= 2 * MIN_COLUMN_ROWS and self.wordy >= PLAIN_WORDY and self.fill >= PLAIN_FILL


def _line(row: Sequence[Word]) -> Line:
    height = median(word.height for word in row)
    cells: list[str] = []
    starts: list[float] = []
    end = None
    for word in row:
        if end is None or word.x0 - end > height:
            cells.append(word.text)
            starts.append(word.x0)
        else:
            cells[-1] += " " + word.text if word.x0 - end > -0.5 * height or not cells[-1] else word.text
        end = word.x1 if end is None else max(end, word.x1)
    top, bottom = min(word.y0 for word in row), max(word.y1 for word in row)
    assert end is not None
    return Line(tuple(cells), row[0].x0, top, end, bottom, height, row[0].index, row[-1].index, tuple(starts))
