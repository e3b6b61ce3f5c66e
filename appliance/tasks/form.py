"""What one extracted row looks like: column names or a JSON schema, as the model is told and held to. Pure."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from appliance.engine import schema as engine_schema
from appliance.errors import BadTaskError

MAX_NAME = 60  # characters of a column's name
_MAX_VALUE = 120  # characters of a value of a plain column: a small model fills what it is given
_MAX_ROWS = 40  # of one part
_MAX_DESCRIPTION = 200
_ARTICLE = re.compile(r"(?:an?|the|each)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a row.

    Attributes:
        schema: JSON schema of a list of rows, as JSON text.
        described: the columns as the model is told of them, a line each.
        row: what one row is, in words.
    """

    columns: tuple[str, ...]
    schema: str
    described: str
    row: str


def of_columns(columns: Sequence[str], row: str = "") -> Form:
    """Return the form of rows of text, null where the document does not say.

    Raises:
        BadTaskError: a name is empty, too long, or there twice.
    """
    names = [name.strip() for name in columns]
    for name in names:
        if not name or len(name) > MAX_NAME or any(unicodedata.category(c).startswith("C") for c in name):
            raise BadTaskError(f"columns: {name!r} is no name of 1 to {MAX_NAME} characters")
    if twice := {name for name in names if [n.casefold() for n in names].count(name.casefold()) > 1}:
        raise BadTaskError(f"columns: {min(twice)!r} is there twice")
    properties = {name: {"type": ["string", "null"], "maxLength": _MAX_VALUE} for name in names}
    return _form({"type": "object", "properties": properties, "required": names}, row)


def of_schema(schema: dict[str, Any], row: str = "") -> Form:
    """Return the form that a JSON schema says: of one row, an object with properties, or of a list of such rows.

    Raises:
        BadTaskError: it is of something else, so that nobody can tell what a row is.
        SamplingError: it says what cannot be promised; names the place.
    """
    try:
        engine_schema.plain(json.dumps(schema))  # for the places that the caller knows
    except RecursionError:
        raise BadTaskError("json_schema: it is nested too deeply") from None
    items = schema.get("items")
    one = (
        {**_definitions(schema), **items}
        if schema.get("type") == "array" and isinstance(items, dict)
        else schema
    )
    if one.get("type") != "object" or not one.get("properties"):
        raise BadTaskError(
            "json_schema: what is a row? Give an object with `properties`, one for each column, or an array of such"
        )
    return _form(one, row)


def _form(one: dict[str, Any], row: str) -> Form:
    item = {
        word: value for word, value in one.items() if word not in ("$defs", "definitions", "$schema", "$id")
    }
    rows = {"type": "array", "items": item, "maxItems": _MAX_ROWS, **_definitions(one)}
    text = json.dumps(rows, ensure_ascii=False)
    engine_schema.plain(text)
    properties: dict[str, Any] = one["properties"]
    described = "\n".join(f"- {name}{_description(said)}" for name, said in properties.items())
    return Form(tuple(properties), text, described, _ARTICLE.sub("", row.strip(), count=1) or "entry")


def _definitions(schema: dict[str, Any]) -> dict[str, Any]:
    return {word: schema[word] for word in ("$defs", "definitions") if word in schema}


def _description(said: Any) -> str:
    words = said.get("description") if isinstance(said, dict) else None
    return (
        f": {' '.join(words.split())[:_MAX_DESCRIPTION]}" if isinstance(words, str) and words.strip() else ""
    )
