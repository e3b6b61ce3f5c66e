"""One question and its answer: a view of the answer's events, in whatever order and shape they come."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from appliance.api import schema
from appliance.api.schema import (
    CitationEvent,
    DoneEvent,
    ErrorEvent,
    Passage,
    PassagesEvent,
    PrefillEvent,
    QueuedEvent,
    TokenEvent,
)
from tui.footing import QUOTED, budget, checks, footing, is_quotation
from tui.foreign import one_line, readable
from tui.marks import plain, with_marks
from tui.messages import AnswerFailed, AnswerStep, OpenPassage
from tui.widgets.answer_text import AnswerText
from tui.widgets.passage_row import PassageRow

_BAR_CELLS = 20
_MAX_PASSAGES = 30
NOT_SAID = "The documents do not say."


class Turn(Container):
    """A question, the answer as it comes, and the evidence; `kept` is a finished turn of an earlier day."""

    can_focus = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "open(1)", "Open passage", key_display="1…9"),
        *[Binding(str(n), f"open({n})", show=False) for n in range(2, 10)],
        Binding("0", "budget", "Context", key_display="0"),
        Binding("tab", "screen.ask", "Back to asking", key_display="Tab"),
        Binding("c", "screen.copy", "Copy", show=False),
    ]

    def __init__(self, question: str, kept: schema.Turn | None = None) -> None:
        super().__init__()
        self.question = question
        self.passages: list[Passage] = []
        self.running = kept is None
        self._kept = kept
        self._answer = AnswerText()

    def compose(self) -> ComposeResult:
        """Question on top; answer and evidence under or beside each other, as the width allows."""
        yield Static(readable(self.question), classes="asked", markup=False)
        with Container(classes="body"):
            with Vertical(classes="said"):
                yield Static(NOT_SAID, classes="not-said", markup=False)
                yield Static("asking …", classes="progress", markup=False)
                yield Static(QUOTED, classes="quoted", markup=False)
                yield self._answer
                yield Static("", classes="closing", markup=False)
                yield Static("", classes="budget", markup=False)
            with Vertical(classes="evidence"):
                yield Static("Passages", classes="heading", markup=False)

    @property
    def answer(self) -> str:
        """The answer so far, as it came."""
        return self._answer.text

    @property
    def citations(self) -> list[schema.Citation]:
        """The checked sentences so far."""
        return self._answer.citations

    def for_clipboard(self) -> str:
        """Return the answer with `[n]` marks and its sources, as plain text."""
        lines = [with_marks(self.answer, self.citations, plain)]
        lines += [f"[{p.number}] {one_line(p.path)}, {one_line(p.locator)}" for p in self._cited()]
        return "\n".join(lines).strip()

    async def on_mount(self) -> None:
        """Show a finished turn."""
        if (kept := self._kept) is None:
            return
        await self._show_passages(kept.passages)
        await self._answer.finish(kept.answer, kept.citations)
        self._close(answered=kept.answered)

    async def on_answer_step(self, message: AnswerStep) -> None:
        """Show the next event."""
        match message.step:
            case QueuedEvent(position=position, wait_s=wait_s):
                self._progress(
                    f"in the queue, number {position}" + (f", about {wait_s:.0f} s" if wait_s else "")
                )
            case PassagesEvent(passages=passages):
                await self._show_passages(passages)
                self._progress("reading …")
            case PrefillEvent(n_done=done, n_prompt=n_prompt):
                self._progress(_reading(done, n_prompt))
            case TokenEvent(text=text):
                self._progress("")
                self.add_class("-writing")
                self._answer.write(text)
            case CitationEvent(citation=citation):
                await self._answer.cite(citation)
                self._mark_cited()
            case DoneEvent() as done_event:
                await self._done(done_event)
            case ErrorEvent(message=reason):
                await self._fail(reason)

    async def on_answer_failed(self, message: AnswerFailed) -> None:
        """Keep what came and say why no more will."""
        await self._fail(message.reason)

    async def on_answer_stopped(self) -> None:
        """Keep what came before the person pressed Esc."""
        await self._answer.finish()
        self._close(closing=Content.styled("Stopped.", "$text-warning"))

    async def _done(self, done: DoneEvent) -> None:
        await self._answer.finish(done.answer or None, done.citations)
        self.query_one(".budget", Static).update(budget(done))
        self._close(answered=done.answered, closing=footing(done))

    async def _fail(self, reason: str) -> None:
        await self._answer.finish()
        self.add_class("-failed")
        self._close(closing=Content.styled(f"✗ {one_line(reason)}\nCtrl+R asks again.", "$text-error"))

    def _close(self, *, answered: bool = True, closing: Content | None = None) -> None:
        self.running = False
        self._progress("")
        self.add_class("-writing")
        self.set_class(not answered, "-not-said")
        if not answered:
            self.query_one(".heading", Static).update("Nearest passages")
            self._answer.display = one_line(self.answer).rstrip(".").lower() != NOT_SAID.rstrip(".").lower()
        self.set_class(is_quotation(self.answer, self.citations), "-quoted")
        self._mark_cited()
        under = [part for part in (checks(self.citations), closing) if part]
        self.query_one(".closing", Static).update(Content("\n").join(under))

    async def _show_passages(self, passages: list[Passage]) -> None:
        self.passages = passages[:_MAX_PASSAGES]
        evidence = self.query_one(".evidence")
        await evidence.remove_children(PassageRow)
        await evidence.mount_all([PassageRow(passage) for passage in self.passages])
        self.set_class(bool(self.passages), "-evidence")

    def _mark_cited(self) -> None:
        cited = {number for citation in self.citations for number in citation.numbers}
        against = {source.number for c in self.citations if c.state == "contradicted" for source in c.sources}
        for row in self.query(PassageRow):
            row.set_class(row.passage.number in cited | against, "-cited")

    def _cited(self) -> list[Passage]:
        cited = {number for citation in self.citations for number in citation.numbers}
        return [passage for passage in self.passages if passage.number in cited]

    def _progress(self, text: str) -> None:
        progress = self.query_one(".progress", Static)
        progress.update(text)
        progress.display = bool(text)

    def action_budget(self) -> None:
        """Show or hide who had how many tokens of the context."""
        self.toggle_class("-budget")

    def action_open(self, number: int) -> None:
        """Open a passage."""
        self.post_message(OpenPassage(number))


def _reading(done: int, n_prompt: int) -> str:
    share = min(max(done / n_prompt, 0.0), 1.0) if n_prompt > 0 else 0.0
    full = round(share * _BAR_CELLS)
    return f"reading {share:.0%}  {'━' * full}{'╌' * (_BAR_CELLS - full)}"
