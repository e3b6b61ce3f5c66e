"""POST /api/ask and /api/search: an answer from the documents, or only the passages."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from appliance.answer.assistant import Question
from appliance.api import sse
from appliance.api.caller import Caller
from appliance.api.parts import Daemon
from appliance.api.schema import AskRequest, SearchReply, SearchRequest

router = APIRouter(prefix="/api")


@router.post("/ask")
async def ask(body: AskRequest, caller: Caller, daemon: Daemon) -> StreamingResponse:
    """Stream the events of an answer; see `appliance.api.schema` for their order."""
    question = Question(body.question, caller, body.conversation, body.max_tokens, deadline_s=body.deadline_s)
    return await sse.respond(daemon.assistant.ask(question))


@router.post("/search")
async def search(body: SearchRequest, caller: Caller, daemon: Daemon) -> SearchReply:
    """Return the nearest passages, best first."""
    found = await daemon.assistant.search(body.query, caller, body.n)
    return SearchReply(passages=list(found.passages), confidence=found.confidence, seconds=found.seconds)
