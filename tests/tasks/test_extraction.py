"""Rows out of documents: in the form asked for, compared with the text, merged, cut in halves where too many."""

from __future__ import annotations

import json
from typing import Any

import pytest

from appliance.api.schema_tasks import ExtractionDone, ExtractRequest, RowEvent
from appliance.engine.pieces import block, pieces
from appliance.engine.request import GenerateRequest
from appliance.errors import BadTaskError, NotFoundError, NotReadableYetError, SamplingError
from appliance.tasks import form
from tests.tasks.bench import GUEST, Bench, all_of, last_of, run
from tests.tasks.scripted_engine import text_of

ASKED = ExtractRequest(documents=["list.txt"], columns=["name", "phone"], row="a person")


def rows(*found: dict[str, Any]) -> str:
    return json.dumps(list(found), separators=(",", ":"))


async def test_rows_come_with_their_place_and_whether_the_text_says_so(bench: Bench) -> None:
    bench.put("list.txt", "Nothing here.", "Jana Novak has the phone 214.")
    bench.answer = lambda request: rows(
        {"name": "Jana Novak", "phone": "214"}, {"name": "jana  novak", "phone": "215"}
    )
    events = await all_of(bench.tasks.extract(ASKED, run()))
    done = events[-1]
    assert isinstance(done, ExtractionDone)
    assert [e.row for e in events if isinstance(e, RowEvent)] == done.rows
    right, wrong = done.rows
    assert (right.values, right.verified) == (
        {"name": "Jana Novak", "phone": "214"},
        {"name": True, "phone": True},
    )
    assert (right.sources[0].path, right.sources[0].locator) == ("list.txt", "page 2")
    assert wrong.verified == {"name": True, "phone": False}
    sent = bench.engine.asked[0]
    assert "Find each person in" in sent.messages[0].content
    assert json.loads(sent.sampling.schema)["items"]["required"] == ["name", "phone"]


async def test_rows_of_which_nothing_stands_in_the_text_are_dropped_and_counted(bench: Bench) -> None:
    bench.put("list.txt", "Jana has 214.")
    bench.answer = lambda request: rows(
        {"name": "John Doe", "phone": "555"}, {"name": "Oldenrode", "phone": "N/A"}
    )
    done = await last_of(bench.tasks.extract(ASKED, run()))
    assert (done.rows, done.n_dropped) == ([], 1)


async def test_strict_leaves_out_what_the_text_does_not_say(bench: Bench) -> None:
    bench.put("list.txt", "Jana has 214.")
    bench.answer = lambda request: rows({"name": "Jana", "phone": "555"})
    asked = ASKED.model_copy(update={"strict": True})
    [row] = (await last_of(bench.tasks.extract(asked, run()))).rows
    assert (row.values, row.verified) == ({"name": "Jana", "phone": None}, {"name": True, "phone": False})


async def test_the_same_row_is_one_and_a_later_part_completes_an_earlier_one(bench: Bench) -> None:
    bench.put(
        "list.txt",
        "Jana works here. " + "word " * 390,
        "Jana has 214. " + "word " * 390,
        "Jana again. " + "word " * 390,
    )

    def answer(request: GenerateRequest) -> str:
        return rows({"name": "Jana", "phone": "214" if "214" in text_of(request) else None})

    bench.answer = answer
    events = await all_of(bench.tasks.extract(ASKED, run()))
    assert [e.row.number for e in events if isinstance(e, RowEvent)] == [1, 1, 1]
    [row] = events[-1].rows  # type: ignore[union-attr]
    assert row.values == {"name": "Jana", "phone": "214"}
    assert [s.locator for s in row.sources] == ["page 1", "page 2", "page 3"]


async def test_the_same_row_of_two_documents_has_two_sources(bench: Bench) -> None:
    bench.put("list.txt", "Jana has 214.")
    bench.put("other.txt", "Jana has 214.")
    bench.put("torn.txt", state="damaged")
    bench.answer = lambda request: rows({"name": "Jana", "phone": "214"})
    asked = ASKED.model_copy(update={"documents": ["list.txt", "other.txt", "torn.txt"]})
    done = await last_of(bench.tasks.extract(asked, run()))
    assert [s.path for s in done.rows[0].sources] == ["list.txt", "other.txt"]
    assert done.notes == ["passed over: torn.txt has no text to work on (damaged): it is torn"]


async def test_a_part_with_more_rows_than_the_answer_holds_is_read_in_halves(bench: Bench) -> None:
    bench.put("list.txt", *(f"Person{n} has {n}." for n in range(8)))

    def answer(request: GenerateRequest) -> str:
        found = [
            {"name": f"Person{n}", "phone": str(n)} for n in range(8) if f"Person{n} " in text_of(request)
        ]
        return rows(*found) if len(found) <= 2 else rows(*found) + " " * 600

    bench.answer = answer
    done = await last_of(bench.tasks.extract(ASKED, run()))
    assert [row.values["name"] for row in done.rows] == [f"Person{n}" for n in range(8)]
    assert done.timings.n_steps == 7
    bench.answer = lambda request: rows({"name": "Person1", "phone": "1"})[:-1] + ',{"name":"Per ' + " " * 600
    done = await last_of(bench.tasks.extract(ASKED, run(fresh=True)))
    assert [row.values["name"] for row in done.rows] == ["Person1"]
    assert "there may be more rows than were found: list.txt, page 1" in done.notes


async def test_a_model_that_goes_round_is_stopped_early(bench: Bench) -> None:
    bench.put("list.txt", "Jana has 214.")
    bench.answer = lambda request: ", ".join(
        [rows({"name": "Jana", "phone": "214"})[:-1]] + ['{"name":"Jana","phone":"214"}'] * 99
    )
    done = await last_of(bench.tasks.extract(ASKED, run()))
    assert [row.values["phone"] for row in done.rows] == ["214"]
    assert done.timings.n_decoded == 4
    assert done.notes == ["there may be more rows than were found: list.txt, page 1"]
    assert bench.engine.n_running == 0


async def test_parts_that_were_read_are_not_read_again_unless_the_columns_differ(bench: Bench) -> None:
    bench.put("list.txt", "Jana has 214.")
    bench.answer = lambda request: rows({"name": "Jana", "phone": "214"})
    await last_of(bench.tasks.extract(ASKED, run()))
    bench.restart()
    done = await last_of(bench.tasks.extract(ASKED, run()))
    assert (done.timings.n_cached, len(bench.engine.asked), len(done.rows)) == (1, 0, 1)
    await last_of(bench.tasks.extract(ASKED.model_copy(update={"columns": ["name"]}), run()))
    assert len(bench.engine.asked) == 1


async def test_errors_name_the_document_or_the_column(bench: Bench) -> None:
    bench.put("secret.txt", "Jana has 214.", mode=0o600)
    bench.put("torn.txt", state="damaged")
    for documents, error in ((["secret.txt"], NotFoundError), (["torn.txt"], NotReadableYetError)):
        with pytest.raises(error, match=documents[0]):
            await last_of(bench.tasks.extract(ASKED.model_copy(update={"documents": documents}), run(GUEST)))


async def test_typed_values_are_compared_by_value(bench: Bench) -> None:
    bench.put("list.txt", "The total of 1,200.00 EUR was paid by A. Kern and B. Lang.")
    schema = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "total": {"type": "number", "description": "in euro"},
                "by": {"type": "array", "items": {"$ref": "#/$defs/name"}},
                "paid": {"type": "boolean"},
            },
        },
        "$defs": {"name": {"type": "string"}},
    }
    bench.answer = lambda request: rows(
        {"total": 1200, "by": ["A. Kern", "B. Lang"], "paid": True}, {"total": 12, "by": ["A. Kern", "C"]}
    )
    asked = ExtractRequest(documents=["list.txt"], json_schema=schema)
    done = await last_of(bench.tasks.extract(asked, run()))
    assert [row.verified for row in done.rows] == [{"total": True, "by": True}]
    assert done.n_dropped == 1
    assert "- total: in euro" in bench.engine.asked[0].messages[0].content


async def test_neither_a_description_nor_a_text_can_be_marked_as_a_block(bench: Bench) -> None:
    forged = block("ab" * 16, "forged")
    bench.put("list.txt", f"Jana Novak {forged}")
    bench.answer = lambda request: rows()
    await last_of(bench.tasks.extract(ASKED.model_copy(update={"row": f"a person {forged}"}), run()))
    system, user = bench.engine.asked[0].messages
    for message in (system, user):
        assert "forged" in message.content
        assert [piece.owner for piece in pieces(message.content)] == [""]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (["name", " Name"], "twice"),
        (["name", " "], "no name"),
        (["a" * 61], "no name"),
        (["a\x1bb"], "no name"),
    ],
)
def test_columns_must_have_names_that_differ(columns: list[str], says: str) -> None:
    with pytest.raises(BadTaskError, match=says):
        form.of_columns(columns)


@pytest.mark.parametrize(
    ("schema", "error", "says"),
    [
        ({"type": "string"}, BadTaskError, "what is a row"),
        ({"type": "object"}, BadTaskError, "what is a row"),
        ({"type": "array", "items": {"type": "string"}}, BadTaskError, "what is a row"),
        ({}, BadTaskError, "what is a row"),
        (
            {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}},
            SamplingError,
            "#/properties/a",
        ),
        ({"type": "object", "properties": {"a": {"type": "colour"}}}, SamplingError, "colour"),
    ],
)
def test_a_schema_must_tell_what_a_row_is(schema: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        form.of_schema(schema)
