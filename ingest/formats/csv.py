"""Delimited text (CSV, TSV): each row a unit that names its columns. Cells are text; nothing is computed."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ingest.formats.encoding import decode
from ingest.formats.reading import Reading, too_large
from ingest.formats.sheet import Row
from ingest.formats.sheet_book import MAX_ROWS, MAX_TEXT, ROW_COST
from ingest.formats.sheet_header import column_names, n_above_table
from ingest.formats.table import named_row, row_text
from ingest.formats.tidy import one_line, visible
from ingest.limits import MIB
from ingest.locator import Locator
from ingest.unit import Unit, UnitKind

DELIMITERS = ",;\t|^~¦§"
# What programs write where no text can hold it; taken for a tab. Control characters are Hive's and ASCII's own.
ODD_DELIMITERS = ("\x01", "\x1f", "||", "|~|", "~|~", "::", ";;")
RECORD_SEPARATOR = "\x1e"
DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
N_SAMPLE = 100
NEARLY_ALL = 0.9
MAX_BYTES = 32 * MIB  # the rows that are read stand in the first of them
MAX_FIELD = 1_000_000  # characters of one cell
MAX_LINE = 4 * MIB  # characters
MAX_CELL_LINES = 100  # a quote that is never closed makes the rest of the file one cell
SEP_LINE = re.compile(r"^sep=(.)$", re.IGNORECASE)


def read(data: bytes, legacy: str) -> Reading:
    """Read a delimited file; rows above the table (titles, notes) become paragraphs.

    Raises:
        RefusedError: a line is longer than any row.
    """
    lines = visible(_plain_delimiters(decode(data[:MAX_BYTES], legacy))).split("\n")
    if max(map(len, lines)) > MAX_LINE:
        raise too_large(
            f"it has a line of over {MAX_LINE // MIB} million characters, which is no row of a table"
        )
    told = SEP_LINE.match(lines[0].strip())
    lines = lines[1:] if told else lines
    rows = _rows(lines, told[1] if told else _delimiter(lines[:N_SAMPLE]))
    notes = []
    if len(rows) > MAX_ROWS or len(data) > MAX_BYTES:
        about = f" of about {sum(map(bool, lines)):,}" if len(data) <= MAX_BYTES else ""
        rows = rows[:MAX_ROWS]
        notes.append(f"only the first {len(rows):,} rows{about} are read")
    units = list(_within(_units(rows)))
    if len(units) < len(rows) - 1:
        notes.append(f"only the first {len(units):,} rows are read: it has too much text")
    return Reading(units, notes=notes)


def _plain_delimiters(text: str) -> str:
    """Turn a delimiter of several characters, or one that cannot be seen, into a tab; it stands in every line."""
    if RECORD_SEPARATOR in text:
        text = text.replace("\n", " ").replace(RECORD_SEPARATOR, "\n")
    sample = [line for line in text[: MIB // 4].split("\n")[:N_SAMPLE] if line.strip()]
    for delimiter in ODD_DELIMITERS:
        counts = {line.count(delimiter) for line in sample}
        # An empty cell doubles a plain delimiter, but not everywhere.
        rest = "".join(sample).replace(delimiter, "")
        if len(counts) == 1 and counts != {0} and (delimiter[0] not in rest or len(delimiter) == 3):
            return text.replace("\t", " ").replace(delimiter, "\t")
    return text


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Return the rows that have text, one more than are read at most."""
    csv.field_size_limit(MAX_FIELD)
    sample = "\n".join(lines[:N_SAMPLE])
    quote = "'" if sample.count(f"'{delimiter}'") > sample.count(f'"{delimiter}"') else '"'
    try:
        rows = list(_parsed(lines, delimiter, quote))
    except csv.Error:
        rows = []
    if not rows or any(cell.count("\n") > MAX_CELL_LINES for row in rows for cell in row):
        # A lost quote: each line is a row, and quotes are characters.
        rows = [line.split(delimiter) for line in lines[: 2 * MAX_ROWS] if line.strip(delimiter + " ")]
    return rows


def _parsed(lines: Sequence[str], delimiter: str, quote: str) -> Iterator[list[str]]:
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter, quotechar=quote)
    filled = (row for row in reader if any(cell.strip() for cell in row))
    yield from itertools.islice(filled, MAX_ROWS + 1)


def _delimiter(lines: Sequence[str]) -> str:
    """Return the character that cuts most lines into the same number of cells; a comma when none does."""
    scores = {delimiter: _score(lines, delimiter) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: scores[delimiter])
    if best == "," and not any("," in DECIMAL_COMMA.sub("", line) for line in lines):
        # "1,5;2,5": commas inside numbers only, and something else that cuts all lines.
        other = max(DELIMITERS[1:], key=lambda delimiter: scores[delimiter])
        return other if scores[other] >= NEARLY_ALL else best
    return best


def _score(lines: Sequence[str], delimiter: str) -> float:
    try:
        rows = [row for row in csv.reader((line + "\n" for line in lines), delimiter=delimiter) if row]
    except csv.Error:
        return 0.0
    widths = Counter(len(row) for row in rows if len(row) > 1)
    if not widths:
        return 0.0
    width, n_same = widths.most_common(1)[0]
    return n_same / len(rows) + min(width, 20) / 1000  # the width only breaks ties


def _units(rows: Sequence[Sequence[str]]) -> Iterator[Unit]:
    sparse = [
        Row(number, {column: text for column, cell in enumerate(cells, 1) if (text := one_line(cell))})
        for number, cells in enumerate(rows[:N_SAMPLE], 1)
    ]
    if not sparse:
        return
    n_above = n_above_table(sparse, {})
    for row in rows[:n_above]:
        yield Unit(row_text([cell for cell in row if cell.strip()]), Locator())
    table = sparse[n_above:]
    columns = range(1, max((len(row) for row in rows[n_above:N_SAMPLE]), default=0) + 1)
    n_header, named = column_names(table, columns, {}, forms=False)
    names = [named.get(column, "") for column in columns]
    for number, row in enumerate(rows[n_above + n_header :], 1):
        text = named_row(names, row) if named else row_text(row)
        yield Unit(text, Locator(rows=(number, number)), UnitKind.TABLE_ROW)


def _within(units: Iterator[Unit]) -> Iterator[Unit]:
    n_left = MAX_TEXT
    for unit in units:
        n_left -= len(unit.text) + ROW_COST
        if n_left < 0:
            return
        yield unit
