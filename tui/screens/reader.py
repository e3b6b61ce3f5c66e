"""A passage in its surroundings: the document's text around it, with what supports the answer marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import ValidationError
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Static

from appliance.api.schema import Citation, Passage
from appliance.api.schema_documents import DocumentText, TextBlock
from appliance.api.schema_tasks import TranslateRequest
from appliance.client import Client
from appliance.errors import ApplianceError
from tui.foreign import one_line, readable
from tui.screens.prompt import PromptScreen
from tui.screens.task import TaskScreen
from tui.states import other_names, warning_of
from tui.widgets.status_line import StatusLine

_FIRST_BLOCKS = 2
_MAX_BLOCKS = 32


class ReaderScreen(Screen[None]):
    """Reads one passage after another of the same answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Back", key_display="Esc"),
        Binding("left,p", "step(-1)", "Before", key_display="←"),
        Binding("right,n", "step(1)", "After", key_display="→"),
        Binding("m", "more", "More", key_display="M"),
        Binding("t", "translate", "Translate", key_display="T"),
        Binding("home", "wanted", "To the passage", show=False),
    ]

    def __init__(
        self, client: Client, passages: Sequence[Passage], at: int, citations: Sequence[Citation] = ()
    ) -> None:
        super().__init__()
        self._client = client
        self._passages = passages
        self._at = at
        self._citations = citations
        self._n_blocks = _FIRST_BLOCKS

    def compose(self) -> ComposeResult:
        """Title, text, status, keys."""
        yield Static("", id="title", markup=False)
        yield Static("", id="place", markup=False)
        yield VerticalScroll(id="page")
        yield StatusLine()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Follow the connection and show the passage."""
        self.watch(self.app, "connection", self.query_one(StatusLine).show)
        self._load()

    @property
    def passage(self) -> Passage:
        """The passage being read."""
        return self._passages[self._at]

    def on_key(self, event: events.Key) -> None:
        """Go to the passage of the digit that was pressed."""
        for at, passage in enumerate(self._passages):
            if event.key == str(passage.number):
                event.stop()
                self._go(at)

    def action_step(self, way: int) -> None:
        """Go to the next passage of the answer."""
        self._go((self._at + way) % len(self._passages))

    def action_more(self) -> None:
        """Show twice as much around the passage."""
        self._n_blocks = min(self._n_blocks * 2, _MAX_BLOCKS)
        self._load()

    def action_translate(self) -> None:
        """Ask for a language, and translate the passage."""
        self.app.push_screen(PromptScreen("Into which language?", "German"), self._translate)

    def _translate(self, language: str | None) -> None:
        if language is None:
            return
        try:
            request = TranslateRequest(to=language, chunk_id=self.passage.chunk_id)
        except ValidationError:
            self.notify("that is no language's name", markup=False)
            return
        title = f"In {one_line(language)}: {one_line(self.passage.path)}"
        self.app.push_screen(TaskScreen(title, lambda: self._client.translate(request)))

    def action_wanted(self) -> None:
        """Scroll to the passage."""
        for block in self.query("#page .wanted"):
            block.scroll_visible(animate=False, top=True)

    def _go(self, at: int) -> None:
        self._at, self._n_blocks = at, _FIRST_BLOCKS
        self._load()

    @work(group="reader", exclusive=True, exit_on_error=False)
    async def _load(self) -> None:
        passage = self.passage
        self._head(passage)
        try:
            text = await self._client.text_around(passage.chunk_id, n_blocks=self._n_blocks)
        except (ApplianceError, ValidationError) as error:
            reason = "unreadable reply" if isinstance(error, ValidationError) else one_line(str(error))
            await self._show(_alone(passage), f"only the passage itself is at hand: {reason}")
        else:
            await self._show(text.blocks, _facts(text))

    def _head(self, passage: Passage) -> None:
        self.query_one("#title", Static).update(
            Content.assemble((f"[{passage.number}] ", "bold $text-accent"), (one_line(passage.path), "bold"),
                             (f"   {one_line(passage.locator)}", ""))
        )  # fmt: skip

    async def _show(self, blocks: Sequence[TextBlock], facts: str) -> None:
        warning, names = warning_of(self.passage.flags), other_names(self.passage)
        self.query_one("#place", Static).update(
            Content.assemble(
                (facts, "$foreground 60%"),
                (f"   {names}" if names else "", "$foreground 60%"),
                (f"   {warning}" if warning else "", "$text-warning"),
            )
        )
        page = self.query_one("#page", VerticalScroll)
        await page.remove_children()
        await page.mount_all(self._widgets(blocks))
        page.focus()
        self.call_after_refresh(self.action_wanted)

    def _widgets(self, blocks: Sequence[TextBlock]) -> list[Static]:
        widgets: list[Static] = []
        locator = ""
        for block in blocks:
            if block.locator != locator:
                locator = block.locator
                widgets.append(Static(one_line(locator), classes="locator", markup=False))
            classes = "block wanted" if block.wanted else "block"
            widgets.append(Static(self._content(block), classes=classes, markup=False))
        return widgets

    def _content(self, block: TextBlock) -> Content:
        text = readable(block.text)
        content = Content(text)
        if not block.wanted:
            return content
        for start, end in self._spans(text):
            content = content.stylize("bold $text-warning", start, end)
        return content

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Return the parts of the wanted block that support the answer, or come nearest to the question."""
        passage = self.passage
        quotes = [quote for citation in self._citations if (quote := _quote_of(citation, passage.number))]
        if passage.best:
            quotes.append(passage.text[max(passage.best[0], 0) : max(passage.best[1], 0)])
        found = [(text.find(readable(quote)), len(quote)) for quote in quotes if quote.strip()]
        return [(at, at + length) for at, length in found if at >= 0]


def _quote_of(citation: Citation, number: int) -> str:
    """Return the sentence of passage `number` that supports a sentence of the answer, or conflicts with it."""
    named = next((source.quote for source in citation.sources if source.number == number), "")
    return named or (citation.quote if number in citation.numbers else "")


def _alone(passage: Passage) -> list[TextBlock]:
    return [TextBlock(chunk_id=passage.chunk_id, locator=passage.locator, text=passage.text, wanted=True)]


def _facts(text: DocumentText) -> str:
    document = text.document
    pages = f"{document.n_pages} pages" if document.n_pages else ""
    title = one_line(document.title)
    return " · ".join(part for part in (title, pages, document.format) if part)
