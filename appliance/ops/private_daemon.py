"""A daemon of the bench's own: the real `appliance serve`, in a temporary home without documents."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
import yaml

import appliance
from appliance.api.schema_status import EngineReply, StatusReply
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
        make_home(home, settings)

    async def start(self) -> float:
        """Start it; return the seconds until its model could answer.

        Raises:
            BenchError: it ended, gave its model up, or is not ready in time.
        """
        started = perf_counter()
        await self._spawn()
        await self.ready()
        return perf_counter() - started

    async def serve(self) -> StatusReply:
        """Start it, and wait until it answers, whatever its model does; return how it stands.

        Raises:
            BenchError: it ended, or does not answer in time.
        """
        await self._spawn()
        return await self._until(lambda status: True)

    async def ready(self) -> EngineReply:
        """Wait until its model can answer; return how the engine stands.

        Raises:
            BenchError: as in `start`.
        """
        return (await self._until(_can_answer)).engine

    async def engine(self) -> EngineReply:
        """Return how the engine stands now."""
        return (await self.status()).engine

    async def status(self) -> StatusReply:
        """Return how all of it stands now."""
        async with Client(self.socket) as client:
            return await client.status()

    async def stop(self) -> None:
        """Stop it as an administrator would; kill it when it does not go."""
        process, self._process = self._process, None
        if process is not None:
            await end(process)

    async def _spawn(self) -> None:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "appliance", "--home", str(self.home), "serve",
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, env=environment(),
            )  # fmt: skip

    async def _until(self, enough: Callable[[StatusReply], bool]) -> StatusReply:
        deadline = perf_counter() + START_S
        async with Client(self.socket) as client:
            while perf_counter() < deadline:
                try:
                    status = await client.status()
                except (NotRunningError, httpx.HTTPError):
                    self._must_live()
                else:
                    if enough(status):
                        return status
                await asyncio.sleep(POLL_S)
        raise BenchError(f"the daemon is not ready after {START_S:.0f} s:\n{self._last_words()}")

    def _must_live(self) -> None:
        if self._process is None or self._process.returncode is not None:
            raise BenchError(f"the daemon ended:\n{self._last_words()}")

    def _last_words(self) -> str:
        return "\n".join(self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:])


def make_home(home: Path, settings: Mapping[str, Any]) -> None:
    """Make a home with a configuration file."""
    home.mkdir()
    (home / CONFIG_NAME).write_text(yaml.safe_dump(dict(settings)), encoding="utf-8")


def environment() -> dict[str, str]:
    """Return the environment of a process of the bench's own: no settings in it, our code to be found."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(ENVIRONMENT_PREFIX)}
    return ours | {"PYTHONPATH": str(ROOT)}


async def end(process: Process) -> None:
    """Ask a process to end; kill it when it does not go."""
    if process.returncode is not None:
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


def _can_answer(status: StatusReply) -> bool:
    if status.engine.state == "failed":
        raise BenchError(f"the engine failed: {status.engine.reason}")
    return status.engine.state == "ready"
