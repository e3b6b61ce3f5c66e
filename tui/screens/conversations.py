"""Earlier conversations: open one, or delete it for good."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from pydantic import ValidationError
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from appliance.api.schema import Conversation, ConversationSummary
from appliance.client import Client
from appliance.errors import ApplianceError
from tui.foreign import one_line

_MAX_SHOWN = 500


class ConversationsScreen(ModalScreen[Conversation | None]):
    """A list over the chat; returns the conversation that was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back"),
        Binding("delete,d", "delete", "Delete"),
    ]

    def __init__(self, client: Client, current: str | None) -> None:
        super().__init__()
        self._client = client
        self._current = current
        self._summaries: list[ConversationSummary] = []
        self._condemned = ""  # id waiting for the second press of delete

    def compose(self) -> ComposeResult:
        """Heading, list, keys."""
        with Vertical(classes="window"):
            yield Static("Earlier conversations", classes="heading", markup=False)
            yield OptionList(markup=False)
            yield Static("loading …", classes="note", markup=False)

    def on_mount(self) -> None:
        """Fetch the list."""
        self._load()

    @work(group="conversations", exclusive=True, exit_on_error=False)
    async def _load(self) -> None:
        try:
            self._summaries = (await self._client.conversations())[:_MAX_SHOWN]
        except (ApplianceError, ValidationError) as error:
            self._note(_plain(error))
            return
        choices = self.query_one(OptionList)
        at = choices.highlighted or 0
        choices.clear_options()
        choices.add_options([Option(self._label(s)) for s in self._summaries])
        choices.highlighted = min(at, len(self._summaries) - 1) if self._summaries else None
        choices.focus()
        self._hint()

    def _label(self, summary: ConversationSummary) -> Content:
        here = "● " if summary.id == self._current else "  "
        turns = f"{summary.n_turns} question{'s' * (summary.n_turns != 1)}"
        title = one_line(summary.title) or "(no title)"
        return Content.assemble(
            (here, "$text-accent"),
            (title[:200], "bold"),
            (f"\n  {_when(summary.updated)} · {turns}", "$foreground 60%"),
        )

    def on_option_list_option_highlighted(self) -> None:
        """Moving on calls a deletion off."""
        self._condemned = ""
        self._hint()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the conversation."""
        self._open(self._summaries[event.option_index].id)

    @work(group="conversations", exclusive=True, exit_on_error=False)
    async def _open(self, conversation_id: str) -> None:
        try:
            self.dismiss(await self._client.conversation(conversation_id))
        except (ApplianceError, ValidationError) as error:
            self._note(_plain(error))

    def action_delete(self) -> None:
        """Delete at the second press."""
        at = self.query_one(OptionList).highlighted
        if at is None:
            return
        summary = self._summaries[at]
        if self._condemned != summary.id:
            self._condemned = summary.id
            self._note("Delete it for good? Press D again. Any other key: no.")
            return
        self._condemned = ""
        self._delete(summary.id)

    @work(group="conversations", exclusive=True, exit_on_error=False)
    async def _delete(self, conversation_id: str) -> None:
        try:
            await self._client.delete_conversation(conversation_id)
        except ApplianceError as error:
            self._note(_plain(error))
            return
        self._load()

    def _hint(self) -> None:
        self._note("Enter opens   D deletes   Esc back" if self._summaries else "None yet.   Esc back")

    def _note(self, text: str) -> None:
        self.query_one(".note", Static).update(Content(text))


def _plain(error: Exception) -> str:
    return "the reply cannot be read" if isinstance(error, ValidationError) else one_line(str(error))


def _when(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds).strftime("%d %b %Y, %H:%M")
    except (ValueError, OverflowError, OSError):  # a clock that was never set
        return "unknown time"
