"""The parse server: imports every reader once, then forks one limited child per file.

`python -m ingest.parse_server FD` serves the daemon at the other end of the socket FD, one file after another,
and ends when that end closes. It never looks into a file or an answer itself, and has one thread: it forks.
"""

from __future__ import annotations

import codecs
import contextlib
import encodings
import gc
import importlib
import os
import pkgutil
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass
from typing import Any

from ingest import parse_child
from ingest.limits import MIB, ParseLimits
from ingest.parse_wire import (
    ANSWER,
    BLOCK,
    CHILD,
    FACTS,
    REQUEST,
    Request,
    WireError,
    encode,
    pack,
    receive,
    split,
)
from ingest.unit import Outcome, Parsed

MAX_REQUEST = 64 * 1024
_TOLD = ("format", "sha256", "size", "mtime_ns", "n_readers_left")  # in the frame `FACTS`
_KILLED_TWICE = encode(
    Parsed(
        Outcome.CRASHED,
        "the reader was killed twice while it read this file: the machine may be short of memory",
    ).to_json()
)


@dataclass(slots=True)
class Child:
    """A running child and what it has written so far."""

    pid: int
    pipe: int
    deadline: float
    output: bytearray
    converts: bool = False  # it watches over a program, and ends that and itself when we are gone
    killed: str = ""  # why we killed it: "time" or "output"


def serve(channel: socket.socket) -> None:
    """Answer requests until the daemon is gone."""
    while True:
        try:
            mark, asked = receive(channel, MAX_REQUEST)
        except WireError:
            return
        if mark != REQUEST:
            return
        request = Request.from_json(asked)
        answer = _read(channel, request)
        # Killed by someone else (the kernel short of memory, a person) says nothing of the file: once more.
        channel.sendall(pack(ANSWER, answer or _read(channel, request) or _KILLED_TWICE))


def _read(channel: socket.socket, request: Request) -> bytes | None:
    """Do what is asked in a child of its own; None when the child was killed from outside."""
    child = _fork(channel, request)
    channel.sendall(pack(CHILD, encode(child.pid)))
    _collect(child, channel, request.limits)
    return _answer(child, request)


def _fork(channel: socket.socket, request: Request) -> Child:
    pipe, answer = os.pipe()
    server_pid = os.getpid()
    deadline = time.monotonic() + request.wall_s(_size(request.path))
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)  # whatever a hijacked reader starts is killed with it
            channel.close()
            os.close(pipe)
            _silence()
            parse_child.run(request, answer, server_pid)
        finally:
            os._exit(1)
    os.close(answer)
    return Child(pid, pipe, deadline, bytearray(), request.converted)


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _silence() -> None:
    """Close the terminal and the log to the child: C libraries print the file's own words when they fail."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)


def _collect(child: Child, channel: socket.socket, limits: ParseLimits) -> None:
    """Read what the child writes until it ends; kill it at a limit, or when the daemon is gone."""
    poll = select.poll()
    poll.register(child.pipe, select.POLLIN)
    poll.register(channel.fileno(), select.POLLIN)
    while not child.killed:
        ready = dict(poll.poll(max(0.0, child.deadline - time.monotonic()) * 1000))
        if channel.fileno() in ready:  # the daemon says nothing while it waits: this is its end
            if not child.converts:
                _kill(child)
            os._exit(0)
        if child.pipe in ready:
            block = os.read(child.pipe, BLOCK)
            if not block:
                break
            child.output += block
            if len(child.output) > limits.max_output_mb * MIB:
                child.killed = "output"
        elif time.monotonic() >= child.deadline:
            child.killed = "time"
    _kill(child)


def _kill(child: Child) -> None:
    for kill, target in ((os.killpg, child.pid), (os.kill, child.pid)):
        with contextlib.suppress(ProcessLookupError):
            kill(target, signal.SIGKILL)
    os.close(child.pipe)


def _answer(child: Child, request: Request) -> bytes | None:
    """Return the child's own answer, or the outcome that its death stands for; None when others killed it."""
    _, status, usage = os.wait4(child.pid, 0)
    frames = dict(split(bytes(child.output)))
    if ANSWER in frames and not child.killed:
        return frames[ANSWER]
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL and not child.killed:
        return None
    parsed = _death(child, code, request)
    data: dict[str, Any] = parsed.to_json() | {"peak_mb": round(usage.ru_maxrss / 1024, 1)}
    return encode(data) if FACTS not in frames else _merge(data, frames[FACTS])


def _merge(data: dict[str, Any], facts: bytes) -> bytes:
    """Join two JSON objects without parsing the one that a reader of a hostile file wrote."""
    own = encode({name: value for name, value in data.items() if name not in _TOLD})
    return own[:-1] + b", " + facts[1:]


def _death(child: Child, code: int, request: Request) -> Parsed:
    if child.killed == "time" or code == -signal.SIGXCPU:
        return Parsed(Outcome.TIMEOUT, "reading it took longer than the time allowed for a file of its size")
    if child.killed == "output":
        return Parsed(
            Outcome.TOO_LARGE, f"it holds more text than the limit of {request.limits.max_output_mb} MB"
        )
    how = signal.Signals(-code).name if code < 0 else f"exit {code}"
    return Parsed(
        Outcome.CRASHED,
        f"the reader stopped on it ({how}): the file is broken, or needs more than {request.memory_mb} MB to read",
    )


def preload() -> None:
    """Load what Python would otherwise load at first use: in each child again, under its limits."""
    importlib.import_module("heapq")  # for Counter.most_common
    for module in pkgutil.iter_modules(encodings.__path__):
        with contextlib.suppress(LookupError):
            codecs.lookup(module.name)


def main() -> None:
    """Serve on the socket whose descriptor is the only argument."""
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        preload()
        gc.freeze()  # children would otherwise copy every page that their collector touches
        serve(channel)


if __name__ == "__main__":
    main()
