"""Text from elsewhere, however hostile, neither ends the app nor acts on the terminal."""

from __future__ import annotations

import random
import re

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets.markdown import MarkdownBlock

from appliance.api.schema import Citation, Conversation, Turn
from tests.tui.clinic import PASSAGES, document, documents_reply, script, text_around
from tests.tui.driving import ask, screen_text, until
from tests.tui.fake_daemon import ENGINE, STATUS, FakeDaemon
from tui.app import ApplianceApp
from tui.widgets import turn as turn_widget
from tui.widgets.answer_text import AnswerText

HOSTILE = [
    "[/",
    "[bold",
    "[/bold] [red]x[/]",
    "[1] and [2](cite:2) [link](file:///etc/passwd)",
    "[@click=app.quit]quit[/]",
    "\x1b[2J\x1b]52;c;aGk=\x07\x9b31m",
    "\x00\x08\x7f\u202eabc\u2028\u2029\x85\x0b\x0c\r\n",
    "{$error} ${x} %s \\[ \\",
    "👩‍⚕️ مرحبا שלום 日本語 é̵̛",
    "a" * 3000,
    "~~~\n```\n[/\n",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_text_in_every_place_it_can_reach(text: str) -> None:
    files = [document(1, f"{text}.pdf", "damaged", text), document(2, text, text)]
    passages = [
        p.model_copy(update={"path": f"dir/{text}", "title": text, "locator": text, "text": text, "flags": [text],
                             "best": (1, 99_999)})
        for p in PASSAGES
    ]  # fmt: skip
    citations = [
        Citation(start=0, end=len(text), numbers=[1, 77], quote=text),
        Citation(start=3, end=-4, numbers=[]),
    ]
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=(80, 24)) as pilot:
        reply = documents_reply(files, current=text)
        problem = reply.ingest.model_copy(update={"problem": text, "folder": text, "counts": {text: 2}})
        daemon.documents = reply.model_copy(update={"ingest": problem})
        engine = ENGINE.model_copy(update={"state": "failed", "reason": text, "model": text, "device": text})
        daemon.status = STATUS.model_copy(update={"engine": engine, "ingest": problem})
        daemon.texts = {p.chunk_id: text_around(p, files[0]) for p in passages}
        daemon.answers.append(script(text, citations, passages, left_out=(text,)))
        kept = Turn(
            question=text, answer=text, answered=False, passages=passages, citations=citations, asked=1e300
        )
        daemon.conversations = {"c1": Conversation(id="c1", title=text, turns=[kept])}

        await ask(pilot, text)
        await until(pilot, lambda: list(pilot.app.screen.query(turn_widget.Turn)))
        await until(pilot, lambda: not pilot.app.screen.query_one(turn_widget.Turn).running)
        _assert_harmless(pilot)
        await pilot.press("f4", "alt+1", "m", "right", "escape")
        for key in ("f2", "f3"):
            await pilot.press(key)
            await pilot.pause(0.3)
            _assert_harmless(pilot)
            await pilot.press("down", "enter")
            await pilot.pause(0.3)
            _assert_harmless(pilot)
            await pilot.press("escape", "escape")
        assert pilot.app.is_running


async def test_hovering_over_a_table_cell_with_brackets_does_not_end_the_app() -> None:
    table = "| a | b |\n|---|---|\n| [/ | [bold |\n"
    async with _Answer().run_test(size=(80, 24), tooltips=True) as pilot:
        answer = pilot.app.query_one(AnswerText)
        for piece in (table, "| [/x] | y |\n"):
            answer.write(piece)
            await pilot.pause(0.1)
        await answer.finish()
        for cell in answer.query(".cell"):
            await pilot.hover(cell)
            await pilot.pause(0.6)  # a tooltip waits half a second
        assert "[bold" in screen_text(pilot)


@pytest.mark.parametrize(
    "text",
    [
        "[here](https://example.org/[/bold])",
        "![x](http://y/z)",
        "<https://example.org>",
        "https://example.org and www.example.org",
        "[here][1]\n\n[1]: https://example.org",
        "[passwords](file:///etc/passwd)",
        "[\\[1\\]](cite:1) [\\[2\\]](mark:2) [1](mark-0000000000000000:1)",
        "| a |\n|---|\n| [b](http://c) |",
        "[js](javascript:x) [mail](mailto:a@b.c)",
    ],
    ids=range(9),
)
async def test_links_of_documents_and_models_are_shown_as_they_are_written_and_never_live(text: str) -> None:
    async with _Answer().run_test(size=(80, 24)) as pilot:
        await pilot.app.query_one(AnswerText).finish(text)
        await pilot.pause()
        assert _links(pilot) == []
        for address in re.findall(r"\w+://[\w./]+", text):
            if "]:" not in text:
                assert address in screen_text(pilot)


async def test_only_our_own_marks_can_be_clicked() -> None:
    text = "Keep it cold [1](cite:1)."
    async with _Answer().run_test(size=(80, 24)) as pilot:
        await pilot.app.query_one(AnswerText).finish(text, [Citation(start=0, end=len(text), numbers=[1])])
        await pilot.pause()
        assert [shown for shown, _ in _links(pilot)] == ["[1]"]


async def test_html_and_less_than_signs_are_shown_as_text() -> None:
    async with _Answer().run_test(size=(80, 24)) as pilot:
        await pilot.app.query_one(AnswerText).finish(
            "Give <5 ml>, then <script>x</script>.\n\n<div>end</div>"
        )
        await pilot.pause()
        assert "Give <5 ml>, then <script>x</script>." in screen_text(pilot)
        assert "<div>end</div>" in screen_text(pilot)


@pytest.mark.parametrize("seed", range(6))
async def test_random_markdown_streams_without_a_crash_and_without_loss(seed: int) -> None:
    rng = random.Random(seed)
    blocks = [
        "\n",
        "\n\n",
        "```py\n",
        "```\n",
        "| a | b |\n|--|--|\n",
        "| c |\n",
        "# ",
        "- ",
        "1. ",
        "> ",
        "====\n",
    ]
    spans = ["word ", "**", "`", "***", "    code\n", "![i](u)", "[l](cite:1)", "<b>", "&amp;"]
    fragments = [*HOSTILE[:8], *blocks, *spans]
    async with _Answer().run_test(size=(60, 20)) as pilot:
        answer = pilot.app.query_one(AnswerText)
        for _ in range(12):
            answer.text, answer.citations = "", []
            await answer.finish()
            for _ in range(rng.randrange(1, 25)):
                answer.write(rng.choice(fragments))
                if rng.random() < 0.3:
                    await answer._show_pending()
                if rng.random() < 0.2:
                    end = rng.randrange(-3, len(answer.text) + 3)
                    await answer.cite(Citation(start=0, end=end, numbers=rng.choice([[], [1], [2, 3]])))
            streamed = answer.text
            await answer.finish()
            assert answer.text == streamed
            await pilot.pause()
            assert bool(answer.query(MarkdownBlock)) or not streamed.strip()


def _links(pilot: Pilot[None]) -> list[tuple[str, object]]:
    """Return what on the screen can be clicked, as text and target."""
    segments = [segment for strip in pilot.app.screen._compositor.render_strips() for segment in strip]
    return [
        (segment.text, segment.style.link or segment.style.meta.get("@click"))
        for segment in segments
        if segment.style and (segment.style.link or "@click" in segment.style.meta)
    ]


def _assert_harmless(pilot: Pilot[None]) -> None:
    shown = screen_text(pilot)
    assert not [c for c in shown if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0)]


class _Answer(App[None]):
    def compose(self) -> ComposeResult:
        yield AnswerText()
