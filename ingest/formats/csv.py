"""Delimited text (CSV, TSV): each row a unit that names its columns. Cells are text; nothing is computed."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ingest.formats.encoding import decode
from ingest.formats.reading import Reading, damaged
from ingest.formats.table import looks_like_header, named_row, row_text
from ingest.formats.tidy import visible
from ingest.locator import Locator
from ingest.unit import Unit, UnitKind

DELIMITERS = ",;\t|"
N_SAMPLE = 100
MAX_FIELD = 1_000_000  # characters of one cell; a lost quote otherwise makes the rest of the file one cell
SEP_LINE = re.compile(r"^sep=(.)$", re.IGNORECASE)


def read(data: bytes, legacy: str) -> Reading:
    """Read a delimited file; rows above the table (titles, notes) become paragraphs.

    Raises:
        RefusedError: one cell is over `MAX_FIELD` characters.
    """
    lines = visible(decode(data, legacy)).split("\n")
    told = SEP_LINE.match(lines[0].strip())
    delimiter = told[1] if told else _delimiter(lines[:N_SAMPLE])
    rows = _rows(lines[1:] if told else lines, delimiter)
    width = Counter(len(row) for row in rows[:N_SAMPLE]).most_common(1)[0][0] if rows else 0
    n_above = _n_above(rows, width)
    return Reading([*_notes(rows[:n_above]), *_table(rows[n_above:])])


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    csv.field_size_limit(MAX_FIELD)
    try:
        reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
        return [row for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise damaged(f"the rows cannot be told apart ({error})") from error


def _delimiter(lines: Sequence[str]) -> str:
    """Return the character that cuts most lines into the same number of cells; a comma when none does."""
    best, best_score = ",", 0.0
    for delimiter in DELIMITERS:
        try:
            rows = [row for row in csv.reader((line + "\n" for line in lines), delimiter=delimiter) if row]
        except csv.Error:
            continue
        widths = Counter(len(row) for row in rows if len(row) > 1)
        if not widths:
            continue
        width, n_same = widths.most_common(1)[0]
        score = n_same / len(rows) + min(width, 20) / 1000  # the width only breaks ties
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _n_above(rows: Sequence[Sequence[str]], width: int) -> int:
    """Count the narrow rows above the table, at most ten."""
    for i, row in enumerate(rows[:10]):
        if sum(bool(cell.strip()) for cell in row) > max(1, width // 2) or width < 2:
            return i
    return 0


def _notes(rows: Iterable[Sequence[str]]) -> Iterator[Unit]:
    for row in rows:
        yield Unit(row_text([cell for cell in row if cell.strip()]), Locator())


def _table(rows: Sequence[Sequence[str]]) -> Iterator[Unit]:
    if rows and looks_like_header(rows[0], rows[1:]):
        names, body = rows[0], rows[1:]
        if len(body) == 0:
            body = rows
    else:
        names, body = (), rows
    for number, row in enumerate(body, 1):
        text = named_row(names, row) if names else row_text(row)
        yield Unit(text, Locator(rows=(number, number)), UnitKind.TABLE_ROW)
