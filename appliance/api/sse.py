"""Server-sent events: a stream of wire messages, and its end by an error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing
from typing import TypeVar

from fastapi import Request
from fastapi.responses import StreamingResponse

from appliance.api.errors import error_event
from appliance.api.schema import Wire

_T = TypeVar("_T")


async def respond(events: AsyncGenerator[Wire, None]) -> StreamingResponse:
    """Answer with a stream of events. What fails before the first event is an ordinary error response."""
    first = await anext(events)
    return StreamingResponse(_lines(first, events), media_type="text/event-stream")


async def _lines(first: Wire, events: AsyncGenerator[Wire, None]) -> AsyncIterator[str]:
    async with aclosing(events):
        yield line(first)
        try:
            async for event in events:
                yield line(event)
        except (
            Exception
        ) as error:  # outermost loop of a stream: the status line is sent, only an event can tell
            yield line(error_event(error))


def line(event: Wire) -> str:
    """Return an event as it goes over the wire; messages without a name are anonymous events."""
    name = getattr(event, "event", None)
    return (f"event: {name}\n" if name else "") + f"data: {event.model_dump_json()}\n\n"


async def unless_gone(request: Request, work: Awaitable[_T]) -> _T:
    """Await `work`, but cancel it when the client disconnects: for answers that are not streamed."""
    task = asyncio.ensure_future(work)
    watcher = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait((task, watcher), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise asyncio.CancelledError("the client went away")
        return task.result()
    finally:
        watcher.cancel()
        task.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue
