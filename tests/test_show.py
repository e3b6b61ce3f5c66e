"""How an answer is printed: marks, sources, warnings; nothing foreign steers the terminal."""

from __future__ import annotations

import pytest

from appliance.api.schema import Citation, CitationEvent, PassagesEvent, Source, TokenEvent
from appliance.show import Answer, status
from tests.tui.clinic import ALARM, STORAGE, done
from tests.tui.fake_daemon import ENGINE, STATUS

SOURCE = Source(
    number=1, document_id=1, path="vaccine-storage.pdf", version="", locator="", quote="2 °C to 8 °C"
)
CONFLICT = Citation(
    start=0,
    end=9,
    state="contradicted",
    numbers=[],
    quote=SOURCE.quote,
    sources=[SOURCE],
    conflicts=["9 °C", "not"],
)


@pytest.mark.parametrize(
    ("citation", "expected"),
    [
        (Citation(start=0, end=9, numbers=[2, 1]), "[2] [1]"),
        (Citation(start=0, end=9, state="unsupported", numbers=[]), "[no source]"),
        (Citation(start=0, end=9, numbers=[]), "[no source]"),  # as turns of an older version were kept
        (CONFLICT, "[conflicts with 1: 9 °C, not]"),
    ],
)
def test_a_mark_says_who_supports_a_sentence_or_who_says_otherwise(citation: Citation, expected: str) -> None:
    assert citation.mark == expected


def test_an_answer_is_printed_with_its_marks_sources_and_the_context(
    capsys: pytest.CaptureFixture[str],
) -> None:
    old = STORAGE.model_copy(
        update={"older": ["2019/storage.pdf"], "flags": ["hidden"], "also": ["copy.pdf"]}
    )
    text = "Keep it at 9 °C."
    supported = Citation(start=0, end=16, numbers=[1])
    answer = Answer(as_json=False)
    for event in (
        PassagesEvent(passages=[old, ALARM]),
        TokenEvent(text=text),
        CitationEvent(citation=CONFLICT),
    ):
        answer.take(event)
    answer.take(done(text, [CONFLICT, supported]))
    assert answer.finish()
    shown = capsys.readouterr().out
    assert "Keep it at 9 °C. [conflicts with 1: 9 °C, not]" in shown
    assert "against it: “2 °C to 8 °C” [1] vaccine-storage.pdf" in shown
    assert "(the same text: copy.pdf; newer than: 2019/storage.pdf; warning: hidden)" in shown
    assert "(system 212, earlier turns 0, passages 903, question 18, answer 4)" in shown


def test_a_quotation_is_told_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    answer = Answer(as_json=False)
    answer.take(done("“Keep it cold.”", []).model_copy(update={"origin": "quotation"}))
    assert answer.finish()
    assert "the model gave no answer; these are the document's own words" in capsys.readouterr().out


def test_escape_sequences_of_documents_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    answer = Answer(as_json=False)
    hostile = CONFLICT.model_copy(
        update={"conflicts": ["\x1b[2J"], "sources": [SOURCE.model_copy(update={"quote": "\x9b31m"})]}
    )
    answer.take(TokenEvent(text="\x1b]52;c;aGk=\x07"))
    answer.take(CitationEvent(citation=hostile))
    answer.take(done("x", [hostile]))
    answer.finish()
    assert not {"\x1b", "\x9b", "\x07"} & set(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        ({"reuse": "exact", "n_blocks": 120}, None),
        ({"reuse": "blocks"}, None),
        (
            {"reuse": "blend, 32 tokens", "n_blocks": 120, "block_bytes": 4 * 10**8,
             "max_block_bytes": 18 * 10**9, "n_preparing": 14},
            "read ahead: 120 (0.4 of 18 GB), 14 to go; reuse: blend, 32 tokens",
        ),
        (
            {"reuse": "blocks", "n_blocks": 3, "block_bytes": 2 * 10**6, "max_block_bytes": 5 * 10**8},
            "read ahead: 3 (2.0 of 500 MB); reuse: blocks",
        ),
    ],
)  # fmt: skip
def test_status_says_what_is_read_ahead(
    capsys: pytest.CaptureFixture[str], engine: dict[str, object], expected: str | None
) -> None:
    status(STATUS.model_copy(update={"engine": ENGINE.model_copy(update=engine)}), as_json=False)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("passages")]
    assert lines == ([] if expected is None else [f"passages     {expected}"])
