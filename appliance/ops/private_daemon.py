"""A daemon of the bench's own: the real `appliance serve`, in a temporary home without documents."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
import yaml

import appliance
from appliance.api.schema_status import EngineReply
from appliance.client import Client
from appliance.config import CONFIG_NAME, ENVIRONMENT_PREFIX
from appliance.errors import NotRunningError
from appliance.ops.errors import BenchError

ROOT = Path(appliance.__file__).parent.parent
START_S = 180.0  # a cold disk reads libraries and weights
STOP_S = 30.0
POLL_S = 0.02
_LOG_LINES = 5


class PrivateDaemon:
    """A home and the daemon that serves it; started and stopped as often as wanted.

    Args:
        settings: what its configuration file says; nothing of the machine's own configuration counts.
    """

    def __init__(self, home: Path, settings: Mapping[str, Any]) -> None:
        self.home = home
        self.socket = home / "appliance.sock"
        self.prefixes = home / "state" / "prefixes"
        self._log = home / "daemon.log"
        self._process: Process | None = None
        home.mkdir()
        (home / CONFIG_NAME).write_text(yaml.safe_dump(dict(settings)), encoding="utf-8")

    async def start(self) -> float:
        """Start it; return the seconds until its model could answer.

        Raises:
            BenchError: it ended, gave its model up, or is not ready in time.
        """
        ours = {name: value for name, value in os.environ.items() if not name.startswith(ENVIRONMENT_PREFIX)}
        started = perf_counter()
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "appliance", "--home", str(self.home), "serve",
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, env=ours | {"PYTHONPATH": str(ROOT)},
            )  # fmt: skip
        await self.ready()
        return perf_counter() - started

    async def ready(self) -> EngineReply:
        """Wait until its model can answer; return how the engine stands.

        Raises:
            BenchError: as in `start`.
        """
        deadline = perf_counter() + START_S
        async with Client(self.socket) as client:
            while perf_counter() < deadline:
                try:
                    engine = (await client.status()).engine
                except (NotRunningError, httpx.HTTPError):
                    self._must_live()
                else:
                    if engine.state == "ready":
                        return engine
                    if engine.state == "failed":
                        raise BenchError(f"the engine failed: {engine.reason}")
                await asyncio.sleep(POLL_S)
        raise BenchError(f"the daemon is not ready after {START_S:.0f} s:\n{self._last_words()}")

    async def engine(self) -> EngineReply:
        """Return how the engine stands now."""
        async with Client(self.socket) as client:
            return (await client.status()).engine

    async def stop(self) -> None:
        """Stop it as an administrator would; kill it when it does not go."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        try:
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(STOP_S):
                await process.wait()
        except TimeoutError:
            pass
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    def _must_live(self) -> None:
        if self._process is None or self._process.returncode is not None:
            raise BenchError(f"the daemon ended:\n{self._last_words()}")

    def _last_words(self) -> str:
        return "\n".join(self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:])
