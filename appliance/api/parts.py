"""What the routes need, as one object that the daemon builds once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from appliance.answer.assistant import Assistant
from appliance.changes import Changes
from appliance.config import Config
from appliance.conversations import Journal
from appliance.engine.interface import Engine
from appliance.tasks.tasks import Tasks
from ingest.dense import Dense
from ingest.library import Library
from ingest.pipeline import Ingest


@dataclass(frozen=True, slots=True)
class Parts:
    """The daemon's parts.

    Attributes:
        changes: counts every change of a document's state.
        uptime_s: seconds since the daemon started.
    """

    config: Config
    assistant: Assistant
    tasks: Tasks
    engine: Engine
    library: Library
    dense: Dense
    embedder: str
    ingest: Ingest
    journal: Journal
    changes: Changes
    uptime_s: Callable[[], float]


def parts(request: Request) -> Parts:
    """Return the parts of the app that serves a request."""
    found: Parts = request.app.state.parts
    return found


Daemon = Annotated[Parts, Depends(parts)]
