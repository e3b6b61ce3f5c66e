"""Rows as CSV (RFC 4180) or as lines of JSON. Pure.

A spreadsheet takes a cell that begins with = + - or @ for a formula, and what is in a document is not ours to run: such
cells get an apostrophe in front, numbers excepted.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any

from appliance.api.schema_tasks import Row

_NUMBER = re.compile(r"[+-]?(?:\d[\d.,]*|[.,]\d+)(?:[eE][+-]?\d+)?%?")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # Excel takes the wide ones too


def to_csv(columns: Sequence[str], rows: Sequence[Row]) -> str:
    """Return rows as CSV with a header; three columns more say where each comes from and whether that says it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([_cell(name) for name in (*columns, "_document", "_place", "_verified")])
    for row in rows:
        source = row.sources[0]
        values = [_cell(row.values.get(column)) for column in columns]
        writer.writerow([*values, _cell(source.path), _cell(source.locator), _verified(row)])
    return out.getvalue()


def to_lines(rows: Sequence[Row]) -> str:
    """Return a row of JSON a line: its values, which of them are verified, its sources."""
    kept = (
        {"values": r.values, "verified": r.verified, "sources": [s.model_dump() for s in r.sources]}
        for r in rows
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept)


def _verified(row: Row) -> str:
    return (
        "yes"
        if all(row.verified.values())
        else "no: " + " ".join(c for c, said in row.verified.items() if not said)
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    guarded = text.lstrip(" ").startswith(_FORMULA) and not _NUMBER.fullmatch(text.strip())
    return f"'{text}" if guarded else text
