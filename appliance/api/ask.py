"""POST /api/ask and /api/search: an answer from the documents, or only the passages."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from appliance.answer.assistant import Question
from appliance.api import sse
from appliance.api.caller import Caller
from appliance.api.parts import Daemon
from appliance.api.schema import AskRequest, SearchFilter, SearchReply, SearchRequest
from appliance.engine.request import Reuse
from ingest.filter import Filter

router = APIRouter(prefix="/api")


@router.post("/ask")
async def ask(body: AskRequest, caller: Caller, daemon: Daemon) -> StreamingResponse:
    """Stream the events of an answer; see `appliance.api.schema` for their order."""
    question = Question(
        body.question, caller, body.conversation, body.max_tokens, body.deadline_s, only=_filter(body.only),
        reuse=Reuse(body.reuse.mode, body.reuse.n_fresh) if body.reuse else None,
    )  # fmt: skip
    return await sse.respond(daemon.assistant.ask(question))


@router.post("/search")
async def search(body: SearchRequest, caller: Caller, daemon: Daemon) -> SearchReply:
    """Return the nearest passages, best first."""
    found = await daemon.assistant.search(body.query, caller, body.n, _filter(body.only))
    return SearchReply(passages=list(found.passages), confidence=found.confidence, seconds=found.seconds)


def _filter(only: SearchFilter) -> Filter:
    return Filter(
        tuple(only.collections),
        tuple(only.documents),
        tuple(map(str.lower, only.formats)),
        only.modified_from,
        only.modified_until,
    )
