"""A spreadsheet's sheet as every reader of one hands it on, and the reading it becomes, within bounds.

Rows are sparse, as files hold them: two cells at opposite corners are two cells here, not 17 billion.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ingest.locator import Locator, cell_range
from ingest.unit import HIDDEN, Unit, UnitKind

MAX_ROW, MAX_COLUMN = 1_048_576, 16_384  # of Excel and LibreOffice

Spans = dict[tuple[int, int], tuple[int, int]]
Cells = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A row that has text.

    Attributes:
        number: from 1.
        cells: column, from 1 and ascending, → one line of text; filled cells only.
    """

    number: int
    cells: dict[int, str]
    hidden: bool = False


@dataclass(slots=True)
class Sheet:
    """What is known of a sheet beside its rows; a reader may fill it in while it reads them.

    Attributes:
        spans: (row, column) of a merged range's first cell → (last row, last column).
        n_rows: rows it has in all, as far as known; for the note on those that are not read.
        n_unsaved: formulas without a stored result.
        asides: what stands beside the cells: comments, text boxes, chart titles.
    """

    name: str
    hidden: bool = False
    hidden_columns: set[int] = field(default_factory=set)
    spans: Spans = field(default_factory=dict)
    n_rows: int = 0
    n_unsaved: int = 0
    asides: list[Unit] = field(default_factory=list)
    _n_looked_at: int = 0

    def unit(
        self,
        text: str,
        cells: Cells | None,
        kind: UnitKind = UnitKind.TABLE_ROW,
        heading: str = "",
        hidden: bool = False,
    ) -> Unit:
        """Return a unit of this sheet; all of a hidden sheet is hidden."""
        place = Locator(sheet=self.name, cells=cells, heading=(heading,) if heading else ())
        return Unit(text, place, kind, flags=frozenset({HIDDEN} if hidden or self.hidden else ()))

    def hide_columns(self, first: int, last: int) -> None:
        """Mark columns; they come in ascending order, so a file that names them again and again costs nothing."""
        first = max(first, self._n_looked_at + 1)
        self._n_looked_at = max(self._n_looked_at, min(last, MAX_COLUMN))
        self.hidden_columns.update(range(first, self._n_looked_at + 1))

    def add_comment(self, cells: Cells | None, author: str, text: str) -> None:
        """Keep a cell's comment (Excel: note) beside the cells."""
        place = f" on {cell_range(cells)}" if cells else ""
        by = f" by {author}" if author else ""
        self.asides.append(self.unit(f"Comment{place}{by}: {text}", cells, UnitKind.PARAGRAPH))

    def add_text(self, cells: Cells | None, text: str) -> None:
        """Keep the text of a shape beside the cells."""
        self.asides.append(self.unit(text, cells, UnitKind.PARAGRAPH))


def column_number(reference: str) -> int:
    """Return the column of a cell's name ("AB12" is 28), from 1; 0 where there is none."""
    number = 0
    for letter in reference:
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def cells_of(reference: str) -> Cells | None:
    """Return "B2:D9" or "B2" as top, left, bottom, right; None for what is no such name."""
    first, _, last = reference.upper().replace("$", "").partition(":")
    corners = [(_row(name), column_number(name)) for name in (first, last or first)]
    if not all(0 < row <= MAX_ROW and 0 < column <= MAX_COLUMN for row, column in corners):
        return None
    (top, left), (bottom, right) = corners
    return min(top, bottom), min(left, right), max(top, bottom), max(left, right)


def _row(reference: str) -> int:
    digits = reference.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 7 else 0
