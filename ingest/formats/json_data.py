"""JSON, JSON lines and GeoJSON: records as units that name their values. Knows no schema beyond GeoJSON's features."""

from __future__ import annotations

import json
from typing import Any

from ingest.formats import code
from ingest.formats.encoding import decode
from ingest.formats.reading import Reading
from ingest.formats.records import Number, Record, Records, Value, too_deep
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits
from ingest.locator import Locator
from ingest.unit import Unit

MAX_BAD_LINES = (
    0.1  # share of JSON lines that may be broken (a writer was killed) before all is read as plain text
)


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a JSON file, or one with a JSON value on each line; what is neither is read as lines of text, with a note.

    Raises:
        RefusedError: it is nested deeper than any data for people.
    """
    text = decode(data, limits.legacy_encoding).lstrip("\ufeff")
    try:
        value = loads(text)
    except ValueError as error:
        return _lines(text) or _plain(text, error)
    records = Records()
    units = records.units(value)
    return Reading(units, value.title() if isinstance(value, Record) else "", notes=records.notes)


def loads(text: str) -> Value:
    """Parse JSON; numbers stay as they were written, objects keep the order of their fields.

    Raises:
        ValueError: it is no JSON.
        RefusedError: it is nested deeper than the parser goes.
    """
    try:
        value: Value = json.loads(
            text, object_pairs_hook=_object, parse_int=Number, parse_float=Number, parse_constant=Number
        )
    except RecursionError as error:
        raise too_deep() from error
    return value


def _object(pairs: list[tuple[str, Any]]) -> Record:
    """Turn an object's fields into a record; a GeoJSON feature's properties are its fields."""
    fields = [(one_line(name)[:80], value) for name, value in pairs]
    if ("type", "Feature") in fields:
        properties = next((value for name, value in fields if name == "properties"), None)
        if isinstance(properties, Record):
            rest = [(name, value) for name, value in fields if name not in ("type", "properties")]
            return Record(properties.fields + rest)
    return Record(fields)


def _lines(text: str) -> Reading | None:
    """Read JSON lines, or return None where they are none: each record then knows its line."""
    values: list[Value] = []
    numbers: list[int] = []
    n_bad = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values.append(loads(line))
            numbers.append(number)
        except ValueError:
            n_bad += 1
        if n_bad > 3 and n_bad > len(values) * MAX_BAD_LINES:
            return None
    if (
        len(values) < 2
        or n_bad > max(1, len(values) * MAX_BAD_LINES)
        or not isinstance(values[0], Record | list)
    ):
        return None
    records = Records([f"lines that are broken and not read: {n_bad}"] if n_bad else [])
    units = [_on_line(unit, numbers) for unit in records.units(values)]
    return Reading(units, notes=records.notes)


def _on_line(unit: Unit, numbers: list[int]) -> Unit:
    if unit.locator.rows is None:
        return unit
    line = numbers[unit.locator.rows[0] - 1]
    return Unit(
        unit.text, Locator(heading=unit.locator.heading, lines=(line, line)), unit.kind, flags=unit.flags
    )


def _plain(text: str, error: ValueError) -> Reading:
    where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
    return Reading(code.units(text), notes=[f"its JSON is broken{where}: it is read as plain text"])
