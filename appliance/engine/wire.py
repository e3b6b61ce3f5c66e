"""What parent and child of the engine say to each other: JSON messages, each behind its length.

Carries requests, events and errors over; knows nothing of what they mean.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from dataclasses import asdict
from threading import Lock
from typing import Any

from appliance.engine.request import (
    Done,
    Event,
    GenerateRequest,
    Logprob,
    Message,
    Prefill,
    Queued,
    Reuse,
    Sampling,
    Token,
)
from appliance.errors import (
    ChatTemplateError,
    DeadlineError,
    EngineBusyError,
    EngineError,
    PromptTooLongError,
    SamplingError,
)

WireMessage = dict[str, Any]

_LENGTH = struct.Struct(">I")
_EVENTS: dict[str, type[Event]] = {"queued": Queued, "prefill": Prefill, "token": Token, "done": Done}
_EVENT_NAMES = {kind: name for name, kind in _EVENTS.items()}


def frame(message: WireMessage) -> bytes:
    """Return a message as it travels: four bytes of length, big-endian, and ASCII JSON."""
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    return _LENGTH.pack(len(body)) + body


class Channel:
    """The child's end of the socket: blocking; any thread may send, one receives."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._incoming = connection.makefile("rb")
        self._sending = Lock()

    def close(self) -> None:
        """Hang up."""
        self._incoming.close()
        self._connection.close()

    def send(self, *messages: WireMessage) -> None:
        """Send messages in order, in one piece."""
        if messages:
            with self._sending:
                self._connection.sendall(b"".join(map(frame, messages)))

    def receive(self) -> WireMessage | None:
        """Return the next message, None when the parent is gone."""
        header = self._incoming.read(_LENGTH.size)
        if len(header) < _LENGTH.size:
            return None
        (n,) = _LENGTH.unpack(header)
        body = self._incoming.read(n)
        return _parse(body) if len(body) == n else None


async def read(stream: asyncio.StreamReader) -> WireMessage | None:
    """Return the next message of the child, None when it is gone."""
    try:
        (n,) = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))
        return _parse(await stream.readexactly(n))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def _parse(body: bytes) -> WireMessage:
    message: WireMessage = json.loads(body)
    return message


def request_to_json(request: GenerateRequest) -> WireMessage:
    """Return a request as plain data."""
    return asdict(request)


def request_from_json(data: WireMessage) -> GenerateRequest:
    """Return the request that `request_to_json` wrote."""
    sampling = data["sampling"]
    tuples = {"stop": tuple(sampling["stop"]), "logit_bias": tuple(map(tuple, sampling["logit_bias"]))}
    return GenerateRequest(
        messages=tuple(Message(**message) for message in data["messages"]),
        max_tokens=data["max_tokens"],
        sampling=Sampling(**sampling | tuples),
        user=data["user"],
        deadline_s=data["deadline_s"],
        reuse=Reuse(**data["reuse"]) if data["reuse"] else None,
    )


def event_to_json(event: Event) -> WireMessage:
    """Return an event as plain data, its class under `event`."""
    if isinstance(event, Token):  # by far the most frequent one: without asdict's deep copy
        logprobs = {"logprobs": [_logprob_to_json(each) for each in event.logprobs]} if event.logprobs else {}
        return {"event": "token", "text": event.text, **logprobs}
    return {"event": _EVENT_NAMES[type(event)], **asdict(event)}


def event_from_json(data: WireMessage) -> Event:
    """Return the event that `event_to_json` wrote."""
    fields = {name: value for name, value in data.items() if name != "event"}
    if "logprobs" in fields:
        fields["logprobs"] = tuple(map(_logprob_from_json, fields["logprobs"]))
    return _EVENTS[data["event"]](**fields)


def _logprob_to_json(logprob: Logprob) -> list[Any]:
    return [logprob.piece.hex(), logprob.logprob, [_logprob_to_json(each) for each in logprob.top]]


def _logprob_from_json(data: list[Any]) -> Logprob:
    piece, logprob, top = data
    return Logprob(bytes.fromhex(piece), logprob, tuple(map(_logprob_from_json, top)))


def error_to_json(error: EngineError) -> WireMessage:
    """Return an error as plain data; the classes with numbers keep them."""
    match error:
        case PromptTooLongError():
            return {"error": "prompt_too_long", "numbers": [error.n_prompt, error.max_tokens, error.n_ctx]}
        case EngineBusyError():
            return {"error": "busy", "numbers": [error.n_waiting, error.retry_after_s]}
        case DeadlineError():
            return {"error": "deadline", "numbers": [error.deadline_s, error.n_decoded]}
        case SamplingError():
            return {"error": "sampling", "message": str(error)}
        case ChatTemplateError():
            return {"error": "template", "message": str(error)}
        case _:
            return {"error": "engine", "message": str(error)}


def error_from_json(data: WireMessage) -> EngineError:
    """Return the error that `error_to_json` wrote."""
    match data["error"]:
        case "prompt_too_long":
            return PromptTooLongError(*data["numbers"])
        case "busy":
            return EngineBusyError(*data["numbers"])
        case "deadline":
            return DeadlineError(*data["numbers"])
        case "sampling":
            return SamplingError(data["message"])
        case "template":
            return ChatTemplateError(data["message"])
        case _:
            return EngineError(data["message"])
