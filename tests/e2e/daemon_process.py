"""A real daemon in its own process and home, as a user would run it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from appliance.api.schema import AskEvent
from appliance.api.schema_documents import DocumentsReply
from appliance.api.schema_status import StatusReply
from appliance.client import Client
from appliance.errors import NotRunningError

START_S = 90.0
SETTLE_S = 60.0


class DaemonProcess:
    """`appliance serve` on a home of its own, with the small test model."""

    def __init__(self, home: Path, models: Path, wrapper: Sequence[str] = ()) -> None:
        self.settings: dict[str, str] = {}
        self.home = home
        self.documents = home / "documents"
        self.socket = home / "appliance.sock"
        self.log = home / "daemon.log"
        self._models = models
        self._wrapper = wrapper
        self._process: subprocess.Popen[bytes] | None = None
        self.documents.mkdir(parents=True, exist_ok=True)

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "APPLIANCE_HOME": str(self.home),
            "APPLIANCE_MODELS__FOLDER": str(self._models),
            "APPLIANCE_ENGINE__MODEL": "smollm2-135m-instruct",
            "APPLIANCE_ENGINE__N_CTX": "4096",
            "APPLIANCE_ANSWER__COMPOSE": "always",  # the smallest model would only quote
            "APPLIANCE_INGEST__SETTLE_MS": "200",
            **self.settings,
        }

    @property
    def pid(self) -> int:
        return asyncio.run(self.status()).pid

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended; it may not answer yet."""
        return self._process is not None and self._process.poll() is None

    def launch(self) -> None:
        """Start it, and do not wait for it."""
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                [*self._wrapper, sys.executable, "-m", "appliance", "serve"],
                env=self.environment, stdout=log, stderr=log,
            )  # fmt: skip

    def start(self, *, loaded: bool = True) -> None:
        self.launch()
        self.until(lambda status: status.engine.state == "ready" or not loaded, START_S)

    def kill(self, number: int = signal.SIGKILL) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(timeout=30)

    def stop(self) -> None:
        if self.is_running:
            self.kill(signal.SIGTERM)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command line against this home."""
        return subprocess.run(
            [*self._wrapper, sys.executable, "-m", "appliance", *arguments],
            env=self.environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    async def status(self) -> StatusReply:
        async with Client(self.socket) as client:
            return await client.status()

    async def listing(self) -> DocumentsReply:
        async with Client(self.socket) as client:
            return await client.documents()

    async def ask(self, question: str) -> list[AskEvent]:
        async with Client(self.socket) as client:
            return [event async for event in client.ask(question)]

    async def found(self, query: str) -> list[str]:
        """Return "path, place" of the passages that a search finds, best first."""
        async with Client(self.socket) as client:
            return [f"{p.path}, {p.locator}" for p in (await client.search(query)).passages]

    def until(self, true: Callable[[StatusReply], bool], within_s: float = SETTLE_S) -> StatusReply:
        """Wait until the status satisfies a condition."""
        deadline, status = time.monotonic() + within_s, None
        while time.monotonic() < deadline:
            try:
                status = asyncio.run(self.status())
                if true(status):
                    return status
            except NotRunningError:
                assert self._process is not None
                assert self._process.poll() is None, self.log.read_text()
            time.sleep(0.1)
        raise AssertionError(f"not within {within_s} s; {status}\n{self.log.read_text()[-4000:]}")

    def until_states(self, **expected: str) -> None:
        """Wait until the named files (stem → state) are in their final states."""
        deadline, states = time.monotonic() + SETTLE_S, {}
        while time.monotonic() < deadline:
            states = {Path(d.path).stem: d.state for d in asyncio.run(self.listing()).documents}
            if expected.items() <= states.items():
                return
            time.sleep(0.1)
        raise AssertionError(f"expected {expected}, found {states}\n{self.log.read_text()[-4000:]}")
