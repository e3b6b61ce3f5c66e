"""Rows as CSV and as lines of JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from appliance.api.schema_tasks import Row, TaskSource
from appliance.tasks.rows import read_rows
from appliance.tasks.table import to_csv, to_lines

SOURCE = TaskSource(document_id=1, path="a.txt", version="00", locator="page 2", chunk_id=7)


def row(verified: bool = True, **values: Any) -> Row:
    return Row(number=1, values=values, verified=dict.fromkeys(values, verified), sources=[SOURCE])


def test_csv_is_read_back_as_it_was_and_ends_its_lines_as_the_standard_says() -> None:
    values = {"a": 'say "so"', "b": "one, two\nthree", "c": None, "d": 3.5, "e": ["x"]}
    text = to_csv(list(values), [row(**values)])
    assert text.endswith("\r\n")
    header, line = csv.reader(io.StringIO(text, newline=""))
    assert header == ["a", "b", "c", "d", "e", "_document", "_place", "_verified"]
    assert line == ['say "so"', "one, two\nthree", "", "3.5", '["x"]', "a.txt", "page 2", "yes"]
    assert to_csv(["a"], [row(False, a="x")]).endswith("no: a\r\n")


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+49 30 1234", "'+49 30 1234"),
        ("@sum(a1)", "'@sum(a1)"),
        ("-cmd", "'-cmd"),
        ("\t=1", "'\t=1"),
        (" =1", "' =1"),
        ("-5", "-5"),
        ("+3.50", "+3.50"),
        ("-1,200.5", "-1,200.5"),
        ("-12 %", "'-12 %"),
        ("-12%", "-12%"),
        ("2-1", "2-1"),
        (-4, "-4"),
    ],
)
def test_a_spreadsheet_takes_no_cell_for_a_formula(value: Any, cell: str) -> None:
    [_, line] = csv.reader(io.StringIO(to_csv(["a"], [row(a=value)]), newline=""))
    assert line[0] == cell


def test_each_line_of_json_is_a_row() -> None:
    [line] = to_lines([row(a="x\ny")]).splitlines()
    assert json.loads(line) == {
        "values": {"a": "x\ny"},
        "verified": {"a": True},
        "sources": [SOURCE.model_dump()],
    }


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('[{"a":1},{"a":{"b":[2]}}]', [{"a": 1}, {"a": {"b": [2]}}]),
        ('[{"a":1},{"a":', [{"a": 1}]),
        ('[{"a":"}{"},', [{"a": "}{"}]),
        ("[]", []),
        ("", []),
        ("{", []),
    ],
)
def test_the_complete_rows_of_a_list_that_breaks_off_are_read(text: str, rows: list[Any]) -> None:
    assert read_rows(text) == rows
