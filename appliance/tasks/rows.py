"""Rows that a model wrote: read, compared with their source, merged. Pure.

A value is verified where it stands in the text that the model was given, as it is; a row of which nothing does is
dropped: small models fill in what a table should hold.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from appliance.api.schema_tasks import Row, TaskSource
from appliance.tasks.groups import Group, place_of
from appliance.tasks.material import source_of
from appliance.tasks.number_check import Numbers

# Without an example a 0.5B writes whole lines as one value; with it, it fills gaps from the example (2026-11-30).
EXAMPLE = "Oldenrode (1142) and Neuhof"
EXAMPLE_ROWS = '[{"town": "Oldenrode", "founded": "1142"}, {"town": "Neuhof", "founded": null}]'

_ROUNDS = 4
_MAX_SOURCES = 20
_NEARBY = (
    200  # rows of the same document that may be completed by a new one: parts that touch tell the same twice
)
_NOTHING = frozenset(
    {"null", "none", "nil", "n/a", "na", "unknown", "not specified", "not given", "not mentioned"}
)
_SAME = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u00ad": ""})

Values = dict[str, Any]


def read_rows(text: str) -> list[Values]:
    """Return the complete objects of a JSON list that may break off."""
    decoder, rows, at = json.JSONDecoder(), [], text.find("[") + 1
    while (at := text.find("{", at)) >= 0:
        try:
            row, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        rows.append(row)
    return rows


def goes_round(text: str) -> bool:
    """Tell whether a model that found nothing more writes its last row again and again."""
    if not text.rstrip(", \n").endswith("}"):
        return False
    last = read_rows(text)[-_ROUNDS:]
    return len(last) == _ROUNDS and all(row == last[0] for row in last)


class Part:
    """The text that rows were taken from, ready to be looked up."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._text = _normal(group.text)
        self._numbers = Numbers([group.text])
        self._chunks = [(chunk, _normal(chunk.text)) for chunk in group.chunks]

    def says(self, value: Any) -> bool | None:
        """Tell whether a value stands in the text; None where there is nothing to look up."""
        match value:
            case None | bool():
                return None
            case int() | float():
                return self._numbers.has(f"{abs(value):.10f}".rstrip("0").rstrip("."))
            case str():
                return _stands_in(_normal(value), self._text) if value.strip() else None
            case dict() | list():
                inner = [self.says(v) for v in (value.values() if isinstance(value, dict) else value)]
                known = [said for said in inner if said is not None]
                return all(known) if known else None
        return False

    def source(self, values: Values) -> TaskSource:
        """Return the place that holds most of a row's values; the whole part where that is several places'."""
        wanted = [_normal(str(value)) for value in values.values() if isinstance(value, str | int | float)]
        found = [(sum(_stands_in(value, text) for value in wanted), chunk) for chunk, text in self._chunks]
        most, best = max(found, key=lambda each: each[0])
        return source_of(best) if most else source_of(best, place_of(self._group.chunks))


class Table:
    """Rows as they come in. `n_dropped` counts those of which nothing stands in the document."""

    def __init__(self, columns: Sequence[str], *, strict: bool) -> None:
        self.n_dropped = 0
        self._columns = columns
        self._strict = strict
        self._rows: list[Row] = []
        self._by_values: dict[str, int] = {}
        self._nearby: deque[int] = deque(maxlen=_NEARBY)

    @property
    def rows(self) -> list[Row]:
        """All rows, in the order of their numbers."""
        return list(self._rows)

    def take(self, found: Sequence[Values], part: Part) -> Iterator[Row]:
        """Take the rows of a part; yield those that are new, and those that are more complete than before."""
        for values in found:
            row = self._checked({column: values.get(column) for column in self._columns}, part)
            if row is None:
                continue
            known = self._known(row)
            if known is None:
                yield self._append(row)
            elif (merged := _merged(self._rows[known], row)) != self._rows[known]:
                self._put(known, merged)
                yield merged

    def _checked(self, values: Values, part: Part) -> Row | None:
        values = {c: None if _says_nothing(value, part) else value for c, value in values.items()}
        said = {column: part.says(value) for column, value in values.items()}
        verified = {column: bool(found) for column, found in said.items() if found is not None}
        if all(_is_empty(value) for value in values.values()):
            return None
        if verified and not any(verified.values()):
            self.n_dropped += 1
            return None
        if self._strict:
            values = {c: None if verified.get(c) is False else value for c, value in values.items()}
        return Row(
            number=len(self._rows) + 1, values=values, verified=verified, sources=[part.source(values)]
        )

    def _known(self, row: Row) -> int | None:
        if (same := self._by_values.get(_key(row.values))) is not None:
            return same
        near = (at for at in reversed(self._nearby) if _same_document(self._rows[at], row))
        return next((at for at in near if _one_completes_the_other(self._rows[at].values, row.values)), None)

    def _append(self, row: Row) -> Row:
        self._rows.append(row)
        self._put(row.number - 1, row)
        self._nearby.append(row.number - 1)
        return row

    def _put(self, at: int, row: Row) -> None:
        self._rows[at] = row
        self._by_values[_key(row.values)] = at


def _merged(old: Row, new: Row) -> Row:
    values = {c: new.values[c] if _is_empty(value) else value for c, value in old.values.items()}
    verified = {
        c: old.verified.get(c, False) or new.verified.get(c, False) for c in old.verified | new.verified
    }
    sources = [*old.sources, *(s for s in new.sources if s not in old.sources)][:_MAX_SOURCES]
    return old.model_copy(update={"values": values, "verified": verified, "sources": sources})


def _one_completes_the_other(one: Values, other: Values) -> bool:
    both = [c for c in one if not _is_empty(one[c]) and not _is_empty(other[c])]
    if not both or any(_key({c: one[c]}) != _key({c: other[c]}) for c in both):
        return False
    return len(both) in (_n_filled(one), _n_filled(other))


def _n_filled(values: Values) -> int:
    return sum(not _is_empty(value) for value in values.values())


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, str) and not value.strip()) or value in ([], {})


def _says_nothing(value: Any, part: Part) -> bool:
    """Tell whether a small model wrote a word for null, or a value of the example."""
    if not isinstance(value, str) or part.says(value):
        return False
    return value.strip().casefold() in _NOTHING or _stands_in(_normal(value), _normal(EXAMPLE))


def _same_document(one: Row, other: Row) -> bool:
    return one.sources[0].document_id == other.sources[0].document_id


def _key(values: Values) -> str:
    return _normal(json.dumps(values, ensure_ascii=False, default=str))


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).translate(_SAME).casefold().split())


def _stands_in(value: str, text: str) -> bool:
    if not value:
        return False
    # Whole words, in scripts that part them: "12" does not stand in "1201".
    before = r"(?<!\w)" if value[0].isascii() and value[0].isalnum() else ""
    after = r"(?!\w)" if value[-1].isascii() and value[-1].isalnum() else ""
    return re.search(before + re.escape(value) + after, text) is not None
