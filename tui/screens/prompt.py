"""One line to be typed: what a task still has to know."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class PromptScreen(ModalScreen[str | None]):
    """A window with a field; gives back what was typed, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back")]

    def __init__(self, asks: str, example: str) -> None:
        super().__init__()
        self._asks = asks
        self._example = example

    def compose(self) -> ComposeResult:
        """The question and the field."""
        with Vertical(classes="window"):
            yield Static(self._asks, classes="heading", markup=False)
            yield Input(placeholder=self._example)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give back what was typed, if anything was."""
        self.dismiss(event.value.strip() or None)
