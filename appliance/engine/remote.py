"""The engine on another machine, or in another process: any OpenAI-compatible server.

Its queue and its cache are the server's business. Here: who may ask it at once, whether it is there, and
errors as every engine tells them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace

from appliance.engine.address import Address
from appliance.engine.dialect import Json, RemoteModel, chat_body, estimate
from appliance.engine.pieces import without_marks
from appliance.engine.places import Places, Turn
from appliance.engine.remote_answer import RemoteAnswer
from appliance.engine.remote_server import RemoteServer
from appliance.engine.request import EngineStatus, Event, GenerateRequest, Message, Queued
from appliance.errors import (
    DeadlineError,
    EngineBusyError,
    EngineError,
    EngineLostError,
    EngineNotReadyError,
    PromptTooLongError,
)

log = logging.getLogger(__name__)

POLL_S = 10.0
BACKOFF_S = (0.5, 1.0, 2.0, 5.0)
FRESH_S = 1.0  # so old a look at a server that is away still counts


@dataclass(frozen=True, slots=True)
class RemoteSpec:
    """Whom to ask.

    Attributes:
        model: its name there; empty: the server's first.
        n_ctx: tokens of context where the server does not tell.
        max_sequences: requests that the server gets from here at once; max_waiting more wait here.
    """

    address: Address
    n_ctx: int
    max_sequences: int
    max_waiting: int
    model: str = ""
    key: str = field(default="", repr=False)


class RemoteEngine:
    """An `Engine` behind HTTP.

    Args:
        poll_s: pause between two looks at a server that is there.
        backoff_s: pauses while it is not.
    """

    def __init__(
        self, spec: RemoteSpec, poll_s: float = POLL_S, backoff_s: Sequence[float] = BACKOFF_S
    ) -> None:
        self._spec = spec
        self._poll_s = poll_s
        self._backoff_s = backoff_s
        self._server = RemoteServer(spec.address, spec.key)
        self._places = Places(spec.max_sequences, spec.max_waiting)
        self._status = EngineStatus(
            "starting", model=spec.model, reason=f"{spec.address.name} was not asked yet"
        )
        self._model: RemoteModel | None = None
        self._counts_there = True
        self._is_stale = False
        self._looked = 0.0
        self._looking = asyncio.Lock()
        self._wake = asyncio.Event()
        self._settled = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    @property
    def model(self) -> str:
        """Name of the chat model there."""
        return self._status.model

    # --- life ---

    async def start(self) -> None:
        """Begin to watch the server; returns at once."""
        self._watching = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Hang up; what was being answered fails."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
            self._watching = None
        await self._server.close()
        self._status = replace(self._status, state="failed", reason="the engine has been stopped")

    async def ready(self, timeout_s: float) -> None:
        """Wait until the model can answer; see `Engine`."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._settled.wait()
        except TimeoutError:
            raise EngineNotReadyError(f"not ready after {timeout_s:.0f} s: {self._status.reason}") from None
        await self._live()

    def reload(self) -> None:
        """Look at the server again, now."""
        self._is_stale = True
        self._wake.set()

    def status(self) -> EngineStatus:
        """Say where the engine stands."""
        return replace(self._status, n_running=self._places.n_running, n_waiting=self._places.n_waiting)

    # --- requests ---

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[Event, None]:
        """Answer a request; see `Engine`.

        Raises:
            UnsupportedRequestError: it asks for what this kind of server cannot be told.
        """
        clock = asyncio.get_running_loop().time
        request = replace(request, messages=_unmarked(request.messages))
        answer = RemoteAnswer(request, clock)
        body = chat_body(request, await self._live())
        turn = self._places.take(request.user)
        try:
            async with aclosing(self._answer(turn, body, answer)) as events:
                while event := await _in_time(events, request.deadline_s, answer):
                    yield event
        finally:
            turn.leave()

    async def _answer(self, turn: Turn, body: Json, answer: RemoteAnswer) -> AsyncGenerator[Event, None]:
        async with aclosing(turn.positions()) as positions:
            async for position in positions:
                yield Queued(position, self._places.wait_s(position))
        answer.start()
        try:
            async with aclosing(self._server.chat(body)) as chunks:
                async for chunk in chunks:
                    if token := answer.take(chunk):
                        yield token
        except EngineError as error:
            self._doubt(error)
            if answer.finish_reason is None:
                raise
        if answer.finish_reason is None:
            raise self._broke_off(answer)
        done = answer.done()
        self._places.record_answer(answer.seconds)
        self._status = replace(self._status, prefill_tps=done.prefill_tps, decode_tps=done.decode_tps)
        yield done

    def _broke_off(self, answer: RemoteAnswer) -> EngineError:
        name, n_ctx = self._server.name, self._status.n_ctx
        if not answer.n_pieces and answer.n_estimated > n_ctx:  # llama_cpp.server refuses so, without a word
            return EngineError(
                f"{name} ended the answer before its first word; prompt and answer may be too long for its context "
                f"of {n_ctx} tokens"
            )
        return EngineLostError(f"{name} ended the answer early; ask again")

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count each text's tokens where the server can; else guess, rather too many: `status` says which."""
        model = await self._live()
        texts = [without_marks(text) for text in texts]
        if self._counts_there and model.dialect.counting is not None and texts:
            try:
                counts = await self._server.count(model.dialect.counting, texts, model.name)
            except EngineError as error:
                self._doubt(error)
                raise
            if counts is not None:
                return counts
            self._counts_there = False
            self._note_ready(model)
        return [estimate(text) for text in texts]

    async def prepare(self, messages: Sequence[Message]) -> int:
        """Compute nothing: what is kept there is the server's business."""
        return 0

    # --- the server's state ---

    async def _live(self) -> RemoteModel:
        """Return the model, after one more look when the server was away: it may be back."""
        if self._status.state != "ready":
            await self._look(unless_fresh=True)
        if self._status.state != "ready" or self._model is None:
            raise EngineNotReadyError(self._status.reason)
        return self._model

    def _doubt(self, error: EngineError) -> None:
        """Look at the server again after an error that it, rather than the request, may be to blame for."""
        if isinstance(error, EngineBusyError | PromptTooLongError):
            return
        self._is_stale = True
        # While it still answers others it is there.
        if isinstance(error, EngineLostError | EngineNotReadyError) and self._places.n_running <= 1:
            self._note_away(error)
            self._looked = 0.0
        self._wake.set()

    async def _watch(self) -> None:
        n_away = 0
        while True:
            try:
                # An answer that is coming in says enough, and some servers break it off for whoever else asks.
                if self._status.state != "ready" or not self._places.n_running:
                    await self._look()
            except Exception as error:
                log.exception("the look at %s failed", self._server.name)
                self._note_away(EngineError(f"{self._server.name}: {error}"))
            is_ready = self._status.state == "ready"
            n_away = 0 if is_ready else n_away + 1
            pause = self._poll_s if is_ready else self._backoff_s[min(n_away, len(self._backoff_s)) - 1]
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            self._wake.clear()

    async def _look(self, *, unless_fresh: bool = False) -> None:
        """Ask the server how it is, and note it."""
        clock = asyncio.get_running_loop().time
        async with self._looking:
            if unless_fresh and (self._status.state == "ready" or clock() - self._looked < FRESH_S):
                return
            try:
                self._note_ready(await self._find())
            except TimeoutError:
                # One that was there may be busy: those who wait for its answer go on waiting.
                if self._status.state != "ready":
                    self._note_away(EngineNotReadyError(f"{self._server.name} does not answer"))
            except EngineError as error:
                self._note_away(error)
            self._looked = clock()

    async def _find(self) -> RemoteModel:
        model = self._model
        if model is None or self._is_stale or self._status.state != "ready" or not model.dialect.health:
            model = await self._server.look(self._spec.model)
            self._counts_there = True
            self._is_stale = False
        else:
            await self._server.check_health(model.dialect.health)
        return model

    def _note_ready(self, model: RemoteModel) -> None:
        counts = self._counts_there and model.dialect.counting is not None
        status = replace(
            self._status,
            state="ready",
            model=model.name,
            n_ctx=model.n_ctx or self._spec.n_ctx,
            device=f"{model.dialect.name} at {self._server.name}, tokens {'counted' if counts else 'estimated'} "
            f"{'there' if counts else 'here'}",
            reason="",
        )
        if (status.state, status.model, status.device) != (
            self._status.state,
            self.model,
            self._status.device,
        ):
            log.info("%s on %s, context %d", status.model, status.device, status.n_ctx)
        self._model, self._status = model, status
        self._settled.set()

    def _note_away(self, error: EngineError) -> None:
        was_ready = self._status.state == "ready"
        if str(error) != self._status.reason:
            log.warning("the remote engine is away: %s", error)
        # Waiting does not mend the others: a wrong key, a model that is not there.
        waits = isinstance(error, EngineLostError | EngineNotReadyError)
        self._status = replace(
            self._status,
            state="failed" if not waits else "restarting" if self._model else "starting",
            reason=str(error),
            note=str(error) if was_ready else self._status.note,
            n_restarts=self._status.n_restarts + was_ready,
        )
        if waits:
            self._settled.clear()
        else:
            self._settled.set()


def _unmarked(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return messages as one text each: no server knows our blocks."""
    return tuple(replace(message, content=without_marks(message.content)) for message in messages)


async def _in_time(
    events: AsyncGenerator[Event, None], deadline_s: float | None, answer: RemoteAnswer
) -> Event | None:
    """Return the next event, None at the end.

    Raises:
        DeadlineError: the answer's time is over.
    """
    limit = None if deadline_s is None else answer.arrived + deadline_s
    try:
        async with asyncio.timeout_at(limit):
            return await anext(events, None)
    except TimeoutError:
        assert deadline_s is not None, "nothing else in an answer has a limit"
        raise DeadlineError(deadline_s, answer.n_pieces) from None
