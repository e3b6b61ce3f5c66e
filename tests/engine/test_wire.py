from __future__ import annotations

import asyncio
import socket

import pytest

from appliance.engine import wire
from appliance.engine.request import (
    Done,
    Event,
    GenerateRequest,
    Logprob,
    Message,
    Prefill,
    Queued,
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

HALVES = (Logprob(b"\xc3", -0.5, (Logprob(b"\xc3", -0.5), Logprob(b" e", -1.5))), Logprob(b"\xa9", 0.0))


def test_request_survives_the_wire() -> None:
    request = GenerateRequest(
        (Message("system", "short"), Message("user", "Wie groß?\ud800")),
        max_tokens=7,
        sampling=Sampling(
            temperature=0.5, seed=3, stop=("\n", "User:"), logit_bias=((7, -100.0),), logprobs=2
        ),
        user="1000",
        deadline_s=2.5,
    )
    left, right = socket.socketpair()
    with left, right:
        wire.Channel(left).send({"kind": "generate", "request": wire.request_to_json(request)})
        message = wire.Channel(right).receive()
    assert message is not None
    assert wire.request_from_json(message["request"]) == request


@pytest.mark.parametrize(
    "event",
    [
        Queued(3),
        Prefill(10, 20),
        Token("naïve 😀"),
        Token("é", HALVES),
        Done("stop", 20, 10, 5, 0.5, 250.0, 40.0),
    ],
)
def test_event_survives_the_wire(event: Event) -> None:
    assert wire.event_from_json(wire.event_to_json(event)) == event


@pytest.mark.parametrize(
    "error",
    [
        PromptTooLongError(5210, 400, 4096),
        EngineBusyError(32, 12.5),
        DeadlineError(2.5, 7),
        EngineError("lost"),
        SamplingError("no root"),
        ChatTemplateError("roles must alternate"),
    ],
)
def test_error_survives_the_wire_with_its_numbers(error: EngineError) -> None:
    copy = wire.error_from_json(wire.error_to_json(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


async def test_parent_reads_none_when_the_child_dies_in_the_middle_of_a_message() -> None:
    left, right = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=left)
    with right:
        right.sendall(wire.frame({"kind": "ready"}) + wire.frame({"kind": "event"})[:6])
    assert await wire.read(reader) == {"kind": "ready"}
    assert await wire.read(reader) is None
    writer.close()
    await writer.wait_closed()
