"""An engine that answers by a function of the request: it enters where production passes the process of llama.cpp."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from appliance.engine.request import Done, EngineStatus, Event, GenerateRequest, Token


class ScriptedEngine:
    """A token is a word.

    Attributes:
        answer: request → text; where it is longer than `max_tokens` it is cut, as an engine would.
        asked: every request.
        gate: generation waits here.
        n_running: answers under way; the most there ever were is `most_running`.
    """

    model = "scripted"

    def __init__(self, answer: Callable[[GenerateRequest], str], n_ctx: int = 4096) -> None:
        self.answer = answer
        self.n_ctx = n_ctx
        self.asked: list[GenerateRequest] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.n_running = self.most_running = 0
        self.state = "ready"

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[Event, None]:
        self.asked.append(request)
        self.n_running += 1
        self.most_running = max(self.most_running, self.n_running)
        try:
            await self.gate.wait()
            words = self.answer(request).split(" ")
            for at, word in enumerate(words[: request.max_tokens]):
                await asyncio.sleep(0)
                yield Token(word if at == 0 else f" {word}")
            reason = "length" if len(words) > request.max_tokens else "stop"
            yield Done(reason, 10, 5, min(len(words), request.max_tokens), 0.1, 100.0, 10.0)  # type: ignore[arg-type]
        finally:
            self.n_running -= 1

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def status(self) -> EngineStatus:
        return EngineStatus(self.state, model=self.model, n_ctx=self.n_ctx, n_running=self.n_running)  # type: ignore[arg-type]

    async def ready(self, timeout_s: float) -> None:
        return

    def reload(self) -> None:
        return


def text_of(request: GenerateRequest) -> str:
    """Return the document's text in a request."""
    return request.messages[-1].content
