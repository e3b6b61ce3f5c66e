"""/api/status and /healthz: the whole appliance at a glance."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from importlib.metadata import version

from fastapi import APIRouter

from appliance.api.caller import Caller
from appliance.api.library import ingest_status
from appliance.api.parts import Daemon
from appliance.api.schema_status import EngineReply, IndexReply, StatusReply

router = APIRouter()


@router.get("/healthz")
async def healthz(daemon: Daemon) -> dict[str, str]:
    """Return 200 while the daemon serves; the engine may still be loading and says so."""
    return {"status": "ok", "engine": daemon.engine.status().state}


@router.get("/api/status")
async def status(caller: Caller, daemon: Daemon) -> StatusReply:
    """Return the state of engine, ingest and index."""
    engine = daemon.engine.status()
    return StatusReply(
        version=version("appliance"),
        pid=os.getpid(),
        home=str(daemon.config.home),
        uptime_s=daemon.uptime_s(),
        engine=EngineReply(**asdict(engine) | {"reuse": str(engine.reuse)}),
        ingest=await asyncio.to_thread(ingest_status, daemon, caller),
        index=IndexReply(
            state=daemon.dense.state, reason=daemon.dense.reason, n_vectors=daemon.dense.n_vectors,
            embedder=daemon.embedder,
        ),
    )  # fmt: skip
