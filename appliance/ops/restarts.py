"""How the figures of an engine that starts again are measured: daemons of their own, stopped and killed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping
from time import perf_counter

from appliance.ops import texts
from appliance.ops.errors import BenchError, NotAvailableError
from appliance.ops.figures import Measured, ratios
from appliance.ops.private_daemon import START_S, PrivateDaemon
from appliance.ops.rig import Rig
from appliance.ops.stream import Stream
from appliance.ops.trials import N_TTFT

RETRY_S = 0.02


async def warm_start(rig: Rig, n_runs: int) -> Mapping[str, Measured]:
    """Compare the first question after a restart with and without the saved prefixes.

    Raises:
        NotAvailableError: a stopped daemon leaves no prefixes.
    """
    daemon = rig.home()
    kept = rig.folder / "kept-prefixes"
    warm_s: list[float] = []
    cold_s: list[float] = []
    try:
        rig.say("warm_start: a first life, in which prefixes become hot")
        await daemon.start()
        for question in ("What does a lost key cost?", "Who services the boiler?", "Where do we meet?"):
            await rig.ask(daemon, texts.grounded("", question), N_TTFT)
        await daemon.stop()
        if not daemon.prefixes.is_dir() or not any(daemon.prefixes.iterdir()):
            raise NotAvailableError("this build saves no prefixes: state/prefixes is empty after a stop")
        shutil.copytree(daemon.prefixes, kept)
        for run in range(n_runs):
            rig.say(f"warm_start, run {run + 1} of {n_runs}")
            for times, saved in ((warm_s, True), (cold_s, False)):
                shutil.rmtree(daemon.prefixes, ignore_errors=True)
                if saved:
                    shutil.copytree(kept, daemon.prefixes)
                await daemon.start()
                asked = texts.grounded("", "When is lunch served in the kitchen?")
                times.append((await rig.ask(daemon, asked, N_TTFT)).ttft_s)
                await daemon.stop()
    finally:
        await daemon.stop()
    return {"warm_start": Measured(ratios(warm_s, cold_s), {"warm_s": warm_s, "cold_s": cold_s})}


async def restart_s(rig: Rig, n_runs: int) -> Mapping[str, Measured]:
    """Kill the engine and wait for its next token; stop the daemon and wait for it to be ready."""
    daemon = rig.home()
    to_token_s, to_ready_s = [], []
    try:
        for run in range(n_runs):
            rig.say(f"restart_s, run {run + 1} of {n_runs}")
            to_ready_s.append(await daemon.start())
            await rig.ask(daemon, [texts.user(texts.STORIES[0])], N_TTFT)
            pid = (await daemon.engine()).pid
            assert pid is not None, "it has just answered"
            killed = perf_counter()
            os.kill(pid, signal.SIGKILL)
            answer = await _ask_until_answered(rig, daemon, killed + START_S)
            to_token_s.append(answer.times[0] - killed)
            await daemon.stop()
    finally:
        await daemon.stop()
    return {"restart_s": Measured(to_token_s, {"daemon_start_to_ready_s": to_ready_s})}


async def _ask_until_answered(rig: Rig, daemon: PrivateDaemon, deadline: float) -> Stream:
    while True:
        try:
            return await rig.ask(daemon, [texts.user(texts.STORIES[1])], N_TTFT)
        except BenchError:  # 503 while the engine starts, or the request was with it when it died
            if perf_counter() > deadline:
                raise
        await asyncio.sleep(RETRY_S)
