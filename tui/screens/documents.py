"""Every file of the folder: its state, why it failed, and what ingest is doing now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import ClassVar, Literal, cast

from pydantic import ValidationError
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Input, ProgressBar, Static

from appliance.api.schema_documents import Document, DocumentsReply, IngestStatus
from appliance.client import Client
from appliance.errors import ApplianceError
from tui.foreign import one_line
from tui.messages import DocumentsArrived, DocumentsAway
from tui.screens.document import DocumentScreen
from tui.states import reason_of, state_of, tally
from tui.widgets.documents_table import MAX_ROWS, DocumentsTable
from tui.widgets.status_line import StatusLine

_RETRY_S = 1.5


class DocumentsScreen(Screen[None]):
    """A table that follows the record."""

    AUTO_FOCUS = "#filter"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", priority=True, key_display="Esc"),
        Binding("enter", "details", "Details", priority=True),
        Binding("f5", "retry", "Read again", priority=True, key_display="F5"),
        Binding("f6", "pause", "Pause/go on", priority=True, key_display="F6"),
        *[
            Binding(key, f"table('{key}')", show=False, priority=True)
            for key in ("up", "down", "pageup", "pagedown")
        ],
    ]

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._client = client
        self._reply: DocumentsReply | None = None

    def compose(self) -> ComposeResult:
        """Counts, what is worked on, filter, table, status, keys."""
        yield Static("Documents", id="title", markup=False)
        with Horizontal(id="work"):
            yield Static("loading …", id="counts", markup=False)
            yield ProgressBar(show_eta=False, id="progress")
        yield Input(placeholder="Type to filter by name, state or reason", compact=True, id="filter")
        yield DocumentsTable()
        yield Static("", id="chosen", markup=False)
        yield StatusLine()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Follow the connection and the record."""
        self.query_one("#progress").display = False
        self.watch(self.app, "connection", self.query_one(StatusLine).show)
        self._follow()

    @work(group="documents", exclusive=True, exit_on_error=False)
    async def _follow(self) -> None:
        """Follow the documents for as long as this screen is there; begin again whenever the stream ends."""
        while True:
            try:
                replies = cast(AsyncGenerator[DocumentsReply], self._client.watch_documents())
                async with aclosing(replies):
                    async for reply in replies:
                        self.post_message(DocumentsArrived(reply))
            except ApplianceError as error:
                self.post_message(DocumentsAway(str(error)))
            except ValidationError:
                self.post_message(DocumentsAway("the list cannot be read: is the appliance another version?"))
            except Exception as error:  # the outermost loop of this stream
                self.log.error(error)
                self.post_message(DocumentsAway(f"{type(error).__name__}: {error}"))
            await asyncio.sleep(_RETRY_S)

    def on_documents_arrived(self, message: DocumentsArrived) -> None:
        """Show the new list."""
        self._reply = message.reply
        self._show()

    def on_documents_away(self, message: DocumentsAway) -> None:
        """Keep the list and say that it stands still."""
        self.query_one("#counts", Static).update(
            Content.styled(f"not followed, retrying: {one_line(message.reason)}", "$text-error")
        )

    def on_input_changed(self) -> None:
        """Filter while typing."""
        self._show()

    def action_back(self) -> None:
        """Clear the filter; when it is clear, go back."""
        field = self.query_one(Input)
        if field.value:
            field.value = ""
        else:
            self.dismiss()

    def action_details(self) -> None:
        """Show everything about the row's file."""
        if document := self.query_one(DocumentsTable).chosen:
            self.app.push_screen(DocumentScreen(self._client, document))

    def action_retry(self) -> None:
        """Have the row's file read again, when it failed."""
        document = self.query_one(DocumentsTable).chosen
        if document is None or not state_of(document).failed:
            self.notify("only files that failed are read again", markup=False)
            return
        self._tell(lambda: self._client.retry([document.path]), f"read again: {one_line(document.path)}")

    def action_pause(self) -> None:
        """Pause the reading of files, or go on with it."""
        if self._reply is None:
            return
        action: Literal["pause", "resume"] = "resume" if self._reply.ingest.paused else "pause"
        done = (
            "files are read again"
            if action == "resume"
            else "no more files are read until F6 is pressed again"
        )
        self._tell(lambda: self._client.control_ingest(action), done)

    @work(group="orders", exit_on_error=False)
    async def _tell(self, order: Callable[[], Awaitable[object]], done: str) -> None:
        try:
            await order()
        except ApplianceError as error:
            self.notify(one_line(str(error)), severity="error", markup=False)
        else:
            self.notify(done, markup=False)

    def on_data_table_row_selected(self) -> None:
        """A click opens the details too."""
        self.action_details()

    def on_data_table_row_highlighted(self) -> None:
        """Show the whole reason under the table: the column is narrow."""
        document = self.query_one(DocumentsTable).chosen
        self.query_one("#chosen", Static).update(one_line(reason_of(document)) if document else "")

    def action_table(self, key: str) -> None:
        """Move in the table while the filter has the cursor."""
        table = self.query_one(DocumentsTable)
        {
            "up": table.action_cursor_up,
            "down": table.action_cursor_down,
            "pageup": table.action_page_up,
            "pagedown": table.action_page_down,
        }[key]()

    def _show(self) -> None:
        if self._reply is None:
            return
        wanted = self.query_one(Input).value.casefold().split()
        found = [d for d in self._reply.documents if _matches(d, wanted)]
        found.sort(key=lambda d: (state_of(d).order, d.path.casefold()))
        self.query_one(DocumentsTable).show(found)
        self._show_title(len(found), len(self._reply.documents))
        self._show_work(self._reply.ingest)

    def _show_title(self, n_found: int, n_all: int) -> None:
        number = f"{n_all:,}" if n_found == n_all else f"{n_found:,} of {n_all:,}"
        more = f" (the first {MAX_ROWS:,} are shown: type to narrow)" if n_found > MAX_ROWS else ""
        assert self._reply is not None
        folder = one_line(self._reply.ingest.folder)
        self.query_one("#title", Static).update(
            Content.assemble("Documents  ", (number + more, ""), (f"   {folder}", "$foreground 60%"))
        )

    def _show_work(self, ingest: IngestStatus) -> None:
        n_ready, n_to_do, n_failed = tally(ingest.counts)
        bar = self.query_one(ProgressBar)
        bar.display = bool(n_to_do)
        bar.update(total=max(n_ready + n_to_do + n_failed, 1), progress=n_ready + n_failed)
        self.query_one("#counts", Static).update(_work(ingest))


def _work(ingest: IngestStatus) -> Content:
    """Return why ingest stands still, or the counts and what is worked on."""
    if ingest.problem:
        return Content.styled(f"Standing still: {one_line(ingest.problem)}", "bold $text-error")
    n_ready, n_to_do, n_failed = tally(ingest.counts)
    if not n_ready + n_to_do + n_failed:
        return Content.styled("no documents yet: put files into the folder", "$foreground 60%")
    parts = [(f"{n_ready:,} ready", "$text-success")]
    parts += [(f"{n_failed:,} failed", "bold $text-error")] if n_failed else []
    parts += [(f"{n_to_do:,} to do", "$text-accent")] if n_to_do else []
    parts += [("paused", "bold $text-warning")] if ingest.paused else []
    now = f"now {one_line(ingest.current)}" + (f", {one_line(ingest.step)}" if ingest.step else "")
    parts += [(now, "$foreground 60%")] if ingest.current else []
    parts += [(_left(ingest.eta_s), "$foreground 60%")] if ingest.eta_s is not None else []
    return Content("   ").join(Content.styled(*part) for part in parts)


def _left(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute left"
    return f"about {minutes} min left" if minutes < 90 else f"about {minutes / 60:.0f} h left"


def _matches(document: Document, wanted: list[str]) -> bool:
    text = (
        f"{document.path} {document.title} {state_of(document).word} {document.state} {reason_of(document)}"
    )
    text = text.casefold()
    return all(word in text for word in wanted)
