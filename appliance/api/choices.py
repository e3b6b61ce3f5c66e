"""Several answers to one chat: a request of the engine each, on one prompt that is computed once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from appliance.engine.interface import Engine
from appliance.engine.request import Done, Event, GenerateRequest, Prefill, Token


async def together(
    engine: Engine, requests: Sequence[GenerateRequest]
) -> AsyncGenerator[tuple[int, Event], None]:
    """Yield (which, event) of all requests, as they come; closing it cancels what still runs.

    The first goes ahead. The others start when its prompt is in the KV cache, so that they share its cells.

    Raises:
        EngineError: as `Engine.generate`, of whichever fails first.
    """
    if len(requests) == 1:
        async with aclosing(engine.generate(requests[0])) as events:
            async for event in events:
                yield 0, event
        return
    heard: asyncio.Queue[tuple[int, Event | Exception]] = asyncio.Queue()
    tasks = [asyncio.create_task(_pass_on(engine, 0, requests[0], heard))]
    n_left = len(requests)
    try:
        while n_left:
            which, came = await heard.get()
            if isinstance(came, Exception):
                raise came
            if len(tasks) == 1 and _has_read(came):
                later = enumerate(requests[1:], 1)
                tasks += [asyncio.create_task(_pass_on(engine, at, one, heard)) for at, one in later]
            n_left -= isinstance(came, Done)
            yield which, came
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pass_on(
    engine: Engine, which: int, request: GenerateRequest, heard: asyncio.Queue[tuple[int, Event | Exception]]
) -> None:
    try:
        async with aclosing(engine.generate(request)) as events:
            async for event in events:
                heard.put_nowait((which, event))
    except Exception as error:  # outermost loop of one answer: whoever listens raises it
        heard.put_nowait((which, error))


def _has_read(event: Event) -> bool:
    """Whether an event says that the prompt is in the KV cache."""
    match event:
        case Prefill(n_done=n_done, n_prompt=n_prompt):
            return n_done >= n_prompt
        case _:
            return isinstance(event, Token | Done)
