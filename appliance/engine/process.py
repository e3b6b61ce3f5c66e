"""The parent's side of the engine: starts the child, passes requests on, and starts it again when it dies."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from time import monotonic
from typing import Any

from appliance import hardware
from appliance.engine import wire
from appliance.engine.child import Child
from appliance.engine.fit import Device
from appliance.engine.pending import Pending
from appliance.engine.plan import NoRoomOnGpuError, Plan, RefusedError
from appliance.engine.request import Done, EngineStatus, Event, GenerateRequest, Message, Reuse
from appliance.engine.spec import EngineSpec
from appliance.errors import EngineError, EngineLostError, EngineNotReadyError

log = logging.getLogger(__name__)

WORKER = (sys.executable, "-P", "-m", "appliance.engine.serve")
MAX_DEATHS = 3  # in a row without ever having been ready, on the last rung of the ladder
BACKOFF_S = (0.0, 1.0, 2.0, 5.0, 10.0, 30.0)  # before a restart, by deaths in short succession
STEADY_S = 60.0  # a child that lived so long starts the count anew
RETRY_S, MAX_RETRY_S = 600.0, 6 * 3600.0  # until the GPU is tried again; doubled each time in vain
IDLE_POLL_S = 1.0
HELLO_S = 60.0  # drivers may take their time to wake a card


class EngineProcess:
    """An engine in a child process; implements `Engine`.

    Args:
        command: what to run; the number of the socket is appended.
        environment: what the child inherits; `os.environ` where not given.
        backoff_s: pauses before restarts.
        retry_s: pause before a GPU that failed is tried again.
        root: of the /proc and /sys that say what the machine has.
    """

    def __init__(
        self,
        spec: EngineSpec,
        command: Sequence[str] = WORKER,
        environment: Mapping[str, str] | None = None,
        backoff_s: Sequence[float] = BACKOFF_S,
        retry_s: float = RETRY_S,
        root: Path = hardware.ROOT,
    ) -> None:
        self._spec = spec
        self._command = command
        self._environment = os.environ if environment is None else environment
        self._backoff_s = backoff_s
        self._retry_s = retry_s
        self._plan = Plan(spec, root)
        self._refusal = ""
        self._is_climbing = False
        self._wake = asyncio.Event()
        self._status = EngineStatus("starting", model=spec.model_name)
        self._child: Child | None = None
        self._watching: asyncio.Task[None] | None = None
        self._retrying: asyncio.Task[None] | None = None
        self._spawned = asyncio.Event()
        self._settled = asyncio.Event()
        self._pending = Pending()

    @property
    def model(self) -> str:
        """Name of the chat model."""
        return self._spec.model_name

    # --- life ---

    async def start(self) -> None:
        """Start the process; returns once it runs (the model loads on), or has failed."""
        self._begin()
        await self._spawned.wait()

    def _begin(self) -> None:
        self._spawned.clear()
        self._settled.clear()
        self._status = EngineStatus("starting", model=self.model)
        self._plan.ladder.climb()
        self._watching = asyncio.create_task(self._watch())
        if self._retrying is None:
            self._retrying = asyncio.create_task(self._retry())

    def reload(self) -> None:
        """Try again what was given up: the model that could not be loaded, the GPU that failed. Returns at once."""
        if self._status.state == "failed" and self._watching is not None:
            self._begin()
        else:
            self._wake.set()

    async def stop(self) -> None:
        """End the process; what it was answering fails."""
        if self._watching is None:
            return
        if self._child is not None:
            self._child.send({"kind": "stop"})
            if self._status.state != "ready":  # it hears nothing while it loads
                self._child.kill()
        tasks = [task for task in (self._watching, self._retrying) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._watching = self._retrying = None
        self._pending.fail_all(EngineNotReadyError("the engine has been stopped"))

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
        pending = self._pending
        return replace(self._status, n_running=pending.n_running, n_waiting=pending.n_waiting)

    # --- requests ---

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[Event, None]:
        """Answer a request; see `Engine`."""
        child = self._live()
        number, events = self._pending.open()
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
            if self._pending.close(number):
                child.send({"kind": "cancel", "id": number})

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text; see `Engine`."""
        counts: list[int] = await self._ask_child({"kind": "count", "texts": list(texts)})
        return counts

    async def prepare(self, messages: Sequence[Message]) -> int:
        """Compute the blocks of messages ahead of time; see `Engine`."""
        child = self._live()
        number, reply = self._pending.ask()
        child.send({"kind": "prepare", "id": number, "messages": [asdict(each) for each in messages]})
        try:
            n_kept: int = await reply
            return n_kept
        except asyncio.CancelledError:
            child.send({"kind": "cancel", "id": number})
            raise
        finally:
            self._pending.drop(number)

    async def held(self) -> dict[str, int]:
        """Count what the child holds now: sequences, slots, cells. For whoever looks for leaks."""
        counts: dict[str, int] = await self._ask_child({"kind": "held"})
        return counts

    async def _ask_child(self, question: wire.WireMessage) -> Any:
        child = self._live()
        number, reply = self._pending.ask()
        child.send({**question, "id": number})
        try:
            return await reply
        finally:
            self._pending.drop(number)

    def _live(self) -> Child:
        if self._status.state != "ready" or self._child is None:
            words = {"starting": "the model is loading", "restarting": "the engine is being restarted"}
            raise EngineNotReadyError(words.get(self._status.state, self._status.reason))
        return self._child

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
            self._refusal = ""
            try:
                await asyncio.to_thread(self._plan.look)
            except RefusedError as refusal:
                self._give_up(str(refusal))
                return
            was_ready, killed, reason = await self._run_child()
            if self._refusal:
                self._give_up(self._refusal)
                return
            if self._is_climbing:
                self._is_climbing = False
                self._plan.ladder.climb()
                self._pending.fail_all(EngineNotReadyError("the engine is being restarted"))
                continue
            log.error("the engine stopped: %s", reason)
            n_quick = 0 if monotonic() - started > STEADY_S else n_quick
            n_failed = 0 if was_ready else n_failed + 1
            if not killed and (next_try := self._step_down()):
                n_failed = n_quick = 0
                reason = f"{reason} (next try: {next_try})"
            if n_failed >= MAX_DEATHS:
                self._give_up(f"the engine died {n_failed} times while loading: {reason}")
                return
            self._lose(reason)
            await asyncio.sleep(self._backoff_s[min(n_quick, len(self._backoff_s) - 1)])
            n_quick += 1

    def _step_down(self) -> str:
        """Go down the ladder; return where that is, empty at its end."""
        ladder = self._plan.ladder
        if not ladder.step_down():
            return ""
        return f"{ladder.share:.0%} of the GPU layers" if ladder.share else "the CPU alone"

    async def _retry(self) -> None:
        """Go back up the ladder from time to time, while nobody waits for an answer."""
        wait = pause = self._retry_s
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            self._wake.clear()
            if not self._plan.ladder.is_lowered:
                wait = pause = self._retry_s
            elif not self._is_idle:
                wait = IDLE_POLL_S
            else:
                if await self._gpu_has_room() and self._is_idle:
                    self._climb()
                wait = pause = min(2 * pause, MAX_RETRY_S)

    @property
    def _is_idle(self) -> bool:
        return self._status.state == "ready" and self._pending.is_empty

    async def _gpu_has_room(self) -> bool:
        """Ask a second child what it sees, before the one that works is let go."""
        try:
            async with asyncio.timeout(HELLO_S):
                probe = await Child.spawn(
                    self._command, self._plan.environment(self._environment, with_gpu=True)
                )
                try:
                    hello = await probe.receive()
                    probe.send({"kind": "stop"})
                finally:
                    await probe.close()
        except (OSError, TimeoutError) as error:
            log.warning("the GPU cannot be asked: %s", error)
            return False
        return hello is not None and self._plan.has_room([Device(**each) for each in hello["devices"]])

    def _climb(self) -> None:
        assert self._child is not None, "ready without a child"
        log.info("trying the GPU again")
        self._is_climbing = True
        self._status = replace(self._status, state="restarting", reason="trying the GPU again", device="")
        self._settled.clear()
        self._child.send({"kind": "stop"})

    async def _run_child(self) -> tuple[bool, bool, str]:
        """Run one child to its end; return whether it was ready once, was killed from outside, and why."""
        try:
            child = await Child.spawn(
                self._command, self._plan.environment(self._environment), self._plan.cores().cpus
            )
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
                return self._greet(child, [Device(**device) for device in message["devices"]])
            case "ready":
                self._status = replace(
                    self._status, state="ready", reason="", device=message["device"], n_ctx=message["n_ctx"]
                )
                self._settled.set()
            case "failed":
                return str(message["reason"])
            case "event":
                event = wire.event_from_json(_without(message, "kind", "id"))
                if isinstance(event, Done):
                    self._status = replace(
                        self._status, prefill_tps=event.prefill_tps, decode_tps=event.decode_tps
                    )
                self._pending.pass_on(message["id"], event)
            case "blocks":
                about = _without(message, "kind")
                self._status = replace(self._status, **about | {"reuse": Reuse(**message["reuse"])})
            case "counts":
                self._pending.answer(message["id"], message["counts"])
            case "error":
                self._pending.pass_on(message["id"], wire.error_from_json(message))
        return ""

    def _greet(self, child: Child, devices: Sequence[Device]) -> str:
        """Tell a new child what to load; return why not, if it is sent away."""
        try:
            child.send(self._plan.order(devices))
            return ""
        except RefusedError as refusal:
            self._refusal = str(refusal)
        except NoRoomOnGpuError as full:
            self._plan.ladder.to_cpu()
            child.send({"kind": "stop"})
            return f"{full} (next try: the CPU alone)"
        child.send({"kind": "stop"})
        return self._refusal

    def _lose(self, reason: str) -> None:
        n_restarts = self._status.n_restarts + 1
        self._status = replace(
            self._status, state="restarting", reason=reason, note=reason, n_restarts=n_restarts, pid=None,
            device="",
        )  # fmt: skip
        how = reason.partition("; ")[0]
        self._pending.fail_all(
            EngineLostError(f"the engine stopped while answering ({how}); it is being restarted: ask again")
        )

    def _give_up(self, reason: str) -> None:
        log.error("the engine gives up: %s", reason)
        self._status = replace(self._status, state="failed", reason=reason, pid=None, device="")
        self._pending.fail_all(EngineLostError(f"the engine stopped while answering: {reason}"))
        self._spawned.set()
        self._settled.set()


def _without(data: wire.WireMessage, *names: str) -> wire.WireMessage:
    return {name: value for name, value in data.items() if name not in names}
