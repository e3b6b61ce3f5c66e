"""The conversation screen, with real keys against a scripted daemon on a real socket."""

from __future__ import annotations

import asyncio
import random

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Static

from appliance.api.schema import ErrorEvent, PassagesEvent, PrefillEvent, QueuedEvent, TokenEvent
from tests.tui.clinic import (
    ANSWER,
    CITATIONS,
    NOT_SAID,
    PASSAGES,
    QUESTION,
    done,
    furnish,
    script,
)
from tests.tui.driving import ask, said, screen_text, until, words
from tests.tui.fake_daemon import STATUS, FakeDaemon
from tui.app import ApplianceApp
from tui.screens.chat import MAX_TURNS, ChatScreen
from tui.screens.reader import ReaderScreen
from tui.widgets.passage_row import PassageRow
from tui.widgets.question_box import QuestionBox
from tui.widgets.turn import Turn

SMALL = (80, 24)
at_both_sizes = pytest.mark.parametrize("size", [SMALL, (120, 40)], ids=["80x24", "120x40"])


def _turn(pilot: Pilot[None]) -> Turn:
    return list(pilot.app.screen.query(Turn))[-1]


@at_both_sizes
async def test_an_answer_streams_in_with_its_passages_first_and_its_citations(size: tuple[int, int]) -> None:
    tokens, end = asyncio.Event(), asyncio.Event()
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=size) as pilot:
        daemon.answers.append([
            QueuedEvent(position=2), PassagesEvent(passages=PASSAGES), PrefillEvent(n_done=40, n_prompt=100), tokens,
            TokenEvent(text="Keep it "), TokenEvent(text="cold."), end, done(ANSWER, CITATIONS),
        ])  # fmt: skip
        await ask(pilot, QUESTION)
        await until(pilot, lambda: "reading 40%" in said(pilot))
        assert [row.passage.number for row in pilot.app.screen.query(PassageRow)] == [1, 2, 3, 4]
        assert "vaccine-storage.pdf" in screen_text(pilot)
        assert "page 2, Storage" in screen_text(pilot)
        tokens.set()
        await until(pilot, lambda: "Keep it cold." in said(pilot))
        end.set()
        await until(pilot, lambda: not _turn(pilot).running)
        shown = said(pilot)
        assert "so 9 °C is too warm. [1]" in shown
        assert "It can be switched off completely. [?]" in shown
        assert "14.2 tokens/s" in shown
        assert "first word after 1.9 s" in shown
        assert "context 1,208 of 4,096" in shown


async def test_a_follow_up_names_the_conversation_and_ctrl_n_ends_it() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append(script(ANSWER, CITATIONS, PASSAGES))
        for _ in range(2):
            await ask(pilot, "and now?")
            await until(pilot, lambda: not _turn(pilot).running)
        await pilot.press("ctrl+n")
        await ask(pilot, "something else")
        await until(pilot, lambda: len(daemon.asked) == 3)
        assert [request.conversation for request in daemon.asked] == [None, "c1", None]


@at_both_sizes
async def test_not_in_the_documents_is_a_state_of_its_own(size: tuple[int, int]) -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=size) as pilot:
        daemon.answers.append(script(NOT_SAID, [], PASSAGES, answered=False))
        await ask(pilot, "Who is the mayor?")
        await until(pilot, lambda: not _turn(pilot).running)
        assert _turn(pilot).has_class("-not-said")
        assert said(pilot).count("The documents do not say.") == 1


async def test_an_answer_without_the_model_shows_no_speed_and_no_context() -> None:
    end = done(NOT_SAID, [], answered=False)
    nothing = end.context.model_copy(update=dict.fromkeys(("n_system", "n_passages", "n_question"), 0))
    unasked = end.timings.model_copy(update={"decode_tps": 0.0, "n_decoded": 0})
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append([end.model_copy(update={"context": nothing, "timings": unasked})])
        await ask(pilot, "Who is the mayor?")
        await until(pilot, lambda: not _turn(pilot).running)
        assert "first word after" in said(pilot)
        assert "tokens/s" not in said(pilot)
        assert "context" not in said(pilot)


@pytest.mark.parametrize("keys", [("tab", "2"), ("alt+2",)], ids=["tab-2", "alt-2"])
async def test_a_key_opens_the_passage_in_its_document(keys: tuple[str, ...]) -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        furnish(daemon, pace_s=0)
        await ask(pilot, QUESTION)
        await until(pilot, lambda: not _turn(pilot).running)
        await pilot.press(*keys)
        await until(
            pilot, lambda: isinstance(pilot.app.screen, ReaderScreen) and "Deliveries" in screen_text(pilot)
        )
        assert "vaccine-storage.pdf" in screen_text(pilot)
        wanted = pilot.app.screen.query_one("#page .wanted", Static)
        assert "call the pharmacy on extension 214" in str(wanted.visual)
        await pilot.press("right")
        await until(pilot, lambda: "fridge-thermo-2000-manual.pdf" in screen_text(pilot))
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, ChatScreen)


@at_both_sizes
async def test_a_click_on_a_passage_or_on_a_mark_opens_it(size: tuple[int, int]) -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=size) as pilot:
        furnish(daemon, pace_s=0)
        await ask(pilot, QUESTION)
        await until(pilot, lambda: not _turn(pilot).running)
        await pilot.pause()
        await pilot.click(list(pilot.app.screen.query(PassageRow))[1])
        await until(pilot, lambda: isinstance(pilot.app.screen, ReaderScreen))
        assert pilot.app.screen.passage.number == 2
        await pilot.press("escape")
        lines = screen_text(pilot).splitlines()
        y = next(i for i, line in enumerate(lines) if "too warm. [1]" in line)
        await pilot.click(offset=(lines[y].index("[1]") + 1, y))
        await until(pilot, lambda: isinstance(pilot.app.screen, ReaderScreen))
        assert pilot.app.screen.passage.number == 1


async def test_the_reader_shows_the_passage_itself_when_the_document_is_gone() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append(script(ANSWER, CITATIONS, PASSAGES))
        await ask(pilot, QUESTION)
        await until(pilot, lambda: not _turn(pilot).running)
        await pilot.press("alt+1")
        await until(pilot, lambda: "only the passage itself" in screen_text(pilot))
        await until(pilot, lambda: "written down twice a day" in words(pilot))


async def test_esc_stops_the_answer_and_the_daemon_sees_the_disconnect() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append(
            [PassagesEvent(passages=PASSAGES), TokenEvent(text="It goes on"), asyncio.Event()]
        )
        await ask(pilot, QUESTION)
        await until(pilot, lambda: "It goes on" in said(pilot))
        await pilot.press("escape")
        await asyncio.wait_for(daemon.disconnected.wait(), 5)
        await until(pilot, lambda: not _turn(pilot).running)
        assert "Stopped." in said(pilot)
        assert "It goes on" in said(pilot)
        await ask(pilot, "and again?")
        await until(pilot, lambda: len(daemon.asked) == 2)


async def test_a_question_typed_during_an_answer_is_kept() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append([TokenEvent(text="slow"), asyncio.Event()])
        await ask(pilot, "one")
        await until(pilot, lambda: "slow" in said(pilot))
        await ask(pilot, "two")
        assert pilot.app.screen.query_one(QuestionBox).text == "two"
        assert len(daemon.asked) == 1


async def test_without_a_daemon_it_says_so_keeps_the_text_and_reconnects() -> None:
    daemon = FakeDaemon()
    try:
        async with ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
            await until(pilot, lambda: "not connected, retrying" in screen_text(pilot))
            await ask(pilot, "still here?")
            box = pilot.app.screen.query_one(QuestionBox)
            await until(pilot, lambda: box.text == "still here?")
            furnish(daemon, pace_s=0)
            await daemon.start()
            await until(pilot, lambda: "qwen2.5-coder-1.5b" in screen_text(pilot))
            assert box.text == "still here?"
            await pilot.press("enter")
            await until(pilot, lambda: "too warm" in said(pilot))
    finally:
        await daemon.__aexit__()


async def test_a_daemon_that_dies_mid_answer_leaves_what_came_and_the_question_can_be_asked_again() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append(
            [PassagesEvent(passages=PASSAGES), TokenEvent(text="Half an ans"), asyncio.Event()]
        )
        await ask(pilot, QUESTION)
        await until(pilot, lambda: "Half an ans" in said(pilot))
        await pilot.press(*"next")
        await daemon.stop()
        await until(pilot, lambda: "not connected, retrying" in screen_text(pilot))
        assert "Half an ans" in said(pilot)
        assert "Ctrl+R asks again" in said(pilot)
        assert pilot.app.screen.query_one(QuestionBox).text == "next"
        daemon.answers[0] = script(ANSWER, CITATIONS, PASSAGES)
        await daemon.start()
        await until(pilot, lambda: "not connected" not in screen_text(pilot))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: len(daemon.asked) == 2 and not _turn(pilot).running)
        assert daemon.asked[1].question == QUESTION
        assert pilot.app.screen.query_one(QuestionBox).text == "next"


@pytest.mark.parametrize(
    "broken",
    [
        "data: {not json\n\n",
        'event: token\ndata: {"event": "token"}\n\n',
        'event: unheard\ndata: {"event": "unheard", "x": 1}\n\n',
        "data: \x00\n\n",
        "",
        ErrorEvent(code="engine_lost", message="the engine died [/bold]; ask again", retryable=True),
    ],
)
async def test_a_broken_or_failed_answer_fails_alone(broken: str | ErrorEvent) -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.extend([[TokenEvent(text="Begun."), broken], script(ANSWER, CITATIONS, PASSAGES)])
        await ask(pilot, "one")
        await until(pilot, lambda: _turn(pilot).has_class("-failed"))
        assert "Begun." in said(pilot)
        await ask(pilot, "two")
        await until(pilot, lambda: "too warm" in said(pilot))


async def test_a_refusal_is_shown_in_the_daemons_words() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        await ask(pilot, "one")
        await until(pilot, lambda: "the model is loading: 40 %" in said(pilot))


async def test_a_status_that_cannot_be_read_is_not_the_end() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.status = '{"version": 1'
        await until(pilot, lambda: "not connected" in screen_text(pilot))
        daemon.status = STATUS
        await until(pilot, lambda: "not connected" not in screen_text(pilot))


async def test_earlier_conversations_are_opened_and_deleted() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        furnish(daemon, pace_s=0)
        await pilot.press("f3")
        await until(pilot, lambda: "Who is the mayor?" in screen_text(pilot))
        await pilot.press("down", "d")
        await until(pilot, lambda: "Press D again" in screen_text(pilot))
        await pilot.press("d")
        await until(pilot, lambda: "c2" not in daemon.conversations and "Who is" not in screen_text(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: len(pilot.app.screen.query(Turn)) == 2)
        await until(pilot, lambda: "The documents do not say." in screen_text(pilot))
        await ask(pilot, "more")
        await until(pilot, lambda: daemon.asked[-1:] and daemon.asked[-1].conversation == "c1")


async def test_only_the_last_turns_are_on_the_screen() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        furnish(daemon, pace_s=0)
        kept = daemon.conversations["c1"]
        many = [kept.turns[1].model_copy(update={"question": f"question {i}"}) for i in range(MAX_TURNS + 3)]
        daemon.conversations = {"c1": kept.model_copy(update={"turns": many})}
        await pilot.press("f3")
        await until(pilot, lambda: f"{MAX_TURNS + 3} questions" in screen_text(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: len(pilot.app.screen.query(Turn)) == MAX_TURNS)
        assert pilot.app.screen.query(Turn).first().question == "question 3"
        await pilot.press("up")
        assert pilot.app.screen.query_one(QuestionBox).text == f"question {MAX_TURNS + 2}"


async def test_a_fast_typist_loses_nothing() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append([asyncio.Event()])
        keys = [*"ab", "ctrl+j", *"cd", "enter", *"ef"]
        for key in keys:
            pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: pilot.app.screen.query_one(QuestionBox).text == "ef")
        await until(pilot, lambda: [request.question for request in daemon.asked] == ["ab\ncd"])


async def test_typing_asks_also_after_reading_a_passage() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append(script(ANSWER, CITATIONS, PASSAGES))
        await ask(pilot, QUESTION)
        await until(pilot, lambda: not _turn(pilot).running)
        await pilot.press("tab")
        assert not pilot.app.screen.query_one(QuestionBox).has_focus
        await pilot.press("h", "o", "w", "space", "o", "l", "d")
        await until(pilot, lambda: pilot.app.screen.query_one(QuestionBox).text == "how old")


async def test_the_arrows_bring_earlier_questions_back_and_the_draft_after_them() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append(script("Yes.", [], []))
        for question in ("first", "second"):
            await ask(pilot, question)
            await until(pilot, lambda: not _turn(pilot).running)
        box = pilot.app.screen.query_one(QuestionBox)
        await pilot.press(*"draft", "up")
        assert box.text == "second"
        await pilot.press("up", "up")
        assert box.text == "first"
        await pilot.press("down", "down")
        assert box.text == "draft"


async def test_the_answer_is_copied_with_its_sources() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append(script(ANSWER, CITATIONS, PASSAGES))
        await ask(pilot, QUESTION)
        await until(pilot, lambda: not _turn(pilot).running)
        await pilot.press("f4")
        assert "extension 214. [2]" in pilot.app.clipboard
        assert "[1] vaccine-storage.pdf, page 2, Storage › Temperature" in pilot.app.clipboard


async def test_leaving_in_the_middle_of_a_fast_answer_is_safe() -> None:
    rng = random.Random(7)
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.answers.append(script(ANSWER * 5, CITATIONS, PASSAGES, pace_s=0.001))
        for _ in range(3):
            await ask(pilot, QUESTION)
            await asyncio.sleep(rng.random() / 3)
            await pilot.press("ctrl+n")
            assert not pilot.app.screen.query(Turn)
        await ask(pilot, QUESTION)
        await until(pilot, lambda: "Vaccines" in said(pilot))
