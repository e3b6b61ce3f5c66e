"""POST /api/tasks/…: work over whole documents, as streams of events."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from appliance.api import sse
from appliance.api.caller import Caller
from appliance.api.parts import Daemon
from appliance.api.schema_tasks import ExtractRequest, SummariseRequest, TaskRequest, TranslateRequest
from appliance.tasks.steps import Run
from ingest.access import Viewer

router = APIRouter(prefix="/api/tasks")


@router.post("/summarise")
async def summarise(body: SummariseRequest, caller: Caller, daemon: Daemon) -> StreamingResponse:
    """Stream the summary of a document; see `appliance.api.schema_tasks` for the events."""
    return await sse.respond(daemon.tasks.summarise(body, _run(body, caller)))


@router.post("/translate")
async def translate(body: TranslateRequest, caller: Caller, daemon: Daemon) -> StreamingResponse:
    """Stream the translation of a text, a passage or a document."""
    return await sse.respond(daemon.tasks.translate(body, _run(body, caller)))


@router.post("/extract")
async def extract(body: ExtractRequest, caller: Caller, daemon: Daemon) -> StreamingResponse:
    """Stream the rows that are taken out of documents."""
    return await sse.respond(daemon.tasks.extract(body, _run(body, caller)))


def _run(body: TaskRequest, caller: Viewer) -> Run:
    return Run(caller, body.deadline_s, body.fresh)
