"""The parent's side of the engine: starts the child, passes requests on, and starts it again when it dies."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from time import monotonic

import appliance
from appliance import hardware
from appliance.engine import wire
from appliance.engine.child import Child
from appliance.engine.ladder import Ladder
from appliance.engine.request import Done, EngineStatus, Event, GenerateRequest, Queued
from appliance.errors import EngineError, EngineLostError, EngineNotReadyError

log = logging.getLogger(__name__)

WORKER = (sys.executable, "-P", "-m", "appliance.engine.serve")
ROOT = Path(appliance.__file__).parent.parent
GGUF_MAGIC = b"GGUF"
MAX_DEATHS = 3  # in a row without ever having been ready, on the last rung of the ladder
BACKOFF_S = (0.0, 1.0, 2.0, 5.0, 10.0, 30.0)  # before a restart, by deaths in short succession
STEADY_S = 60.0  # a child that lived so long starts the count anew


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """The engine's settings; see `appliance.config.EngineSettings`.

    Attributes:
        model_name: as people call it.
        threads: 0: every usable core.
        n_gpu_layers: -1: as many as work.
    """

    model_path: Path
    model_name: str
    n_ctx: int
    max_sequences: int
    max_waiting: int
    n_batch: int
    step_target_ms: float
    threads: int
    spin_count: int
    n_gpu_layers: int


class EngineProcess:
    """An engine in a child process; implements `Engine`.

    Args:
        command: what to run; the number of the socket is appended.
        environment: what the child inherits; `os.environ` where not given.
        backoff_s: pauses before restarts.
    """

    def __init__(
        self,
        spec: EngineSpec,
        command: Sequence[str] = WORKER,
        environment: Mapping[str, str] | None = None,
        backoff_s: Sequence[float] = BACKOFF_S,
    ) -> None:
        self._spec = spec
        self._command = command
        self._environment = os.environ if environment is None else environment
        self._backoff_s = backoff_s
        self._n_threads = spec.threads or hardware.usable_cores()
        self._ladder = Ladder(spec.n_gpu_layers)
        self._status = EngineStatus("starting", model=spec.model_name)
        self._child: Child | None = None
        self._watching: asyncio.Task[None] | None = None
        self._spawned = asyncio.Event()
        self._settled = asyncio.Event()
        self._numbers = count(1)
        self._requests: dict[int, asyncio.Queue[Event | EngineError]] = {}
        self._counts: dict[int, asyncio.Future[list[int]]] = {}
        self._waiting: set[int] = set()

    @property
    def model(self) -> str:
        """Name of the chat model."""
        return self._spec.model_name

    # --- life ---

    async def start(self) -> None:
        """Start the process; returns once it runs (the model loads on), or has failed."""
        self._spawned.clear()
        self._settled.clear()
        self._status = EngineStatus("starting", model=self.model)
        self._ladder = Ladder(self._spec.n_gpu_layers)
        self._watching = asyncio.create_task(self._watch())
        await self._spawned.wait()

    async def stop(self) -> None:
        """End the process; what it was answering fails."""
        if self._watching is None:
            return
        if self._child is not None:
            self._child.send({"kind": "stop"})
            if self._status.state != "ready":  # it hears nothing while it loads
                self._child.kill()
        self._watching.cancel()
        await asyncio.gather(self._watching, return_exceptions=True)
        self._watching = None
        self._fail_all(EngineNotReadyError("the engine has been stopped"))

    async def ready(self, timeout_s: float) -> None:
        """Wait until the model can answer.

        Raises:
            EngineNotReadyError: it cannot be loaded, or is not ready in time.
        """
        try:
            async with asyncio.timeout(timeout_s):
                await self._settled.wait()
        except TimeoutError:
            raise EngineNotReadyError(f"the model is not ready after {timeout_s:.0f} s") from None
        self._live()

    def status(self) -> EngineStatus:
        """Say where the engine stands."""
        n_waiting = len(self._waiting)
        return replace(self._status, n_running=len(self._requests) - n_waiting, n_waiting=n_waiting)

    # --- requests ---

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[Event, None]:
        """Answer a request; see `Engine`."""
        child = self._live()
        number = next(self._numbers)
        events = self._requests[number] = asyncio.Queue()
        child.send({"kind": "generate", "id": number, "request": wire.request_to_json(request)})
        try:
            while True:
                event = await events.get()
                if isinstance(event, EngineError):
                    raise event
                yield event
                if isinstance(event, Done):
                    return
        finally:
            if self._forget(number):
                child.send({"kind": "cancel", "id": number})

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text; see `Engine`."""
        child = self._live()
        number = next(self._numbers)
        counts = self._counts[number] = asyncio.get_running_loop().create_future()
        child.send({"kind": "count", "id": number, "texts": list(texts)})
        try:
            result: list[int] = await counts
            return result
        finally:
            self._counts.pop(number, None)

    def _live(self) -> Child:
        if self._status.state != "ready" or self._child is None:
            words = {"starting": "the model is loading", "restarting": "the engine is being restarted"}
            raise EngineNotReadyError(words.get(self._status.state, self._status.reason))
        return self._child

    def _forget(self, number: int) -> bool:
        self._waiting.discard(number)
        return self._requests.pop(number, None) is not None

    # --- the child ---

    async def _watch(self) -> None:
        try:
            await self._keep_running()
        except Exception as error:
            log.exception("the engine is no longer watched")
            self._give_up(f"the engine's parent failed: {error}")

    async def _keep_running(self) -> None:
        """Start child after child until one has failed for good."""
        n_failed = n_quick = 0
        while True:
            started = monotonic()
            if reason := preflight(self._spec.model_path):
                self._give_up(reason)
                return
            was_ready, killed, reason = await self._run_child()
            log.error("the engine stopped: %s", reason)
            n_quick = 0 if monotonic() - started > STEADY_S else n_quick
            n_failed = 0 if was_ready else n_failed + 1
            if not killed and self._ladder.step_down():
                n_failed = n_quick = 0
                reason = f"{reason} (next try: {self._ladder.n_gpu_layers} GPU layers)"
            if n_failed >= MAX_DEATHS:
                self._give_up(f"the engine died {n_failed} times while loading: {reason}")
                return
            self._lose(reason)
            await asyncio.sleep(self._backoff_s[min(n_quick, len(self._backoff_s) - 1)])
            n_quick += 1

    async def _run_child(self) -> tuple[bool, bool, str]:
        """Run one child to its end; return whether it was ready once, was killed from outside, and why."""
        try:
            child = await Child.spawn(self._command, self._child_environment())
        except OSError as error:
            return False, False, f"the engine cannot be started: {error}"
        self._child = child
        self._status = replace(self._status, pid=child.pid)
        self._spawned.set()
        failure, end = "", ""
        try:
            while (message := await child.receive()) is not None:
                failure = self._hear(child, message) or failure
        finally:
            was_ready = self._status.state == "ready"
            self._child = None
            self._status = replace(self._status, state="restarting", pid=None)
            self._settled.clear()
            end = await child.close()
        return was_ready, child.was_killed, failure or end

    def _hear(self, child: Child, message: wire.WireMessage) -> str:
        """Take a message of the child; return why it failed to load, if that is what it says."""
        match message["kind"]:
            case "hello":
                if not message["gpu"]:
                    self._ladder.without_gpu()
                child.send(self._load_order())
            case "ready":
                self._status = replace(
                    self._status, state="ready", device=message["device"], n_ctx=message["n_ctx"]
                )
                self._settled.set()
            case "failed":
                return str(message["reason"])
            case "event":
                self._pass_on(message["id"], wire.event_from_json(_without(message, "kind", "id")))
            case "counts" if (counts := self._counts.get(message["id"])) and not counts.done():
                counts.set_result(message["counts"])
            case "error":
                self._pass_on(message["id"], wire.error_from_json(message))
        return ""

    def _pass_on(self, number: int, event: Event | EngineError) -> None:
        if (counts := self._counts.get(number)) and isinstance(event, EngineError) and not counts.done():
            counts.set_exception(event)
        if (events := self._requests.get(number)) is None:
            return
        events.put_nowait(event)
        if isinstance(event, Queued):
            self._waiting.add(number)
            return
        self._waiting.discard(number)
        if isinstance(event, Done):
            self._status = replace(self._status, prefill_tps=event.prefill_tps, decode_tps=event.decode_tps)
        if isinstance(event, Done | EngineError):
            self._forget(number)

    def _load_order(self) -> wire.WireMessage:
        spec = self._spec
        model = {
            "path": str(spec.model_path),
            "n_ctx": spec.n_ctx,
            "max_sequences": spec.max_sequences,
            "n_batch": spec.n_batch,
            "n_threads": self._n_threads,
            "n_gpu_layers": self._ladder.n_gpu_layers,
        }
        limits = {
            "max_sequences": spec.max_sequences,
            "max_waiting": spec.max_waiting,
            "n_batch": spec.n_batch,
            "step_target_ms": spec.step_target_ms,
        }
        return {"kind": "load", "model": model, "limits": limits}

    def _child_environment(self) -> dict[str, str]:
        """Return the child's environment: ours, with libgomp's spinning bounded before it is loaded."""
        inherited = _without(dict(self._environment), "OMP_WAIT_POLICY")  # active would void the spin count
        path = os.pathsep.join([str(ROOT), *filter(None, [inherited.get("PYTHONPATH")])])
        ours = {
            "GOMP_SPINCOUNT": str(self._spec.spin_count),
            "PYTHONPATH": path,
            "GGML_NO_BACKTRACE": "1",  # a failed assert would start gdb, which drowns the reason it printed
        }
        return inherited | ours | self._ladder.environment

    def _lose(self, reason: str) -> None:
        n_restarts = self._status.n_restarts + 1
        self._status = replace(
            self._status, state="restarting", reason=reason, n_restarts=n_restarts, pid=None, device=""
        )
        how = reason.partition("; ")[0]
        self._fail_all(
            EngineLostError(f"the engine stopped while answering ({how}); it is being restarted: ask again")
        )

    def _give_up(self, reason: str) -> None:
        log.error("the engine gives up: %s", reason)
        self._status = replace(self._status, state="failed", reason=reason, pid=None, device="")
        self._fail_all(EngineLostError(f"the engine stopped while answering: {reason}"))
        self._spawned.set()
        self._settled.set()

    def _fail_all(self, error: EngineError) -> None:
        for number in [*self._requests, *self._counts]:
            self._pass_on(number, error)


def preflight(model: Path) -> str:
    """Return why a file can be no model; empty when it may be one."""
    try:
        with model.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        return f"the model {model} cannot be read: {error.strerror}"
    return (
        ""
        if magic == GGUF_MAGIC
        else f"{model} is not a GGUF file: choose another with `appliance model use`"
    )


def _without(data: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in data.items() if name not in names}
