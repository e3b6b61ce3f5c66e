"""How far a sheet of a binary workbook (XLSB) reaches: a look at its records before anything lays them out.

Reads no values. Source: [MS-XLSB] 2.1.4 (records), 2.4 (cells).
"""

from __future__ import annotations

ROW = 0
FIRST_CELL, LAST_CELL = 1, 11


def n_area(part: bytes) -> int:
    """Count the cells of a worksheet's part from the first to the last."""
    rows: list[int] = []
    columns: list[int] = []
    at = row = 0
    while at < len(part):
        kind, at = _number(part, at, 2)
        length, at = _number(part, at, 4)
        if kind <= LAST_CELL and at + 4 <= len(part):
            place = int.from_bytes(part[at : at + 4], "little")
            if kind == ROW:
                row = place
            else:
                rows = [min(row, *rows), max(row, *rows)] if rows else [row, row]
                columns = [min(place, *columns), max(place, *columns)] if columns else [place, place]
        at += length
    return (rows[-1] - rows[0] + 1) * (columns[-1] - columns[0] + 1) if rows else 0


def _number(part: bytes, at: int, max_bytes: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, the lowest first, and the place after it."""
    number = shift = 0
    for _ in range(max_bytes):
        byte = part[at] if at < len(part) else 0
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            break
    return number, at
