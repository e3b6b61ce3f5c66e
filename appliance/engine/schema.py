"""Makes a JSON schema plain enough for the converter of the binding, and refuses what a grammar cannot promise. Pure.

The converter (llama_cpp.llama_grammar) leaves out in silence what it does not know: `minimum`, `not`, the properties
beside a list of types. It takes definitions of one name for one another, and finds none inside another. So everything
is read here first: what comes out has no such case, and whatever an answer may be under it, the schema allows too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import unquote

from appliance.engine.grammar import MAX_REPEAT
from appliance.errors import SamplingError

Schema = dict[str, Any]

MAX_BYTES = 64 * 1024
MAX_DEPTH = 64

_ANY: Schema = {"type": "value"}  # the converter's own word: {} means an object to it
_TELLS_NOTHING = {
    "title", "description", "default", "examples", "$schema", "$id", "$comment", "$defs", "definitions",
    "deprecated", "readOnly", "writeOnly", "discriminator",
}  # fmt: skip
# What each type may be told; of `format` only these say something to the converter, others are notes to it and to us.
_WORDS = {
    "object": {"properties", "required", "additionalProperties"},
    "array": {"items", "prefixItems", "minItems", "maxItems"},
    "string": {"minLength", "maxLength", "format"},
    "integer": {"format"},
    "number": {"format"},
    "boolean": set[str](),
    "null": set[str](),
}
_FORMATS = {"date", "time", "date-time", "uuid"}
_CHOICES = ("anyOf", "oneOf")


def plain(text: str) -> Schema:
    """Return a schema that the converter takes as it is meant.

    Args:
        text: the schema as JSON.
    Raises:
        SamplingError: it is no schema, or says what cannot be promised; names the place.
    """
    if len(text) > MAX_BYTES:
        raise SamplingError(f"schema: {len(text)} characters, {MAX_BYTES} are the most")
    try:
        return _Reader(json.loads(text), text).read()
    except (json.JSONDecodeError, RecursionError) as error:
        raise SamplingError(f"schema: cannot be read: {error}") from error


class _Reader:
    def __init__(self, document: Any, text: str) -> None:
        self._document = document
        self._names: dict[str, str] = {}  # pointer → its definition in what comes out
        self._definitions: dict[str, Schema] = {}
        self._prefix = "ref"  # names become names of rules, as those of properties do
        while self._prefix in text:
            self._prefix += "x"

    def read(self) -> Schema:
        root = self._schema(self._document, "#", 0)
        if not self._definitions:
            return root
        # A $ref at the root, alone in a choice: beside definitions the converter would not follow them.
        return {**({"anyOf": [root]} if "$ref" in root else root), "$defs": self._definitions}

    def _schema(self, schema: Any, place: str, depth: int) -> Schema:
        if depth > MAX_DEPTH:
            _refuse(place, f"nested more than {MAX_DEPTH} deep")
        if schema is True:
            return dict(_ANY)
        if not isinstance(schema, dict):
            _refuse(place, "must be an object" if schema is not False else "false allows nothing")
        said = {word: value for word, value in schema.items() if word not in _TELLS_NOTHING}
        if not said:
            return dict(_ANY)
        for word in ("$ref", "allOf", *_CHOICES, "enum", "const"):
            if word in said:
                return self._special(word, said, place, depth)
        return self._typed(said, place, depth)

    def _special(self, word: str, said: Schema, place: str, depth: int) -> Schema:
        value = said[word]
        beside = said.keys() - {word} - ({"type"} if word in ("enum", "const") else set())
        if beside:
            _refuse(place, f"`{word}` beside `{min(beside)}` is not offered")
        if word == "$ref":
            return {"$ref": f"#/$defs/{self._definition(value, place)}"}
        if word == "const":
            return {"const": value}
        if not isinstance(value, list) or not value:
            _refuse(place, f"`{word}` must be a list of at least one")
        if word == "enum":
            return {"enum": value}
        if word == "allOf" and len(value) > 1:
            _refuse(place, "`allOf` of more than one is not offered")
        ways = [self._schema(way, f"{place}/{word}/{at}", depth + 1) for at, way in enumerate(value)]
        return ways[0] if len(ways) == 1 else {"anyOf": ways}

    def _typed(self, said: Schema, place: str, depth: int) -> Schema:
        types = said.pop("type", None) or _implied(said)
        if isinstance(types, list) and types:
            ways = [self._typed({"type": t, **_of_type(said, t)}, place, depth) for t in types]
            left = set(said).difference(*(_WORDS.get(str(t), set()) for t in types))
            if left:
                _refuse(place, f"`{min(left)}` cannot be promised")
            return ways[0] if len(ways) == 1 else {"anyOf": ways}
        if types is None and said:
            _refuse(place, f"`{min(said)}` cannot be promised")
        if not isinstance(types, str) or types not in _WORDS:
            _refuse(place, f"type {json.dumps(types)} is unknown" if types else "it has no type")
        if unknown := said.keys() - _WORDS[types]:
            _refuse(place, f"`{min(unknown)}` cannot be promised")
        match types:
            case "object":
                return self._object(said, place, depth)
            case "array":
                return self._array(said, place, depth)
            case "string":
                return _string(said, place)
        return {"type": types}

    def _object(self, said: Schema, place: str, depth: int) -> Schema:
        properties, required = said.get("properties", {}), said.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            _refuse(place, "`properties` must be an object, `required` a list")
        for name in required:
            if not isinstance(name, str) or name not in properties:
                _refuse(place, f"`required` names {json.dumps(name)}, which is not in `properties`")
        if properties:
            # Further ones are allowed at most, never asked for: none is made.
            made = {n: self._schema(s, f"{place}/properties/{n}", depth + 1) for n, s in properties.items()}
            return {"type": "object", "properties": made, "required": required, "additionalProperties": False}
        further = said.get("additionalProperties", True)
        if further is False:
            return {"type": "object", "properties": {}, "additionalProperties": False}
        values = self._schema(further, f"{place}/additionalProperties", depth + 1)
        return {"type": "object", "additionalProperties": values}

    def _array(self, said: Schema, place: str, depth: int) -> Schema:
        least, most = _bounds(said, "minItems", "maxItems", place)
        first = said.get("prefixItems")
        if first is None:
            items = self._schema(said.get("items", True), f"{place}/items", depth + 1)
            return {"type": "array", "items": items, "minItems": least, "maxItems": most}
        if not isinstance(first, list) or not first:
            _refuse(place, "`prefixItems` must be a list of at least one")
        if least > len(first) or (most is not None and most < len(first)):
            _refuse(place, f"`prefixItems` names {len(first)} items: exactly these are made")
        ways = [self._schema(s, f"{place}/prefixItems/{at}", depth + 1) for at, s in enumerate(first)]
        return {"type": "array", "prefixItems": ways}

    def _definition(self, pointer: Any, place: str) -> str:
        if not isinstance(pointer, str) or not (pointer == "#" or pointer.startswith("#/")):
            _refuse(place, f"$ref {json.dumps(pointer)}: only places of this schema, like #/$defs/name")
        if pointer not in self._names:
            last = re.sub("[^A-Za-z0-9]+", "-", pointer.rpartition("/")[2]).strip("-")
            name = self._names[pointer] = f"{self._prefix}{len(self._names)}-{last}"
            self._definitions[name] = self._schema(self._find(pointer, place), pointer, 0)
        return self._names[pointer]

    def _find(self, pointer: str, place: str) -> Any:
        found = self._document
        for part in pointer.split("/")[1:]:
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            elif isinstance(found, dict) and key in found:
                found = found[key]
            else:
                _refuse(place, f"$ref {json.dumps(pointer)} leads nowhere")
        return found


def _string(said: Schema, place: str) -> Schema:
    least, most = _bounds(said, "minLength", "maxLength", place)
    if said.get("format") in _FORMATS:
        if (least, most) != (0, None):
            _refuse(place, "`format` beside a length is not offered")
        return {"type": "string", "format": said["format"]}
    return (
        {"type": "string"}
        if (least, most) == (0, None)
        else {"type": "string", "minLength": least, "maxLength": most}
    )


def _implied(said: Mapping[str, Any]) -> str | None:
    """Return the type that the words are about where it is not said."""
    return next((name for name in ("object", "array", "string") if said.keys() & _WORDS[name]), None)


def _of_type(said: Schema, name: Any) -> Schema:
    return {word: value for word, value in said.items() if word in _WORDS.get(str(name), set())}


def _bounds(said: Schema, least_word: str, most_word: str, place: str) -> tuple[int, int | None]:
    least, most = said.get(least_word, 0), said.get(most_word)
    for word, n in ((least_word, least), (most_word, most)):
        if n is not None and (not isinstance(n, int) or isinstance(n, bool) or not 0 <= n <= MAX_REPEAT):
            _refuse(place, f"`{word}` must be between 0 and {MAX_REPEAT}")
    if most is not None and most < least:
        _refuse(place, f"`{most_word}` is below `{least_word}`")
    return least, most


def _refuse(place: str, reason: str) -> NoReturn:
    raise SamplingError(f"schema, {place}: {reason}")
