"""Where questions are typed: Enter sends, several keys make a new line, arrows bring back earlier ones."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from tui.messages import QuestionAsked, ReadAnswer

# Terminals differ in which of these they can tell from Enter (oterm#299).
NEWLINE_KEYS = ("shift+enter", "ctrl+j", "alt+enter", "ctrl+enter")


class QuestionBox(TextArea):
    """A text area that grows to a few lines and remembers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "read", "Read", key_display="Tab"),
        Binding("up", "older", "Earlier question", show=False),
        Binding("down", "newer", "Later question", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(
            compact=True,
            highlight_cursor_line=False,
            placeholder="Ask about the documents. Enter sends, Ctrl+J makes a new line.",
            id="question",
        )
        self._history: list[str] = []
        self._at = 0  # place in the history; its length: the draft
        self._draft = ""

    async def _on_key(self, event: events.Key) -> None:
        # Here and not as bindings: those run after the letters of a fast typist that follow them (Textual 8.2).
        if event.key == "enter" or event.key in NEWLINE_KEYS:
            event.stop()
            event.prevent_default()
            if event.key == "enter":
                self._send()
            else:
                self.insert("\n")

    def _send(self) -> None:
        """Post the text and clear the box at once, so that what is typed next is not cleared with it."""
        if question := self.text.strip():
            self.clear()
            self.post_message(QuestionAsked(question))

    def give_back(self, question: str) -> None:
        """Put a question that could not be asked in front of whatever was typed since."""
        self.load_text(question + self.text)
        self.move_cursor(self.document.end)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer reading only when there is something to read."""
        return action != "read" or bool(self.screen.query("Turn"))

    def action_read(self) -> None:
        """Go to the last answer."""
        self.post_message(ReadAnswer())

    def remember(self, question: str) -> None:
        """Add a question to those the arrows bring back."""
        if question not in self._history[-1:]:
            self._history.append(question)
        self._at, self._draft = len(self._history), ""

    def action_older(self) -> None:
        """Move up a line; on the first, bring back the question before."""
        if self.cursor_location[0] > 0 or self._at == 0:
            self.action_cursor_up()
            return
        if self._at == len(self._history):
            self._draft = self.text
        self._show(self._at - 1)

    def action_newer(self) -> None:
        """Move down a line; on the last, bring back the question after, at last the draft."""
        if self.cursor_location[0] < self.document.line_count - 1 or self._at >= len(self._history):
            self.action_cursor_down()
            return
        self._show(self._at + 1)

    def _show(self, at: int) -> None:
        self._at = at
        self.load_text(self._draft if at == len(self._history) else self._history[at])
        self.move_cursor(self.document.end)
