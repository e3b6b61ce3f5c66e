"""/v1: the OpenAI API. The model `appliance` answers from the documents; the loaded model's own name is plain chat.

Answers from documents carry an `appliance` object beside the standard fields: passages on the first chunk, and
citations, context budget and timings on the last one (all of it in one object where the answer is not streamed).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, StreamingResponse

from appliance.api import sse
from appliance.api.caller import Caller
from appliance.api.chat_request import ChatRequest, check_offered, grounded_question, plain_requests
from appliance.api.choices import together
from appliance.api.completion import Piece, chunks, usage, whole
from appliance.api.parts import Daemon, Parts
from appliance.api.schema import CitationEvent, DoneEvent, PassagesEvent, TokenEvent
from appliance.engine.request import Done, Token
from appliance.errors import NotFoundError
from ingest.access import Viewer

router = APIRouter(prefix="/v1")

GROUNDED = "appliance"


@router.get("/models")
async def models(daemon: Daemon) -> dict[str, Any]:
    """List `appliance` and the loaded model."""
    names = [GROUNDED, *filter(None, [daemon.engine.status().model])]
    return {
        "object": "list",
        "data": [{"id": n, "object": "model", "created": 0, "owned_by": "local"} for n in names],
    }


@router.post("/chat/completions", response_model=None)
async def chat_completions(
    body: ChatRequest, request: Request, caller: Caller, daemon: Daemon
) -> JSONResponse | StreamingResponse:
    """Answer a chat, streamed or whole."""
    check_offered(body, grounded=body.model == GROUNDED)
    pieces = _pieces(body, caller, daemon)
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": body.model}
    if not body.stream:
        return JSONResponse(await sse.unless_gone(request, whole(pieces, head, want_logprobs=body.logprobs)))
    first = await anext(pieces)
    want_usage = body.stream_options is not None and body.stream_options.include_usage
    return StreamingResponse(
        chunks(first, pieces, head, want_usage=want_usage), media_type="text/event-stream"
    )


def _pieces(body: ChatRequest, caller: Viewer, daemon: Parts) -> AsyncGenerator[Piece, None]:
    loaded = daemon.engine.status().model
    if body.model == GROUNDED:
        return _grounded(body, caller, daemon)
    if body.model == loaded:
        return _plain(body, caller, daemon)
    raise NotFoundError(f"there is no model {body.model!r} here: use {GROUNDED!r} (answers from the documents) "
                        f"or {loaded!r} (plain chat)")  # fmt: skip


async def _grounded(body: ChatRequest, caller: Viewer, daemon: Parts) -> AsyncGenerator[Piece, None]:
    async with aclosing(daemon.assistant.ask(grounded_question(body, caller))) as events:
        async for event in events:
            match event:
                case PassagesEvent(passages=passages):
                    yield Piece(beside={"passages": [p.model_dump() for p in passages]})
                case TokenEvent(text=text):
                    yield Piece(text)
                case CitationEvent(citation=citation):
                    yield Piece(f" {citation.mark}")
                case DoneEvent():
                    beside = event.model_dump(
                        include={"answered", "origin", "citations", "context", "timings"}
                    )
                    timings = event.timings
                    yield Piece("", event.finish_reason, usage(timings.n_prompt, timings.n_decoded), beside)


async def _plain(body: ChatRequest, caller: Viewer, daemon: Parts) -> AsyncGenerator[Piece, None]:
    async with aclosing(together(daemon.engine, plain_requests(body, caller))) as events:
        async for index, event in events:
            match event:
                case Token(text=text, logprobs=logprobs):
                    yield Piece(text, index=index, logprobs=logprobs)
                case Done():
                    used = usage(event.n_prompt, event.n_decoded)
                    yield Piece("", event.finish_reason, used, index=index)
