"""The answer as Markdown, growing while it streams, with citation marks that open passages."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from markdown_it import MarkdownIt
from textual.app import ComposeResult
from textual.widgets import Markdown, Static
from textual.widgets._markdown import MarkdownBlock, MarkdownTable, MarkdownTableContent

from appliance.api.schema import Citation
from tui.foreign import readable
from tui.marks import CONFLICT, links, with_marks
from tui.messages import OpenPassage

# Longer answers are shown as plain text: a large Markdown document freezes the screen (textual#4586).
MAX_MARKDOWN = 40_000
# A token at a time costs more than a reader sees (textual PR 5950).
_SHOW_S = 1 / 15


class _Parser(MarkdownIt):
    """Markdown in which only our own marks are links; any other stays the text that it is written as."""

    def __init__(self, scheme: str) -> None:
        # HTML off, so that "<5 ml" is shown and not swallowed as a tag; no links made of bare words.
        super().__init__("gfm-like", {"html": False, "linkify": False})
        self._scheme = scheme

    def validateLink(self, url: str) -> bool:  # its name in markdown-it
        """Tell whether a link may be one."""
        return url.startswith(f"{self._scheme}:")


class _Cells(MarkdownTableContent):
    """Cells without tooltips: Textual 8.2 reads a cell's tooltip as markup, and "[/" in it ends the app."""

    def compose(self) -> ComposeResult:
        for cell in super().compose():
            cell.tooltip = None
            yield cell


class _Table(MarkdownTable):
    def compose(self) -> ComposeResult:
        self._headers, self._rows = self._get_headers_and_rows()
        yield _Cells(self._headers, self._rows)

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        # Always a new table: Textual's in-place update gives new cells the tooltips again.
        markdown = self._markdown
        await self.remove()
        await markdown.mount(block)


class AnswerText(Markdown):
    """Markdown of one answer. Text is kept beside what is shown, so that offsets stay the daemon's."""

    BLOCKS = {**Markdown.BLOCKS, "table_open": _Table}  # noqa: RUF012 (Textual declares it so)

    def __init__(self) -> None:
        scheme = f"mark-{secrets.token_hex(8)}"  # a document that writes "[1](mark:1)" makes no mark of it
        super().__init__(parser_factory=lambda: _Parser(scheme), open_links=False)
        self._scheme = scheme
        self.text = ""
        self.citations: list[Citation] = []
        self._pending = ""

    def write(self, text: str) -> None:
        """Add a piece at the end; it is shown together with those that come at the same moment."""
        # Not Markdown.get_stream: its task outlives a widget that is removed in the middle of an answer.
        if not self._pending:
            self.set_timer(_SHOW_S, self._show_pending)
        self.text += text
        self._pending += text

    async def cite(self, citation: Citation) -> None:
        """Mark a sentence that has just been checked."""
        self.citations.append(citation)
        await self._redraw()

    async def finish(self, text: str | None = None, citations: Sequence[Citation] | None = None) -> None:
        """Show the whole answer once more; appending can lose a fence at the end (oterm#308)."""
        self.text = self.text if text is None else text
        self.citations = self.citations if citations is None else list(citations)
        await self._redraw()

    async def _show_pending(self) -> None:
        pending, self._pending = self._pending, ""
        if pending and len(self.text) <= MAX_MARKDOWN:
            await self.append(readable(pending))

    async def _redraw(self) -> None:
        self._pending = ""
        if len(self.text) > MAX_MARKDOWN:
            await self.update("")
            await self.remove_children(".plain")
            await self.mount(Static(readable(self.text), classes="plain", markup=False))
            return
        await self.update(with_marks(readable(self.text), self.citations, links(self._scheme)))

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """Open the passage of a mark."""
        event.stop()
        number = event.href.removeprefix(f"{self._scheme}:").removeprefix(CONFLICT)
        if number.isdecimal() and len(number) < 4:
            self.post_message(OpenPassage(int(number)))
        else:
            self.notify(
                "No passage supports this sentence: check it before you rely on it.", severity="warning"
            )
