"""A task over a document, while it runs and when it is done. Closing the window stops it; what is done is kept."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, ClassVar

from pydantic import ValidationError
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from appliance.api.schema import ErrorEvent, QueuedEvent, TokenEvent
from appliance.api.schema_tasks import (
    ExtractionDone,
    NumberDifference,
    ProgressEvent,
    Row,
    RowEvent,
    SummaryDone,
    TaskSource,
    TranslationDone,
)
from appliance.errors import ApplianceError
from tui.foreign import one_line, readable

Events = Callable[[], AsyncGenerator[Any, None]]

_STAGES = {"map": "reading", "reduce": "joining summaries", "translate": "translating", "extract": "reading"}
_DIM = "$foreground 60%"
_WARNING = "$text-warning"


class TaskScreen(ModalScreen[None]):
    """A window that follows one task."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Stop and go back"),
        Binding("c", "copy", "Copy"),
    ]

    def __init__(self, title: str, begin: Events) -> None:
        super().__init__()
        self._title = title
        self._begin = begin
        self._text = ""
        self._rows: dict[int, Row] = {}
        self._ended = False

    def compose(self) -> ComposeResult:
        """What is done, how far it is, what came of it."""
        with VerticalScroll(classes="window"):
            yield Static(self._title, classes="heading", markup=False)
            yield Static("asking …", id="task-progress", classes="reason", markup=False)
            yield Static("", id="task-result", markup=False)

    def on_mount(self) -> None:
        """Begin."""
        self._follow()

    def action_copy(self) -> None:
        """Copy the result."""
        self.app.copy_to_clipboard(self._text)
        self.notify("copied" if self._ended else "copied what there is until now")

    @work(group="task", exclusive=True, exit_on_error=False)
    async def _follow(self) -> None:
        try:
            async with aclosing(self._begin()) as events:
                async for event in events:
                    self._take(event)
        except (ApplianceError, ValidationError) as error:
            self._fail("unreadable reply" if isinstance(error, ValidationError) else str(error))
        else:
            if not self._ended:
                self._fail("it broke off; the same again goes on from there")

    def _take(self, event: Any) -> None:
        match event:
            case QueuedEvent(position=position):
                self._tell(f"waiting, place {position} in the queue; Esc stops")
            case ProgressEvent():
                self._tell(f"{_progress(event)}; Esc stops, what is done is kept")
            case TokenEvent(text=text):
                self._text += text
                self._show(Content(readable(self._text)))
            case RowEvent(row=row):
                self._rows[row.number] = row
                self._show(self._table(list(row.values)))
            case ErrorEvent(message=message):
                self._fail(message)
            case SummaryDone():
                self._end(event, _summary(event), event.summary)
            case TranslationDone():
                self._end(event, _translation(event), event.translation)
            case ExtractionDone(rows=rows, columns=columns):
                self._rows = {row.number: row for row in rows}
                self._end(event, self._table(columns), "\n".join(_line(row, columns) for row in rows))

    def _table(self, columns: list[str]) -> Content:
        head = Content.assemble((readable(" | ".join(columns)), "bold"))
        lines = [Content(readable(_line(row, columns))) for row in self._rows.values()]
        return Content("\n").join([head, *lines])

    def _end(self, done: SummaryDone | TranslationDone | ExtractionDone, shown: Content, text: str) -> None:
        self._ended, self._text = True, text
        self._tell(f"done in {done.timings.total_s:.0f} s by {one_line(done.model)}; C copies")
        notes = [Content.assemble((readable(f"note: {note}"), _WARNING)) for note in done.notes]
        self._show(Content("\n").join([shown, *notes]))

    def _fail(self, reason: str) -> None:
        self._ended = True
        self.query_one("#task-progress", Static).update(Content.assemble((one_line(reason), _WARNING)))

    def _tell(self, text: str) -> None:
        self.query_one("#task-progress", Static).update(Content.assemble((one_line(text), _DIM)))

    def _show(self, content: Content) -> None:
        self.query_one("#task-result", Static).update(content)


def _progress(event: ProgressEvent) -> str:
    part = f"part {min(event.n + 1, event.m)} of {event.m}"
    left = f", about {event.eta_s:.0f} s left" if event.eta_s is not None and event.n < event.m else ""
    place = f", {event.place}" if event.place else ""
    return f"{_STAGES[event.stage]}: {part}{place}{left}"


def _summary(done: SummaryDone) -> Content:
    parts: list[Content | tuple[str, str]] = []
    at = 0
    for statement in done.statements:
        parts.append(Content(readable(done.summary[at : statement.end])))
        parts.append((f" [{_places(statement.sources)}]", _DIM if statement.sources else _WARNING))
        if statement.unknown_numbers:
            parts.append((f" [not in the document: {', '.join(statement.unknown_numbers)}]", _WARNING))
        at = statement.end
    return Content.assemble(*parts, Content(readable(done.summary[at:])))


def _places(sources: list[TaskSource]) -> str:
    return "; ".join(one_line(source.locator or source.path) for source in sources) or "no source"


def _translation(done: TranslationDone) -> Content:
    differing = [f"numbers differ in part {d.piece}: {_difference(d)}" for d in done.differences]
    warnings = [Content.assemble((readable(text), _WARNING)) for text in differing]
    return Content("\n").join([Content(readable(done.translation)), *warnings])


def _difference(found: NumberDifference) -> str:
    return ", ".join([*(f"missing {n}" for n in found.missing), *(f"added {n}" for n in found.added)])


def _line(row: Row, columns: list[str]) -> str:
    cells = []
    for column in columns:
        value = row.values.get(column)
        doubt = " [?]" if row.verified.get(column) is False else ""
        cells.append(f"{'' if value is None else one_line(str(value))}{doubt}")
    return " | ".join(cells)
