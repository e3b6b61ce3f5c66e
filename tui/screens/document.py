"""Everything about one file, its full reason first."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from pydantic import ValidationError
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from appliance.api.schema_documents import Document
from appliance.api.schema_tasks import ExtractRequest, SummariseRequest
from appliance.client import Client
from tui.foreign import one_line, readable
from tui.screens.prompt import PromptScreen
from tui.screens.task import TaskScreen
from tui.states import state_of


class DocumentScreen(ModalScreen[None]):
    """A window over the table."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "dismiss", "Back"),
        Binding("s", "summarise", "Summarise"),
        Binding("x", "extract", "Extract"),
    ]

    def __init__(self, client: Client, document: Document) -> None:
        super().__init__()
        self._client = client
        self._document = document

    def compose(self) -> ComposeResult:
        """Name, state and reason, facts."""
        document, state = self._document, state_of(self._document)
        with VerticalScroll(classes="window"):
            yield Static(one_line(document.path), classes="heading", markup=False)
            yield Static(
                Content.assemble((f"{state.sign} {state.word}", f"bold ${state.style}"),
                                 "   ", readable(document.reason or state.meaning)),
                classes="reason", markup=False,
            )  # fmt: skip
            for note in document.notes:
                yield Static(readable(note), classes="note", markup=False)
            yield Static(_facts(document), markup=False)
            if document.state == "ready":
                yield Static(
                    "S: summarise   X: take columns out of it   Esc: back", classes="keys", markup=False
                )

    def action_summarise(self) -> None:
        """Summarise the document."""
        request = SummariseRequest(document=self._document.id)
        self.app.push_screen(TaskScreen(self._titled("Summary"), lambda: self._client.summarise(request)))

    def action_extract(self) -> None:
        """Ask for columns, and take rows out of the document."""
        asks = PromptScreen("Which columns? Their names, separated by commas", "name, date, amount")
        self.app.push_screen(asks, self._extract)

    def _extract(self, columns: str | None) -> None:
        if columns is None:
            return
        try:
            request = ExtractRequest(documents=[self._document.id], columns=columns.split(","))
        except ValidationError:
            self.notify("that is more than 40 columns", markup=False)
            return
        self.app.push_screen(TaskScreen(self._titled("Rows"), lambda: self._client.extract(request)))

    def _titled(self, what: str) -> str:
        return f"{what}: {one_line(self._document.path)}"


def _facts(document: Document) -> Content:
    facts = {
        "Title": one_line(document.title),
        "Folder": one_line(document.collection),
        "Format": one_line(document.format),
        "Pages": "" if document.n_pages is None else f"{document.n_pages:,}",
        "Chunks": f"{document.n_chunks:,}",
        "Size": _size(document.size),
        "Changed": _when(document.modified),
        "SHA-256": one_line(document.sha256),
    }
    rows = [
        Content.assemble((f"{name:<9}", "$foreground 60%"), value) for name, value in facts.items() if value
    ]
    return Content("\n").join(rows)


def _size(n_bytes: int) -> str:
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    kilobytes = n_bytes / 1000
    return f"{kilobytes:,.0f} KB" if kilobytes < 1000 else f"{kilobytes / 1000:,.1f} MB"


def _when(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds).strftime("%d %b %Y, %H:%M")
    except (ValueError, OverflowError, OSError):
        return "unknown"
