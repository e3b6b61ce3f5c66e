"""The daemon's side of parsing: starts the parse server, asks it for one file at a time, restarts it."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

from ingest.errors import ParserStoppedError
from ingest.limits import MIB, ParseLimits
from ingest.parse_wire import ANSWER, CHILD, REQUEST, Request, WireError, encode, pack, receive
from ingest.unit import Outcome, Parsed

log = logging.getLogger(__name__)

PACKAGE_ROOT = Path(__file__).resolve().parent.parent
START_S = 60.0  # the server's imports on a cold disk, on top of the file's own wall limit
STOP_S = 5.0
_TRY_ANOTHER = (Outcome.DAMAGED, Outcome.CRASHED, Outcome.TIMEOUT)
_TRY_CONVERTED = (*_TRY_ANOTHER, Outcome.UNSUPPORTED)
CONVERTED = frozenset({"doc", "ppt"})


class Parser:
    """Reads files in limited child processes. One file at a time; safe to call from several threads."""

    def __init__(self, limits: ParseLimits) -> None:
        self.limits = limits
        self.child_pid: int | None = None
        self._lock = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._stopped = False

    @property
    def pid(self) -> int | None:
        """The parse server's process id, while it runs."""
        return self._server.pid if self._server and self._server.poll() is None else None

    def start(self) -> None:
        """Start the parse server; it goes on importing while this returns."""
        with self._lock:
            self._stopped = False
            self._start()

    def stop(self) -> None:
        """End the server and its child; a `parse` under way raises `ParserStoppedError`."""
        self._stopped = True
        if channel := self._channel:
            with contextlib.suppress(OSError):  # it is closed already
                channel.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._end()

    def parse(self, path: Path, part: str | None = None, page: int | None = None) -> Parsed:
        """Read one file, a file inside it, or a scanned page; blocks until it is read or its limits are reached.

        Where the format has several readers, the next one is tried when one fails; where none reads an old Office
        file, the programs of the machine that convert it. A server that was killed from
        outside is started again and the reading tried once more.

        Args:
            part: key of one of the `parts` of an earlier answer.
            page: one of the `scans` of an earlier answer (of that part).
        Raises:
            ParserStoppedError: `stop` was called; nothing is known about the file.
        """
        request = Request(os.path.abspath(path), self.limits, part, page)
        with self._lock:
            first, found = self._by_turns(request)
            may_convert = self.limits.convert and found.format in CONVERTED
            if may_convert and found.outcome in _TRY_CONVERTED:
                _, found = self._by_turns(replace(request, converted=True))
        return found if found.outcome is Outcome.OK else first

    def _by_turns(self, request: Request) -> tuple[Parsed, Parsed]:
        """Ask one reader after another; return what the first said and what the last said."""
        first = found = self._surely(request)
        while found.outcome in _TRY_ANOTHER and found.n_readers_left:
            request = replace(request, rung=request.rung + 1)
            found = self._surely(request)
        return first, found

    def _surely(self, request: Request) -> Parsed:
        for _ in range(2):
            if self._stopped:
                raise ParserStoppedError("the parser is stopped")
            try:
                return self._ask(request)
            except (WireError, OSError, ValueError, TypeError, KeyError) as error:
                if not self._stopped:
                    log.warning("parse server lost at %r (%s): starting it again", request.path, error)
                self._end()
            finally:
                self.child_pid = None
        if self._stopped:
            raise ParserStoppedError("the parser is stopped")
        return Parsed(Outcome.CRASHED, "the parse server stopped twice while it read this file")

    def _ask(self, request: Request) -> Parsed:
        if self.pid is None:
            self._end()
            self._start()
        channel = self._channel
        assert channel is not None
        channel.settimeout(START_S + request.wall_s(self.limits.max_file_mb * MIB))
        channel.sendall(pack(REQUEST, encode(request.to_json())))
        mark, data = receive(channel, self.limits.max_output_mb * MIB)
        while mark == CHILD:
            self.child_pid = int(data)
            mark, data = receive(channel, self.limits.max_output_mb * MIB)
        if mark != ANSWER:
            raise WireError(f"unexpected frame {mark!r}")
        return Parsed.from_json(data)

    def _start(self) -> None:
        if self._server is not None:
            return
        ours, theirs = socket.socketpair()
        with theirs:
            # -P and our own root on the path: a json.py in the working folder must not be imported.
            # No PDEATHSIG: it would follow the thread that starts the server; the socket's end is what ends it.
            self._server = subprocess.Popen(
                [sys.executable, "-P", "-m", "ingest.parse_server", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=os.environ | {"PYTHONPATH": str(PACKAGE_ROOT)},
                start_new_session=True,
            )
        self._channel = ours

    def _end(self) -> None:
        server, self._server = self._server, None
        channel, self._channel = self._channel, None
        if channel:
            channel.close()
        if server is None:
            return
        try:
            server.wait(STOP_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
