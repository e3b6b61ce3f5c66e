"""What a chat completion looks like in OpenAI's form, whole or in chunks."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from appliance.api.errors import error_event, refusal_of
from appliance.api.schema import ErrorEvent
from appliance.engine.request import Logprob

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a reply: text, or its end, with what goes beside it.

    Attributes:
        index: which of several answers it belongs to.
        logprobs: of its tokens, where asked for.
    """

    text: str = ""
    finish_reason: str | None = None
    usage: dict[str, int] | None = None
    beside: Json = field(default_factory=dict)
    index: int = 0
    logprobs: tuple[Logprob, ...] = ()


def usage(n_prompt: int, n_decoded: int) -> dict[str, int]:
    """Return what a reply cost."""
    return {"prompt_tokens": n_prompt, "completion_tokens": n_decoded, "total_tokens": n_prompt + n_decoded}


async def whole(pieces: AsyncGenerator[Piece, None], head: Json, *, want_logprobs: bool) -> Json:
    """Return a reply that is not streamed."""
    heard: dict[int, list[Piece]] = {}
    beside: Json = {}
    async with aclosing(pieces):
        async for piece in pieces:
            heard.setdefault(piece.index, []).append(piece)
            beside |= piece.beside
    choices = [_choice(index, heard[index], want_logprobs) for index in sorted(heard)]
    used = _total([piece.usage for some in heard.values() for piece in some])
    reply = {**head, "object": "chat.completion", "choices": choices, "usage": used}
    return {**reply, "appliance": beside} if beside else reply


async def chunks(
    first: Piece, pieces: AsyncGenerator[Piece, None], head: Json, *, want_usage: bool
) -> AsyncIterator[str]:
    """Yield a streamed reply as server-sent events; `first` has been taken from `pieces` already."""
    head = {**head, "object": "chat.completion.chunk"}
    used = [first.usage]
    begun = {first.index}
    async with aclosing(pieces):
        try:
            yield _chunk(head, first, {"role": "assistant", "content": first.text})
            async for piece in pieces:
                used.append(piece.usage)
                delta = {"content": piece.text} if piece.text else {}
                role = {} if piece.index in begun else {"role": "assistant"}
                begun.add(piece.index)
                yield _chunk(head, piece, role | delta)
        except (
            Exception
        ) as error:  # outermost loop of a stream: the status line is sent, only an event can tell
            yield _data({"error": _error(error_event(error), refusal_of(error).status)})
            return
    if want_usage:
        yield _data({**head, "choices": [], "usage": _total(used)})
    yield "data: [DONE]\n\n"


def _choice(index: int, pieces: Sequence[Piece], want_logprobs: bool) -> Json:
    text = "".join(piece.text for piece in pieces)
    choice = {
        "index": index,
        "message": {"role": "assistant", "content": text},
        "finish_reason": pieces[-1].finish_reason,
    }
    if want_logprobs:
        choice["logprobs"] = {"content": [_logprob(each) for piece in pieces for each in piece.logprobs]}
    return choice


def _chunk(head: Json, piece: Piece, delta: dict[str, str]) -> str:
    choice = {"index": piece.index, "delta": delta, "finish_reason": piece.finish_reason}
    if piece.logprobs:
        choice["logprobs"] = {"content": [_logprob(each) for each in piece.logprobs]}
    chunk = {**head, "choices": [choice]}
    return _data({**chunk, "appliance": piece.beside} if piece.beside else chunk)


def _logprob(logprob: Logprob) -> Json:
    return {**_token(logprob), "top_logprobs": [_token(each) for each in logprob.top]}


def _token(logprob: Logprob) -> Json:
    text = logprob.piece.decode("utf-8", "replace")
    return {"token": text, "logprob": logprob.logprob, "bytes": list(logprob.piece)}


def _total(used: Sequence[dict[str, int] | None]) -> dict[str, int] | None:
    """Return what all answers cost: their prompt is one and the same."""
    said = [each for each in used if each is not None]
    if not said:
        return None
    return usage(said[0]["prompt_tokens"], sum(each["completion_tokens"] for each in said))


def _data(data: Json) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"


def _error(event: ErrorEvent, status: int) -> Json:
    return {"message": event.message, "type": event.code, "code": event.code, "status": status,
            "retryable": event.retryable}  # fmt: skip
