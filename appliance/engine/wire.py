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
    Message,
    Prefill,
    Queued,
    Sampling,
    Token,
)
from appliance.errors import DeadlineError, EngineBusyError, EngineError, PromptTooLongError

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
    return GenerateRequest(
        messages=tuple(Message(**message) for message in data["messages"]),
        max_tokens=data["max_tokens"],
        sampling=Sampling(**sampling | {"stop": tuple(sampling["stop"])}),
        user=data["user"],
        deadline_s=data["deadline_s"],
    )


def event_to_json(event: Event) -> WireMessage:
    """Return an event as plain data, its class under `event`."""
    return {"event": _EVENT_NAMES[type(event)], **asdict(event)}


def event_from_json(data: WireMessage) -> Event:
    """Return the event that `event_to_json` wrote."""
    fields = {name: value for name, value in data.items() if name != "event"}
    return _EVENTS[data["event"]](**fields)


def error_to_json(error: EngineError) -> WireMessage:
    """Return an error as plain data; the classes with numbers keep them."""
    match error:
        case PromptTooLongError():
            return {"error": "prompt_too_long", "numbers": [error.n_prompt, error.max_tokens, error.n_ctx]}
        case EngineBusyError():
            return {"error": "busy", "numbers": [error.n_waiting, error.retry_after_s]}
        case DeadlineError():
            return {"error": "deadline", "numbers": [error.deadline_s, error.n_decoded]}
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
        case _:
            return EngineError(data["message"])
