from __future__ import annotations

import json
from typing import Any

import pytest

from appliance.engine import schema
from appliance.errors import SamplingError

ANY = {"type": "value"}


def plain(document: Any) -> dict[str, Any]:
    return schema.plain(json.dumps(document))


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({}, ANY),
        (True, ANY),
        ({"title": "A number", "type": "number", "default": 3}, {"type": "number"}),
        ({"type": "string", "format": "email"}, {"type": "string"}),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"maxLength": 3}, {"type": "string", "minLength": 0, "maxLength": 3}),
        ({"type": ["string", "null"], "maxLength": 3},
         {"anyOf": [{"type": "string", "minLength": 0, "maxLength": 3}, {"type": "null"}]}),
        ({"type": "array"}, {"type": "array", "items": ANY, "minItems": 0, "maxItems": None}),
        ({"type": "array", "prefixItems": [True, {"type": "null"}], "minItems": 2, "maxItems": 2},
         {"type": "array", "prefixItems": [ANY, {"type": "null"}]}),
        ({"properties": {"a": True}}, {"type": "object", "properties": {"a": ANY}, "required": [],
                                       "additionalProperties": False}),
        ({"type": "object"}, {"type": "object", "additionalProperties": ANY}),
        ({"type": "object", "additionalProperties": False},
         {"type": "object", "properties": {}, "additionalProperties": False}),
        ({"allOf": [{"const": 3}]}, {"const": 3}),
        ({"oneOf": [{"type": "null"}, {"enum": [1, "x"]}]}, {"anyOf": [{"type": "null"}, {"enum": [1, "x"]}]}),
        ({"$ref": "#/$defs/a_b", "$defs": {"a_b": {"type": "null"}}},
         {"anyOf": [{"$ref": "#/$defs/refx0-a-b"}], "$defs": {"refx0-a-b": {"type": "null"}}}),
        ({"type": "array", "items": {"$ref": "#"}},
         {"type": "array", "items": {"$ref": "#/$defs/refx0-"}, "minItems": 0, "maxItems": None,
          "$defs": {"refx0-": {"type": "array", "items": {"$ref": "#/$defs/refx0-"},
                               "minItems": 0, "maxItems": None}}}),
    ],
)  # fmt: skip
def test_schema_comes_out_as_the_converter_takes_it(document: Any, expected: dict[str, Any]) -> None:
    assert plain(document) == expected


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (False, "#: false allows nothing"),
        ([], "#: must be an object"),
        ({"type": "nope"}, 'type "nope" is unknown'),
        ({"type": []}, "has no type"),
        ({"type": "integer", "minimum": 3}, "`minimum` cannot be promised"),
        ({"type": ["integer", "null"], "minimum": 3}, "`minimum` cannot be promised"),
        ({"type": "string", "pattern": "^a|b$"}, "`pattern` cannot be promised"),
        ({"properties": {"a": {"not": {}}}}, "#/properties/a: `not` cannot be promised"),
        ({"properties": {}, "required": ["x"]}, '`required` names "x"'),
        ({"type": "array", "uniqueItems": True}, "`uniqueItems` cannot be promised"),
        ({"type": "array", "minItems": 2000}, "between 0 and 1999"),
        ({"type": "array", "minItems": 3, "maxItems": 2}, "`maxItems` is below `minItems`"),
        ({"type": "array", "prefixItems": [True], "minItems": 2}, "exactly these are made"),
        ({"type": "string", "minLength": "3"}, "between 0 and 1999"),
        ({"enum": []}, "at least one"),
        ({"anyOf": [{"type": "null"}], "properties": {}}, "`anyOf` beside `properties`"),
        ({"allOf": [{"type": "null"}, {"type": "null"}]}, "`allOf` of more than one"),
        ({"$ref": "https://example.org/s.json"}, "only places of this schema"),
        ({"$ref": "#/$defs/a"}, "leads nowhere"),
    ],
)
def test_what_cannot_be_promised_is_refused_by_name(document: Any, reason: str) -> None:
    with pytest.raises(SamplingError, match=reason.replace("$", r"\$").replace("|", r"\|")):
        plain(document)


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 5000, '{"items":' * 900 + "{}" + "}" * 900, '{"title":"' + "x" * 70_000 + '"}']
)
def test_text_that_is_no_schema_or_a_huge_one_is_refused(text: str) -> None:
    with pytest.raises(SamplingError, match=r"^schema"):
        schema.plain(text)
