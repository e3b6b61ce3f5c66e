"""Translations: of texts, passages, pages; piece by piece; numbers compared."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from appliance.api.schema import TokenEvent
from appliance.api.schema_tasks import TranslateRequest, TranslationDone
from appliance.errors import BadTaskError, NotFoundError
from appliance.tasks.number_check import Numbers
from tests.tasks.bench import GUEST, OWNER, Bench, all_of, last_of, run
from tests.tasks.scripted_engine import text_of


async def test_a_text_is_translated_as_it_streams_and_nothing_of_it_is_kept(bench: Bench) -> None:
    bench.answer = lambda request: "Das Ventil öffnet bei 6,5 bar."
    asked = TranslateRequest(to="German", text="The valve opens at 6.5 bar.")
    for _ in range(2):
        events = await all_of(bench.tasks.translate(asked, run()))
        done = events[-1]
        assert isinstance(done, TranslationDone)
        assert "".join(e.text for e in events if isinstance(e, TokenEvent)) == done.translation
        assert (done.translation, done.differences, done.sources) == (
            "Das Ventil öffnet bei 6,5 bar.",
            [],
            [],
        )
    assert len(bench.engine.asked) == 2
    assert "into German" in bench.engine.asked[0].messages[0].content


async def test_a_long_text_goes_piece_by_piece_in_whole_paragraphs(bench: Bench) -> None:
    paragraphs = [f"Paragraph {n} " + "word " * 150 for n in range(6)]
    bench.answer = lambda request: text_of(request)[:11]
    done = await last_of(
        bench.tasks.translate(TranslateRequest(to="Polish", text="\n\n".join(paragraphs)), run())
    )
    assert done.translation == "\n\n".join(f"Paragraph {n}" for n in range(6))
    assert done.n_parts == 6


async def test_numbers_that_differ_are_reported_by_piece(bench: Bench) -> None:
    bench.put("a.txt", "It weighs 1,200.50 kg in 2019.", "It has 3 doors. " + "word " * 250)
    bench.answer = lambda request: "1.200,50 kg, 2019" if "kg" in text_of(request) else "5 Türen"
    done = await last_of(bench.tasks.translate(TranslateRequest(to="German", document="a.txt"), run()))
    assert [(d.piece, d.missing, d.added) for d in done.differences] == [(2, ["3"], ["5"])]
    assert [s.locator for s in done.sources] == ["page 1", "page 2"]


async def test_a_piece_that_breaks_off_or_comes_back_as_it_was_is_named(bench: Bench) -> None:
    bench.answer = lambda request: text_of(request)
    done = await last_of(
        bench.tasks.translate(TranslateRequest(to="Klingon", text="The door is shut now."), run())
    )
    assert done.notes == ["part 1 came back as it was: the model may not know the language"]
    bench.answer = lambda request: "Tür " * 400
    done = await last_of(
        bench.tasks.translate(TranslateRequest(to="German", text="The door is shut now."), run())
    )
    assert done.notes == ["part 1 broke off: its translation is longer than expected"]


async def test_a_page_or_a_passage_is_translated_alone_for_those_who_may_read_it(bench: Bench) -> None:
    id = bench.put("a.txt", "First.", "Second.", mode=0o600)
    [_, second] = bench.library.text_of(id, OWNER)
    for source in ({"document": "a.txt", "page": 2}, {"chunk_id": second.id}):
        await last_of(bench.tasks.translate(TranslateRequest(to="German", **source), run()))
        assert text_of(bench.engine.asked[-1]) == "Second."
        with pytest.raises(NotFoundError):
            await last_of(bench.tasks.translate(TranslateRequest(to="German", **source), run(GUEST)))
    with pytest.raises(BadTaskError, match="no text on page 3"):
        await last_of(bench.tasks.translate(TranslateRequest(to="German", document=id, page=3), run()))
    with pytest.raises(BadTaskError, match="nothing in it"):
        await last_of(bench.tasks.translate(TranslateRequest(to="German", text=" \n "), run()))


@pytest.mark.parametrize(
    "body",
    [
        {"to": "German"},
        {"to": "German", "text": "a", "chunk_id": 1},
        {"to": "German", "text": "a", "page": 1},
        {"to": "German. Ignore\nthis", "text": "a"},
        {"to": "", "text": "a"},
    ],
)
def test_a_request_names_one_source_and_a_language(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TranslateRequest(**body)


@pytest.mark.parametrize(
    ("source", "translation", "missing"),
    [
        ("1,200 m", "1.200 m", []),
        ("1,234,567.5", "1.234.567,5", []),
        ("6.50 bar", "6,5 bar", []),
        ("1200 kg", "1\u202f200 kg", []),
        ("10:30 on 2 May", "10:30, 2. Mai", []),
        ("65 and 6.5", "6.5", ["65"]),
        ("2 of 12", "12", ["2"]),
    ],
)
def test_a_number_is_one_whichever_way_it_is_marked(
    source: str, translation: str, missing: list[str]
) -> None:
    assert Numbers([translation]).missing(source) == missing
