"""Notebooks: text, code and printed output, cell by cell. Runs nothing, shows no picture."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ingest.formats import md
from ingest.formats.encoding import decode
from ingest.formats.headings import Headings
from ingest.formats.reading import Reading, damaged
from ingest.formats.records import too_deep
from ingest.formats.tidy import visible, without_terminal_codes
from ingest.limits import ParseLimits
from ingest.locator import Locator
from ingest.unit import Unit, UnitKind

MAX_OUTPUT = 10_000  # characters of one cell's output that are read
BLOCK_LINES = 12  # of one unit


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a notebook (version 3 or 4); each unit's heading ends with "cell 3", counted from 1.

    Raises:
        RefusedError: it is no notebook.
    """
    try:
        book = json.loads(decode(data, limits.legacy_encoding).lstrip("\ufeff"))
    except RecursionError as error:
        raise too_deep() from error
    except ValueError as error:
        raise damaged(f"its JSON is broken ({error}): save the notebook again") from error
    notebook = _Notebook()
    units = [unit for number, cell in enumerate(_cells(book), 1) for unit in notebook.cell(number, cell)]
    title = next((unit.text for unit in units if unit.kind is UnitKind.HEADING), "")
    return Reading(units, title, notes=notebook.notes)


def _cells(book: Any) -> list[dict[str, Any]]:
    if not isinstance(book, dict):
        raise damaged("this is no notebook: its cells are missing")
    sheets = book.get("worksheets")  # version 3
    found = book.get("cells") or (sheets and isinstance(sheets, list) and _dict(sheets[0]).get("cells")) or []
    return [cell for cell in found if isinstance(cell, dict)] if isinstance(found, list) else []


@dataclass
class _Notebook:
    """A walk over cells; headings of Markdown cells hold for the cells after them."""

    headings: Headings = field(default_factory=Headings)
    notes: list[str] = field(default_factory=list)

    def cell(self, number: int, cell: dict[str, Any]) -> Iterator[Unit]:
        kind = cell.get("cell_type")
        source = _joined(cell.get("source", cell.get("input")))
        if kind in ("markdown", "heading"):
            level = cell.get("level") if kind == "heading" else None
            marked = f"{'#' * level} {source}" if isinstance(level, int) and 0 < level < 7 else source
            for unit in md.units(marked, self.headings):
                yield self._placed(unit, number)
            return
        yield from self._code(source, number)
        if kind == "code":
            for output in (_dict(entry) for entry in _list(cell.get("outputs"))):
                yield from self._output(_output_text(output), number)

    def _placed(self, unit: Unit, number: int) -> Unit:
        locator = Locator(heading=(*unit.locator.heading, f"cell {number}"), rows=unit.locator.rows)
        return Unit(unit.text, locator, unit.kind, unit.header, unit.flags)

    def _code(self, text: str, number: int) -> Iterator[Unit]:
        lines = visible(without_terminal_codes(text)).rstrip().split("\n")
        locator = Locator(heading=(*self.headings.path, f"cell {number}"))
        for first in range(0, len(lines), BLOCK_LINES):
            block = "\n".join(lines[first : first + BLOCK_LINES]).strip("\n")
            if block.strip():
                yield Unit(block, locator, UnitKind.CODE)

    def _output(self, text: str, number: int) -> Iterator[Unit]:
        if len(text) > MAX_OUTPUT:
            self.notes.append(
                f"cell {number}: only the first {MAX_OUTPUT:,} characters of its output are read"
            )
        yield from self._code(text[:MAX_OUTPUT], number)


def _output_text(output: dict[str, Any]) -> str:
    """Return an output's plain text; pictures and pages come with one where they say anything."""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    told = output.get("text") or _dict(output.get("data")).get("text/plain")
    return _joined(told)


def _joined(source: Any) -> str:
    """Return what a notebook stores as one text or as a list of lines."""
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
