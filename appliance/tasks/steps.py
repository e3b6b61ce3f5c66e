"""One step of a task: one text that the model writes, or that it wrote before. One step at a time, whoever asks.

Tasks share one lane, in turn, so that a long one takes no more than one of the engine's places from those who ask
questions. Says nothing of what a step is for.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256

from appliance.answer.prompt import TURN_OVERHEAD
from appliance.api.schema import QueuedEvent, TokenEvent
from appliance.api.schema_tasks import TaskTimings
from appliance.engine.interface import Engine
from appliance.engine.pieces import unmarked
from appliance.engine.request import Done, GenerateRequest, Message, Queued, Sampling, Token
from appliance.errors import DeadlineError, EngineBusyError, EngineNotReadyError, UnsupportedRequestError
from appliance.tasks.cache import StepCache
from ingest.access import Viewer

PROMPT_VERSION = (
    1  # raise it where a change of code should not find what was kept before; prompts are in the key
)
_SHARE = 0.5  # of the context for one step: the rest is for those who ask questions meanwhile
_MAX_STEP = (
    1536  # prompt tokens: small models lose the thread of longer texts, and a stop costs at most one step
)
_MAX_TRIES = 20  # while the queue is full


@dataclass(frozen=True, slots=True)
class Step:
    """What the model is told, and what may come of it.

    Attributes:
        version: SHA-256 of the document; empty: the result is not kept.
        shown: whether its tokens are told as they come.
        astray: tells from what is written so far that nothing good will follow; the step then counts as broken off.
    """

    system: str
    text: str
    max_tokens: int
    sampling: Sampling
    version: str = ""
    shown: bool = False
    astray: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a step; `complete` is False where it broke off at `max_tokens`."""

    text: str
    complete: bool
    cached: bool = False


StepEvent = QueuedEvent | TokenEvent | Written


@dataclass(slots=True)
class Run:
    """One task of one caller, from its first step to its last.

    Attributes:
        fresh: whether every step is done again.
        n_steps: of the model, those found in the cache not counted.
    """

    viewer: Viewer
    deadline_s: float | None = None
    fresh: bool = False
    started: float = field(default_factory=time.monotonic)
    n_steps: int = 0
    n_cached: int = 0
    n_prompt: int = 0
    n_reused: int = 0
    n_decoded: int = 0

    @property
    def left_s(self) -> float | None:
        """Seconds until the deadline, at least a hundredth; None without one."""
        if self.deadline_s is None:
            return None
        return max(0.01, self.deadline_s - (time.monotonic() - self.started))

    def check_deadline(self) -> None:
        """Raise DeadlineError where no time is left."""
        if self.deadline_s is not None and time.monotonic() - self.started >= self.deadline_s:
            raise DeadlineError(self.deadline_s, self.n_decoded)

    def timings(self) -> TaskTimings:
        """Return what it took until now."""
        return TaskTimings(
            total_s=time.monotonic() - self.started, n_steps=self.n_steps, n_cached=self.n_cached,
            n_prompt=self.n_prompt, n_reused=self.n_reused, n_decoded=self.n_decoded,
        )  # fmt: skip


class Steps:
    """Runs steps on the engine."""

    def __init__(self, engine: Engine, cache: StepCache, *, trusted: bool = True) -> None:
        self._engine = engine
        self._trusted = trusted
        self._cache = cache
        self._lane = asyncio.Lock()
        self._n_waiting = 0
        self._n_tasks = 0

    @property
    def busy(self) -> bool:
        """Whether a task is under way; ingest pauses meanwhile."""
        return self._n_tasks > 0

    @property
    def model(self) -> str:
        """The chat model's name."""
        return self._engine.status().model

    @property
    def notes(self) -> list[str]:
        """What people should know of everything that this model writes."""
        return (
            []
            if self._trusted
            else [f"{self.model} is too small for such work: trust nothing that you do not look up"]
        )

    @contextmanager
    def task(self) -> Iterator[None]:
        """Count a task as under way.

        Raises:
            EngineNotReadyError: no model can be asked.
        """
        status = self._engine.status()
        if status.state != "ready":
            raise EngineNotReadyError(
                f"the model cannot be asked now ({status.state}): {status.reason or 'wait for it'}"
            )
        self._n_tasks += 1
        try:
            yield
        finally:
            self._n_tasks -= 1

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Count tokens, by the model's tokenizer."""
        return await self._engine.count_tokens(list(texts))

    async def room(self, system: str, max_tokens: int) -> int:
        """Return how many tokens of text fit a step beside its system text and its answer."""
        n_ctx = self._engine.status().n_ctx
        [n_system] = await self.count([system])
        room = min(int(n_ctx * _SHARE), _MAX_STEP) - n_system - max_tokens - 2 * TURN_OVERHEAD
        return max(room, n_ctx // 8)

    def shortened(self, max_tokens: int) -> int:
        """Return the longest answer that leaves most of a small context to the text."""
        return min(max_tokens, max(32, self._engine.status().n_ctx // 8))

    async def run(self, step: Step, run: Run) -> AsyncGenerator[StepEvent, None]:
        """Yield what the model writes, if it is to be shown, and the whole of it last.

        Raises:
            DeadlineError: the task's time is over.
            EngineError: the model cannot answer; what was done before is kept.
        """
        key = self._key(step)
        if (
            step.version
            and not run.fresh
            and (kept := await asyncio.to_thread(self._cache.get, key)) is not None
        ):
            run.n_cached += 1
            found = Written(**json.loads(kept), cached=True)
            if step.shown:
                yield TokenEvent(text=found.text)
            yield found
            return
        written: Written | None = None
        async with aclosing(self._in_turn(step, run)) as events:
            async for event in events:
                written = event if isinstance(event, Written) else written
                if isinstance(event, Written) and step.version:
                    kept = json.dumps({"text": event.text, "complete": event.complete}, ensure_ascii=False)
                    await asyncio.to_thread(self._cache.put, key, step.version, kept)
                yield event
        assert written is not None, "a step ends with what was written, or raises"

    async def _in_turn(self, step: Step, run: Run) -> AsyncGenerator[StepEvent, None]:
        """Write in a task of its own: a client that does not read its stream must not hold the lane."""
        events: asyncio.Queue[StepEvent | None] = asyncio.Queue()  # at most `max_tokens` of them
        writing = asyncio.create_task(self._wait_and_write(step, run, events))
        try:
            while (event := await events.get()) is not None:
                yield event
            await writing
        finally:
            writing.cancel()
            await asyncio.wait([writing])
            if not writing.cancelled():
                writing.exception()  # told above, or of no interest to a client that has gone

    async def _wait_and_write(self, step: Step, run: Run, events: asyncio.Queue[StepEvent | None]) -> None:
        """Wait for the lane, then for the engine; a full queue is tried again: a long task must outlive a busy hour."""
        try:
            if self._lane.locked():
                events.put_nowait(QueuedEvent(position=self._n_waiting + 1))
            async with self._turn(run):
                for n_tries in range(1, _MAX_TRIES + 1):
                    try:
                        return await self._write(step, run, events)
                    except UnsupportedRequestError:  # a server elsewhere that knows no DRY: it is a nicety
                        if step.sampling.dry_multiplier == 0:
                            raise
                        step = replace(step, sampling=_without_dry(step.sampling))
                        continue
                    except EngineBusyError as busy:
                        if n_tries == _MAX_TRIES or not run.n_steps:
                            raise
                        wait_s = min(busy.retry_after_s, run.left_s or busy.retry_after_s)
                    events.put_nowait(QueuedEvent(position=1, wait_s=wait_s))
                    await asyncio.sleep(wait_s)
                    run.check_deadline()
        finally:
            events.put_nowait(None)

    @asynccontextmanager
    async def _turn(self, run: Run) -> AsyncIterator[None]:
        """Hold the lane; wait for it until the task's deadline."""
        self._n_waiting += 1
        try:
            async with asyncio.timeout(run.left_s):
                await self._lane.acquire()
        except TimeoutError:
            raise DeadlineError(run.deadline_s or 0.0, run.n_decoded) from None
        finally:
            self._n_waiting -= 1
        try:
            yield
        finally:
            self._lane.release()

    async def _write(self, step: Step, run: Run, told: asyncio.Queue[StepEvent | None]) -> None:
        # No part of a task is a block, whatever the caller's descriptions and the documents' names hold.
        messages = (Message("system", unmarked(step.system)), Message("user", unmarked(step.text)))
        request = GenerateRequest(
            messages, step.max_tokens, step.sampling, user=str(run.viewer.uid), deadline_s=run.left_s
        )
        pieces: list[str] = []
        async with aclosing(self._engine.generate(request)) as events:
            async for event in events:
                match event:
                    case Queued(position=position, wait_s=wait_s):
                        told.put_nowait(QueuedEvent(position=position, wait_s=wait_s))
                    case Token(text=text):
                        pieces.append(text)
                        if step.shown:
                            told.put_nowait(TokenEvent(text=text))
                        if step.astray is not None and step.astray("".join(pieces)):
                            run.n_steps += 1
                            run.n_decoded += len(pieces)
                            told.put_nowait(Written("".join(pieces), complete=False))
                            return
                    case Done():
                        run.n_steps += 1
                        run.n_prompt += event.n_prompt
                        run.n_reused += event.n_reused
                        run.n_decoded += event.n_decoded
                        told.put_nowait(Written("".join(pieces), event.finish_reason == "stop"))

    def _key(self, step: Step) -> bytes:
        said = [
            PROMPT_VERSION,
            self.model,
            step.version,
            step.system,
            step.text,
            step.max_tokens,
            asdict(step.sampling),
        ]
        return sha256(json.dumps(said, sort_keys=True).encode()).digest()


def _without_dry(sampling: Sampling) -> Sampling:
    return replace(sampling, dry_multiplier=0.0, dry_allowed_length=Sampling().dry_allowed_length)
