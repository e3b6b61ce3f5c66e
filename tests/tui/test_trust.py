"""What the screen says of an answer's worth: support, conflicts, quotations, warnings, and the context's tokens."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from appliance.api.schema import Citation, DoneEvent, Passage, PassagesEvent, Source
from appliance.api.schema import Turn as KeptTurn
from tests.tui.clinic import BREACH, DOCUMENTS, NOT_SAID, PASSAGES, STORAGE, done, script, text_around
from tests.tui.driving import ask, said, screen_text, until, words
from tests.tui.fake_daemon import FakeDaemon
from tui.app import ApplianceApp
from tui.footing import budget, checks, footing, is_quotation
from tui.screens.reader import ReaderScreen
from tui.widgets.turn import Turn

WIDE, SMALL = (120, 40), (80, 24)
ANSWER = "Vaccines are kept at 9 °C. Call the pharmacy. It is painted green."


def _source(passage: Passage, quote: str) -> Source:
    return Source(number=passage.number, document_id=passage.document_id, path=passage.path, version="",
                  locator=passage.locator, quote=quote)  # fmt: skip


QUOTE = "Vaccines are kept between 2 °C and 8 °C at all times."
AGAINST = Citation(
    start=0, end=26, state="contradicted", numbers=[], quote=QUOTE, sources=[_source(STORAGE, QUOTE)],
    conflicts=["9 °C"],
)  # fmt: skip
SUPPORTED = Citation(start=27, end=45, numbers=[2], quote="", sources=[_source(BREACH, "call the pharmacy")])
UNSUPPORTED = Citation(start=46, end=66, state="unsupported", numbers=[])
CITATIONS = [AGAINST, SUPPORTED, UNSUPPORTED]
QUOTATION = Citation(start=0, end=len(QUOTE) + 2, numbers=[1], quote=QUOTE, quotation=True)


def _turn(pilot: Pilot[None]) -> Turn:
    return list(pilot.app.screen.query(Turn))[-1]


async def _answered(pilot: Pilot[None]) -> None:
    await ask(pilot, "How cold?")
    await until(pilot, lambda: list(pilot.app.screen.query(Turn)) and not _turn(pilot).running)


@pytest.mark.parametrize("size", [SMALL, WIDE], ids=["80x24", "120x40"])
async def test_each_sentence_is_marked_as_supported_unsupported_or_contradicted(
    size: tuple[int, int],
) -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=size) as pilot:
        daemon.answers.append(script(ANSWER, CITATIONS, PASSAGES))
        await _answered(pilot)
        shown = " ".join(said(pilot).split())
        assert "kept at 9 °C. [!]" in shown
        assert "Call the pharmacy. [2]" in shown
        assert "painted green. [?]" in shown
        assert f"[!] “9 °C” conflicts with passage 1: “{QUOTE}”" in shown
        assert "[?] no passage supports this sentence" in shown


async def test_the_mark_of_a_conflict_opens_the_passage_at_the_sentence_that_says_otherwise() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append(script(ANSWER, CITATIONS, PASSAGES))
        daemon.texts = {STORAGE.chunk_id: text_around(STORAGE, DOCUMENTS[0])}
        await _answered(pilot)
        lines = screen_text(pilot).splitlines()
        y = next(i for i, line in enumerate(lines) if "9 °C. [!]" in line)
        await pilot.click(offset=(lines[y].index("[!]") + 1, y))
        await until(pilot, lambda: isinstance(pilot.app.screen, ReaderScreen))
        assert pilot.app.screen.passage.number == 1
        assert pilot.app.screen._spans(STORAGE.text)[0] == (0, len(QUOTE))


async def test_a_sentence_of_a_document_is_shown_as_a_quotation_also_when_it_was_kept() -> None:
    text = f"“{QUOTE}”"
    end = done(text, [QUOTATION]).model_copy(update={"origin": "quotation"})
    kept = KeptTurn(
        question="How cold?", answer=text, answered=True, passages=PASSAGES, citations=[QUOTATION], asked=1.0
    )
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append([PassagesEvent(passages=PASSAGES), end])
        await _answered(pilot)
        assert f"The model gave no answer; the document says: {text} [1]" in " ".join(said(pilot).split())
        await pilot.app.screen._add([Turn("How cold?", kept)])
        await until(pilot, lambda: _turn(pilot).has_class("-quoted"))


async def test_an_answer_of_the_models_own_is_no_quotation() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append(script(ANSWER, CITATIONS, PASSAGES))
        await _answered(pilot)
        assert not _turn(pilot).has_class("-quoted")
        assert "gave no answer" not in said(pilot)


async def test_a_passage_names_its_warnings_other_names_and_older_versions() -> None:
    marked = STORAGE.model_copy(
        update={"flags": ["hidden", "ocr"], "also": ["copy/[/storage.pdf"], "older": ["2019/storage.pdf"]}
    )
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=WIDE) as pilot:
        daemon.answers.append(script(NOT_SAID, [], [marked], answered=False))
        await _answered(pilot)
        for expected in ("hidden text", "check letters", "the same text: copy/[/storage.pdf", "newer than"):
            assert expected in words(pilot)
        await pilot.press("alt+1")
        await until(pilot, lambda: "newer than: 2019/storage.pdf" in screen_text(pilot))


async def test_who_had_how_much_of_the_context_is_shown_by_a_key() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append(script(ANSWER, CITATIONS, PASSAGES, left_out=("2 earlier turns",)))
        await _answered(pilot)
        assert "Left out: 2 earlier turns" in said(pilot)
        assert "903  passages" not in said(pilot)
        await pilot.press("tab", "0")
        await until(pilot, lambda: "903  passages" in said(pilot))
        await pilot.press("0")
        await until(pilot, lambda: "903  passages" not in said(pilot))


def test_the_tokens_of_the_context_add_up() -> None:
    end = done("a" * 400, [])
    lines = [line.split(maxsplit=1) for line in str(budget(end)).splitlines()]
    numbers = [int(number.replace(",", "")) for number, _ in lines]
    assert [what for _, what in lines] == [
        "tokens of context", "system", "earlier turns", "passages", "question", "answer, 100 of at most 512", "free"
    ]  # fmt: skip
    assert numbers[0] == sum(numbers[1:]) == 4096


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        ({"finish_reason": "length"}, "Cut off: the answer reached its length limit."),
        ({"finish_reason": "cancelled"}, "Stopped."),
    ],
)
def test_an_answer_that_was_cut_says_so(update: dict[str, str], expected: str) -> None:
    end: DoneEvent = done("x", []).model_copy(update=update)
    assert expected in str(footing(end))


def test_many_conflicts_are_told_five_at_a_time() -> None:
    shown = str(checks([AGAINST] * 7))
    assert shown.count("conflicts with passage 1") == 5
    assert "[!] and 2 more" in shown


@pytest.mark.parametrize(
    ("answer", "citations", "expected"),
    [
        (f"“{QUOTE}”", [QUOTATION], True),
        (QUOTE, [QUOTATION], False),  # the model's own choice of the document's words
        (f"“{QUOTE}” Yes.", [QUOTATION, UNSUPPORTED], False),
        ("", [], False),
    ],
)
def test_a_quotation_is_nothing_but_one(answer: str, citations: list[Citation], expected: bool) -> None:
    assert is_quotation(answer, citations) is expected
