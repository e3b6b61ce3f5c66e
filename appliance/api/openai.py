"""/v1: the OpenAI API. The model `appliance` answers from the documents; the loaded model's own name is plain chat.

Answers from documents carry an `appliance` object beside the standard fields: passages on the first chunk, and
citations, context budget and timings on the last one (all of it in one object where the answer is not streamed).
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, StreamingResponse

from appliance.api import sse
from appliance.api.caller import Caller
from appliance.api.chat_request import ChatRequest, check_offered, grounded_question, plain_request
from appliance.api.errors import error_event, refusal_of
from appliance.api.parts import Daemon, Parts
from appliance.api.schema import CitationEvent, DoneEvent, ErrorEvent, PassagesEvent, TokenEvent
from appliance.engine.request import Done, Token
from appliance.errors import NotFoundError
from ingest.access import Viewer

router = APIRouter(prefix="/v1")

GROUNDED = "appliance"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a reply: text, or its end, with what goes beside it."""

    text: str = ""
    finish_reason: str | None = None
    usage: dict[str, int] | None = None
    beside: dict[str, Any] = field(default_factory=dict)


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
    check_offered(body)
    pieces = _pieces(body, caller, daemon)
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": body.model}
    if not body.stream:
        return JSONResponse(await sse.unless_gone(request, _whole(pieces, head)))
    first = await anext(pieces)
    want_usage = body.stream_options is not None and body.stream_options.include_usage
    return StreamingResponse(_stream(first, pieces, head, want_usage), media_type="text/event-stream")


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
                case CitationEvent(citation=citation) if citation.numbers:
                    yield Piece("".join(f" [{number}]" for number in citation.numbers))
                case DoneEvent():
                    beside = event.model_dump(include={"answered", "citations", "context", "timings"})
                    timings = event.timings
                    yield Piece("", event.finish_reason, _usage(timings.n_prompt, timings.n_decoded), beside)


async def _plain(body: ChatRequest, caller: Viewer, daemon: Parts) -> AsyncGenerator[Piece, None]:
    async with aclosing(daemon.engine.generate(plain_request(body, caller))) as events:
        async for event in events:
            match event:
                case Token(text=text):
                    yield Piece(text)
                case Done():
                    yield Piece("", event.finish_reason, _usage(event.n_prompt, event.n_decoded))


def _usage(n_prompt: int, n_decoded: int) -> dict[str, int]:
    return {"prompt_tokens": n_prompt, "completion_tokens": n_decoded, "total_tokens": n_prompt + n_decoded}


async def _whole(pieces: AsyncGenerator[Piece, None], head: dict[str, Any]) -> dict[str, Any]:
    text, last = "", Piece()
    beside: dict[str, Any] = {}
    async with aclosing(pieces):
        async for piece in pieces:
            text += piece.text
            beside |= piece.beside
            last = piece
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": last.finish_reason,
    }
    reply = {**head, "object": "chat.completion", "choices": [choice], "usage": last.usage}
    return {**reply, "appliance": beside} if beside else reply


async def _stream(
    first: Piece, pieces: AsyncGenerator[Piece, None], head: dict[str, Any], want_usage: bool
) -> AsyncIterator[str]:
    head = {**head, "object": "chat.completion.chunk"}
    usage = None
    async with aclosing(pieces):
        try:
            yield _chunk(head, first, {"role": "assistant", "content": first.text})
            async for piece in pieces:
                usage = piece.usage
                yield _chunk(head, piece, {"content": piece.text} if piece.text else {})
        except (
            Exception
        ) as error:  # outermost loop of a stream: the status line is sent, only an event can tell
            yield _data({"error": _error(error_event(error), refusal_of(error).status)})
            return
    if want_usage:
        yield _data({**head, "choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def _chunk(head: dict[str, Any], piece: Piece, delta: dict[str, str]) -> str:
    chunk = {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": piece.finish_reason}]}
    return _data({**chunk, "appliance": piece.beside} if piece.beside else chunk)


def _data(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"


def _error(event: ErrorEvent, status: int) -> dict[str, Any]:
    return {"message": event.message, "type": event.code, "code": event.code, "status": status,
            "retryable": event.retryable}  # fmt: skip
