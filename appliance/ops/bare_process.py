"""The bare loop as its parent sees it: a child that takes orders."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from appliance.engine.fit import Device
from appliance.engine.plan import NoRoomOnGpuError, Plan, RefusedError
from appliance.engine.spec import EngineSpec
from appliance.ops.errors import BenchError

_MAX_LINE = 1 << 20


@dataclass(frozen=True, slots=True)
class Loop:
    """One run of the bare loop."""

    prefill_tps: float
    decode_tps: float


class BareProcess:
    """A running bare loop; made by `bare_process`."""

    def __init__(self, process: Process, log: IO[bytes]) -> None:
        self._process = process
        self._log = log

    async def cut(self, text: str, n_tokens: int) -> str:
        """Return the longest beginning of a text, in whole words, that has at most `n_tokens` tokens."""
        return str((await self._order(do="cut", text=text, n_tokens=n_tokens))["text"])

    async def loop(self, n_prompt: int, n_decode: int) -> Loop:
        """Compute a prompt of `n_prompt` tokens, then `n_decode` tokens one by one."""
        took = await self._order(do="loop", n_prompt=n_prompt, n_decode=n_decode)
        return Loop(n_prompt / took["prefill_s"], n_decode / took["decode_s"])

    async def load(self, plan: Plan) -> None:
        """Load the model, placed as the engine's would be."""
        devices = [Device(**device) for device in (await self._reply())["devices"]]
        try:
            model = plan.order(devices)["model"]
        except (RefusedError, NoRoomOnGpuError) as refusal:
            raise BenchError(str(refusal)) from refusal
        await self._order(**model)

    async def _order(self, **order: Any) -> dict[str, Any]:
        assert self._process.stdin is not None, "spawned with pipes"
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        return await self._reply()

    async def _reply(self) -> dict[str, Any]:
        assert self._process.stdout is not None, "spawned with pipes"
        line = await self._process.stdout.readline()
        if not line:
            self._log.seek(0)
            said = self._log.read().decode("utf-8", "replace").strip().splitlines()[-3:]
            raise BenchError(f"the bare loop ended: {' '.join(said)}")
        reply: dict[str, Any] = json.loads(line)
        return reply


@asynccontextmanager
async def bare_process(spec: EngineSpec, log: Path) -> AsyncIterator[BareProcess]:
    """Run a bare loop while the block runs, on the engine's cores and in its environment; it logs to `log`.

    Raises:
        BenchError: it cannot load the model.
    """
    plan = Plan(spec)
    try:
        await asyncio.to_thread(plan.look)
    except RefusedError as refusal:
        raise BenchError(str(refusal)) from refusal
    with log.open("w+b") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "appliance.ops.bare_loop",
            stdin=PIPE, stdout=PIPE, stderr=errors, env=plan.environment(os.environ), limit=_MAX_LINE,
        )  # fmt: skip
        try:
            if cpus := plan.cores().cpus:
                os.sched_setaffinity(process.pid, cpus)
            bare = BareProcess(process, errors)
            await bare.load(plan)
            yield bare
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
