"""Every key, on one page."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

_KEYS = (
    ("Asking", (
        ("Enter", "send the question"),
        ("Ctrl+J", "new line (Shift+Enter in some terminals)"),
        ("↑ ↓", "earlier questions"),
        ("Esc", "stop the answer"),
        ("Ctrl+R", "ask the last question again"),
        ("Ctrl+N / F3", "new conversation / earlier ones"),
        ("F4", "copy the answer with its sources"),
    )),
    ("Reading", (
        ("Tab, then 1 … 9; or click", "read a passage in its document"),
        ("Tab, Shift+Tab; 0", "to the last answer and back; its context"),
        ("PgUp PgDn", "scroll the conversation"),
        ("← →, M, T, Esc", "in a document: others, more, translate, back"),
    )),
    ("Anywhere", (
        ("F2", "documents; F5: read again, F6: pause reading"),
        ("F2, Enter", "one of them; S: summarise, X: take columns"),
        ("Ctrl+P", "all commands; light and dark themes"),
        ("Ctrl+Q", "quit"),
    )),
    ("Marks", (
        ("[2]", "passage 2 supports the sentence"),
        ("[?]  [!]", "no passage supports it; one says otherwise"),
    )),
)  # fmt: skip


class HelpScreen(ModalScreen[None]):
    """A page over whatever is shown."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q,enter", "dismiss", "Back")]

    def compose(self) -> ComposeResult:
        """One block a group."""
        with VerticalScroll(classes="window"):
            for heading, keys in _KEYS:
                yield Static(heading, classes="heading", markup=False)
                yield Static(_rows(keys), markup=False)


def _rows(keys: tuple[tuple[str, str], ...]) -> Content:
    rows = [Content.assemble((f"{key:<28}", "bold $text-accent"), what) for key, what in keys]
    return Content("\n").join(rows)
