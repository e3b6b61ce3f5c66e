"""Rows of a table as text that reads well alone: what CSV, HTML, Markdown, DOCX and PDF tables share."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.formats.tidy import one_line

SEPARATOR = " | "


def row_text(cells: Sequence[str]) -> str:
    """Join a row's cells in order; empty cells keep their place, so that columns stay columns."""
    tidy = [one_line(cell) for cell in cells]
    return SEPARATOR.join(tidy).strip() if any(tidy) else ""


def named_row(names: Sequence[str], cells: Sequence[str]) -> str:
    """Return "Name: Widget; Price: 3.20": a row that can be read, found and quoted without its table.

    Empty cells are left out; cells beyond the last name stand alone.
    """
    parts = []
    for i, cell in enumerate(one_line(cell) for cell in cells):
        name = one_line(names[i]) if i < len(names) else ""
        if cell:
            parts.append(f"{name}: {cell}" if name else cell)
    return "; ".join(parts)


def looks_like_header(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Tell whether a table's first row names its columns: words, all different, unlike the rows below."""
    cells = [cell.strip() for cell in first]
    filled = [cell for cell in cells if cell]
    if not filled or len(filled) < len(cells) - 1 or len(set(filled)) < len(filled):
        return False
    if any(is_value(cell) or len(cell) > 80 for cell in filled):
        return False
    return bool(others)


def is_value(cell: str) -> bool:
    """Tell a number, amount or date from a name: mostly digits, and no word of three letters."""
    digits = sum(ch.isdigit() for ch in cell)
    letters = sum(ch.isalpha() for ch in cell)
    return digits > 0 and digits >= letters
