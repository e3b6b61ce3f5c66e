"""The line at the foot of every screen: model, device, speed, queue, ingest, index, connection."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from appliance.api.schema_documents import IngestStatus
from appliance.api.schema_status import EngineReply, IndexReply, StatusReply
from tui.connection import Connection
from tui.foreign import one_line

_Part = tuple[str, str]
CALM = "$foreground 60%"


class StatusLine(Widget):
    """Shows the app's connection; what does not fit is left out, calm parts first."""

    def __init__(self) -> None:
        super().__init__()
        self._connection = Connection()

    def show(self, connection: Connection) -> None:
        """Show what the last poll found."""
        self._connection = connection
        self.refresh()

    def render(self) -> Content:
        """Return as many parts as fit."""
        shown = parts(self._connection)
        while len(shown) > 1 and _line(shown).cell_length > self.size.width - 2:
            calm = [part for part in shown[1:] if part[1] == CALM]
            shown.remove((calm or shown)[-1])
        return _line(shown)


def _line(shown: list[_Part]) -> Content:
    return Content("  ").join(Content.styled(text, style) for text, style in shown)


def parts(connection: Connection) -> list[_Part]:
    """Return the parts of the line as (text, style), the most important first."""
    if connection.up is None:
        return [("○ connecting …", CALM)]
    if not connection.up:
        return [
            ("○ not connected, retrying", "bold $text-error"),
            ("what you typed and see is kept", CALM),
            (one_line(connection.reason), CALM),
        ]
    status = connection.status
    return [] if status is None else _status_parts(status)


def _status_parts(status: StatusReply) -> list[_Part]:
    return [
        *_engine(status.engine),
        *_ingest(status.ingest),
        (f"queue {status.engine.n_waiting}", "$text-warning" if status.engine.n_waiting else CALM),
        *_index(status.index),
    ]


def _engine(engine: EngineReply) -> list[_Part]:
    model, device = one_line(engine.model).removesuffix("-instruct") or "no model", one_line(engine.device)
    if engine.state == "ready":
        shown = [("● " + model, "$text-success"), (device, CALM)]
        if engine.decode_tps > 0:
            shown.append((f"{engine.decode_tps:.1f} tok/s", CALM))
        if engine.reads_ahead:
            left = f", {engine.n_preparing} to go" if engine.n_preparing else ""
            shown.append((f"{engine.n_blocks} passages read ahead{left}", CALM))
        return [part for part in shown if part[0]]
    words = {"starting": "model is loading", "restarting": "engine is restarting", "failed": "no model runs"}
    style = "$text-error" if engine.state == "failed" else "$text-warning"
    reason = f": {one_line(engine.reason)}" if engine.reason else ""
    return [(f"◐ {words[engine.state]}{reason}", style)]


def _ingest(ingest: IngestStatus) -> list[_Part]:
    if ingest.problem:
        return [(f"documents: {one_line(ingest.problem)}", "$text-error")]
    n = ingest.n_waiting + bool(ingest.current)
    waiting = [(f"{n} file{'s' * (n != 1)} to read", "$text-accent")] if n else []
    return [*waiting, ("reading is paused", "$text-warning")] if ingest.paused else waiting


def _index(index: IndexReply) -> list[_Part]:
    style = "$foreground 60%" if index.state == "ready" else "$text-warning"
    return [(f"index {one_line(index.state)}", style)]
