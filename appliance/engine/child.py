"""One engine process as its parent sees it: started, talked to, and found dead."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import deque
from collections.abc import Collection, Mapping, Sequence

from appliance.engine import wire

log = logging.getLogger(__name__)

N_LAST_LINES = 8  # of the child's stderr, for the reason of its death
LAST_WORDS_S = 1.0  # and its stderr so long to be read to the end
EXIT_S = 5.0  # a process whose socket has closed has so long to end by itself


class Child:
    """A running engine process. Made by `spawn`, ended by `close`."""

    def __init__(self, process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._lines: deque[str] = deque(maxlen=N_LAST_LINES)
        self._listening = asyncio.create_task(self._read_stderr())

    @classmethod
    async def spawn(
        cls, command: Sequence[str], environment: Mapping[str, str], cpus: Collection[int] = ()
    ) -> Child:
        """Start a process; the number of its end of the socket is appended to the command.

        Args:
            cpus: processors that it may run on; empty: as we may.
        Raises:
            OSError: it cannot be started.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                process = await asyncio.create_subprocess_exec(
                    *command,
                    str(theirs.fileno()),
                    pass_fds=(theirs.fileno(),),
                    env=environment,
                    stdin=DEVNULL,
                    stdout=DEVNULL,
                    stderr=PIPE,
                )
        except BaseException:
            ours.close()
            raise
        if cpus:
            _keep_on(process.pid, cpus)
        reader, writer = await asyncio.open_connection(sock=ours)
        return cls(process, reader, writer)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def was_killed(self) -> bool:
        """Whether it did not crash: kill -9, the OOM killer, or the time limit of a runaway grammar ended it."""
        return self._process.returncode in (-signal.SIGKILL, -signal.SIGPROF)

    def send(self, message: wire.WireMessage) -> None:
        """Send a message; a dead child does not hear it."""
        if not self._writer.is_closing():
            self._writer.write(wire.frame(message))

    async def receive(self) -> wire.WireMessage | None:
        """Return its next message, None when it is gone."""
        return await wire.read(self._reader)

    def kill(self) -> None:
        """End it at once."""
        if self._process.returncode is None:
            self._process.kill()

    async def close(self) -> str:
        """Wait for its end, forcing it if need be; return how it ended and its last words."""
        try:
            self._writer.close()
            async with asyncio.timeout(EXIT_S):
                await self._process.wait()
        except TimeoutError:
            pass
        finally:
            self.kill()
            code = await self._process.wait()
            # A process of the child's own (a debugger, say) may hold its stderr open for ever.
            await asyncio.wait([self._listening], timeout=LAST_WORDS_S)
            self._listening.cancel()
        return "; ".join([_describe(code), *self._lines])

    async def _read_stderr(self) -> None:
        assert self._process.stderr is not None, "spawned with a pipe"
        async for line in self._process.stderr:
            text = line.decode("utf-8", "replace").rstrip()
            self._lines.append(text)
            log.warning("engine %d: %s", self.pid, text)


def _keep_on(pid: int, cpus: Collection[int]) -> None:
    """Bind a process that has no other thread yet: those it starts later inherit this."""
    try:
        os.sched_setaffinity(pid, cpus)
    except OSError as error:
        log.warning("engine %d runs on any core: %s", pid, error)


def _describe(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
