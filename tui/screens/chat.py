"""The conversation: questions, answers with their evidence, and the box to ask in."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import ClassVar, cast

from pydantic import ValidationError
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Static
from textual.worker import Worker

from appliance.api.schema import Conversation, DoneEvent, ErrorEvent
from appliance.client import Client
from appliance.errors import ApplianceError
from tui.connection import Connection
from tui.foreign import one_line
from tui.messages import AnswerFailed, AnswerStep, AnswerStopped, OpenPassage, QuestionAsked
from tui.screens.conversations import ConversationsScreen
from tui.screens.reader import ReaderScreen
from tui.widgets.question_box import QuestionBox
from tui.widgets.status_line import StatusLine
from tui.widgets.turn import Turn
from tui.widgets.welcome import Welcome

# A long conversation makes every key press slower (parllama#17): older turns leave the screen only.
MAX_TURNS = 50
_MAX_QUESTION = 20_000  # characters, appliance.api.schema.AskRequest


class ChatScreen(Screen[None]):
    """Ask and read."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 (Textual declares it so)
    AUTO_FOCUS = "#question"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop", "Stop", key_display="Esc"),
        Binding("escape", "ask", "Back to asking", show=False),
        Binding("ctrl+n", "new", "New", key_display="^N"),
        Binding("f3,ctrl+l", "conversations", "Earlier", key_display="F3"),
        Binding("f4", "copy", "Copy answer", key_display="F4"),
        Binding("ctrl+r", "again", "Ask again", show=False, priority=True),
        Binding("pageup", "page(-1)", "Scroll up", show=False, priority=True),
        Binding("pagedown", "page(1)", "Scroll down", show=False, priority=True),
        *[Binding(f"alt+{n}", f"open({n})", f"Passage {n}", show=False, priority=True) for n in range(1, 10)],
    ]

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._client = client
        self._conversation: str | None = None
        self._answering: Worker[None] | None = None

    def compose(self) -> ComposeResult:
        """Title, log, question box, status, keys."""
        yield Static(id="title", markup=False)
        with VerticalScroll(id="log", can_focus=False), Vertical(id="turns"):
            yield Welcome()
        with Horizontal(id="asking"):
            yield Static("❯", id="prompt", markup=False)
            yield QuestionBox()
        yield StatusLine()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Follow the connection."""
        self._title("")
        self.watch(self.app, "connection", self._connection_changed)

    @property
    def log_view(self) -> VerticalScroll:
        """What scrolls."""
        return self.query_one("#log", VerticalScroll)

    @property
    def _column(self) -> Vertical:
        return self.query_one("#turns", Vertical)

    @property
    def turns(self) -> list[Turn]:
        """The turns on the screen, oldest first."""
        return list(self.query(Turn))

    @property
    def answering(self) -> bool:
        """An answer is being made."""
        return self._answering is not None and not self._answering.is_finished

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Show only the keys that would do something now."""
        if action == "stop":
            return self.answering
        return True

    # --- asking ---

    async def on_question_asked(self, message: QuestionAsked) -> None:
        """Ask, or give the text back and say why."""
        if refusal := self._refusal(message.text):
            self.query_one(QuestionBox).give_back(message.text)
            self.notify(refusal, severity="warning", markup=False)
            return
        self.query_one(QuestionBox).remember(message.text)
        await self._ask(message.text)

    def on_key(self, event: events.Key) -> None:
        """Take what is typed while an answer has the focus; its own keys (digits, space) do not come here."""
        if event.character and event.character.isalpha():
            event.stop()
            box = self.query_one(QuestionBox)
            self.set_focus(box)
            box.insert(event.character)

    def on_read_answer(self) -> None:
        """Go to the last answer, where digits open passages."""
        if self.turns:
            self.turns[-1].focus()

    def _refusal(self, question: str) -> str:
        connection = cast(Connection, getattr(self.app, "connection"))  # noqa: B009
        if self.answering:
            return "An answer is being made; Esc stops it. Your question is kept."
        if connection.up is False:
            return "Not connected. Your question is kept; press Enter again once the appliance answers."
        if len(question) > _MAX_QUESTION:
            return f"The question has {len(question):,} characters; {_MAX_QUESTION:,} are the most."
        return ""

    async def _ask(self, question: str) -> None:
        if self._conversation is None and not self.turns:
            self._title(question)
        turn = Turn(question)
        await self._add([turn])
        self._answering = self._answer(turn)
        self.refresh_bindings()

    @work(group="answer", exclusive=True, exit_on_error=False)
    async def _answer(self, turn: Turn) -> None:
        """Carry the events of one answer to its turn; to cancel this is to cancel the answer."""
        try:
            if not await self._carry(turn):
                turn.post_message(AnswerFailed("the answer ended early"))
        except asyncio.CancelledError:
            turn.post_message(AnswerStopped())
            raise
        except ApplianceError as error:
            turn.post_message(AnswerFailed(str(error)))
        except ValidationError:
            turn.post_message(AnswerFailed("the appliance said something this screen does not understand"))
        except Exception as error:  # the outermost loop of one answer: this answer fails, the screen stays
            self.log.error(error)
            turn.post_message(AnswerFailed(f"{type(error).__name__}: {error}"))
        finally:
            self.call_later(self.refresh_bindings)

    async def _carry(self, turn: Turn) -> bool:
        """Post the events; return whether the last one was an end."""
        asked = self._client.ask(turn.question, conversation=self._conversation)
        async with aclosing(asked) as events:
            async for event in events:
                turn.post_message(AnswerStep(event))
                if isinstance(event, DoneEvent):
                    self._conversation = event.conversation or self._conversation
                if isinstance(event, DoneEvent | ErrorEvent):
                    return True
        return False

    async def _add(self, turns: list[Turn]) -> None:
        await self.query(Welcome).remove()
        await self._column.mount_all(turns)
        surplus = self.turns[:-MAX_TURNS]
        for turn in surplus:
            await turn.remove()
        self.log_view.anchor()

    # --- keys ---

    def action_stop(self) -> None:
        """Stop the answer."""
        if self._answering is not None:
            self._answering.cancel()

    def action_ask(self) -> None:
        """Go to the question box."""
        self.query_one(QuestionBox).focus()

    async def action_new(self) -> None:
        """Begin a new conversation; what is typed stays."""
        await self._clear()
        self._conversation = None
        self._title("")
        await self._column.mount(Welcome())
        self.query_one(QuestionBox).focus()

    async def action_again(self) -> None:
        """Ask the last question again."""
        if not self.turns:
            return
        question = self.turns[-1].question
        if refusal := self._refusal(question):
            self.notify(refusal, severity="warning", markup=False)
            return
        await self._ask(question)

    def action_copy(self) -> None:
        """Copy the chosen turn's answer, or the last, with its sources."""
        if turn := self._chosen():
            self.app.copy_to_clipboard(turn.for_clipboard())
            self.notify("Answer copied (if your terminal allows it).")

    def action_page(self, way: int) -> None:
        """Scroll the log by a page, from wherever the cursor is."""
        log = self.log_view
        log.scroll_page_down(animate=False) if way > 0 else log.scroll_page_up(animate=False)

    def action_open(self, number: int) -> None:
        """Read a passage of the chosen turn, or of the last."""
        if turn := self._chosen():
            self._open(turn, number)

    def on_open_passage(self, message: OpenPassage) -> None:
        """Read a passage of the turn that the message came from."""
        sender = message._sender
        turn = next((t for t in self.turns if sender is t or (sender and t in sender.ancestors)), None)  # type: ignore[attr-defined]
        if turn := turn or self._chosen():
            self._open(turn, message.number)

    def _open(self, turn: Turn, number: int) -> None:
        at = next((i for i, passage in enumerate(turn.passages) if passage.number == number), None)
        if at is None:
            self.notify(f"There is no passage {number} here.")
            return
        self.app.push_screen(ReaderScreen(self._client, turn.passages, at, turn.citations))

    def _chosen(self) -> Turn | None:
        if isinstance(self.focused, Turn):
            return self.focused
        return self.turns[-1] if self.turns else None

    # --- earlier conversations ---

    def action_conversations(self) -> None:
        """Choose an earlier conversation."""
        self.app.push_screen(ConversationsScreen(self._client, self._conversation), self._conversation_chosen)

    def _conversation_chosen(self, conversation: Conversation | None) -> None:
        if conversation is not None:
            self.run_worker(self._show(conversation), group="show", exclusive=True)

    async def _show(self, conversation: Conversation) -> None:
        await self._clear()
        self._conversation = conversation.id
        self._title(conversation.title)
        for turn in conversation.turns:
            self.query_one(QuestionBox).remember(turn.question)
        await self._add([Turn(turn.question, turn) for turn in conversation.turns[-MAX_TURNS:]])
        if len(conversation.turns) > MAX_TURNS:
            note = f"{len(conversation.turns) - MAX_TURNS} earlier turns are kept but not shown"
            await self._column.mount(Static(note, classes="note", markup=False), before=0)
        self.query_one(QuestionBox).focus()

    async def _clear(self) -> None:
        if self._answering is not None:
            self._answering.cancel()
        await self._column.remove_children()

    def _title(self, title: str) -> None:
        shown = one_line(title)[:200] or "new conversation"
        self.query_one("#title", Static).update(
            Content.assemble(("Appliance", "bold $text-accent"), "  ", (shown, "$foreground 80%"))
        )

    def _connection_changed(self, connection: Connection) -> None:
        self.query_one(StatusLine).show(connection)
        for welcome in self.query(Welcome):
            welcome.show(connection)
