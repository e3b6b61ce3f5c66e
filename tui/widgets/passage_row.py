"""One passage in the list of evidence: number, document, place, and the sentence nearest to the question."""

from __future__ import annotations

from pathlib import PurePosixPath

from textual.content import Content
from textual.widget import Widget

from appliance.api.schema import Passage
from tui.foreign import one_line
from tui.messages import OpenPassage
from tui.states import other_names, warning_of

_MAX_BEST = 240


class PassageRow(Widget):
    """A passage; a click opens it."""

    def __init__(self, passage: Passage) -> None:
        super().__init__()
        self.passage = passage

    def render(self) -> Content:
        """Return the place on one line, or on two in the side column, then the sentence."""
        passage, beside = self.passage, self.screen.has_class("-wide")
        gap = "\n" if beside else "  "
        name = one_line(PurePosixPath(passage.path).name or passage.title)
        where, best = one_line(passage.locator), best_sentence(passage)
        warning, names = warning_of(passage.flags), other_names(passage)
        return Content.assemble(
            (f"[{passage.number}]", "bold $text-accent"),
            (f" {name}", "bold"),
            (gap + where if where else "", "$foreground 60%"),
            (gap + warning if warning else "", "$text-warning"),
            (gap + names if names else "", "$foreground 60%"),
            (f"\n{'' if beside else '    '}“{best}”" if best else "", "$foreground 60% italic"),
        )

    def on_click(self) -> None:
        """Open it."""
        self.post_message(OpenPassage(self.passage.number))


def best_sentence(passage: Passage) -> str:
    """Return the marked sentence, or the passage's beginning, on one line and cut to a readable length."""
    start, end = passage.best or (0, len(passage.text))
    sentence = one_line(passage.text[max(start, 0) : max(end, 0)]) or one_line(passage.text)
    return sentence if len(sentence) <= _MAX_BEST else sentence[: _MAX_BEST - 1] + "…"
