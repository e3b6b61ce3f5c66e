"""One file, read in a process of its own: limit, open, sniff, read, answer. Everything here may die.

Runs after the parse server's fork; writes its frames to a pipe and exits, and never returns.
"""

from __future__ import annotations

import hashlib
import os
import resource
import stat
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from ingest.confine import die_with, give_up_rights
from ingest.convert import (
    ConversionError,
    ConversionTimeoutError,
    ConversionTooLargeError,
    Program,
    Room,
    convert,
    find_programs,
)
from ingest.flags import with_flags
from ingest.formats.reading import RefusedError, damaged, too_large
from ingest.formats.tidy import one_line
from ingest.limits import MIB, ParseLimits
from ingest.parse_wire import ANSWER, BLOCK, FACTS, Request, encode, pack, write_all
from ingest.readers import EXTRACTORS, PAGE_READERS, READERS
from ingest.sniff import WORDS, sniff
from ingest.unit import Outcome, Parsed

MAX_FILES = 64
MAX_TITLE = 300
USAGES = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def run(request: Request, answer: int, server_pid: int) -> None:
    """Do what is asked and write the frames to the descriptor; does not return.

    The pipe stays open until the process ends, so that its end means that this process has ended.
    """
    began = time.monotonic()
    give_up_rights()
    # A program that converts needs files; and we must outlive the server for as long as it takes to end the program.
    if not request.converted:
        _confine(server_pid)
    _limit(request, 0)
    parsed = _parse(request, answer, server_pid)
    peak_mb = max(resource.getrusage(who).ru_maxrss for who in USAGES) / 1024
    parsed = replace(parsed, seconds=round(time.monotonic() - began, 4), peak_mb=round(peak_mb, 1))
    write_all(answer, pack(ANSWER, encode(parsed.to_json())))
    os._exit(0)


def _confine(server_pid: int) -> None:
    """Give up what a reader does not need, before the file is touched."""
    die_with(server_pid)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (MAX_FILES, MAX_FILES))
    if os.geteuid() != 0:
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def _limit(request: Request, n_bytes: int) -> None:
    limits = request.limits
    memory = request.memory_mb * MIB
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    # The server's wall limit comes first, unless the server is stopped. The hard limit leaves room to raise it.
    cpu_s = int(request.wall_s(n_bytes)) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, int(request.wall_s(limits.max_file_mb * MIB)) + 3))


def _parse(request: Request, answer: int, server_pid: int) -> Parsed:
    limits = request.limits
    try:
        descriptor = os.open(request.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return Parsed(Outcome.DAMAGED, f"it cannot be opened ({error.strerror})")
    info = os.fstat(descriptor)
    if not stat.S_ISREG(info.st_mode):
        return Parsed(Outcome.UNSUPPORTED, "this is not a file (a folder, a device, a pipe or a socket)")
    if info.st_size > limits.max_file_mb * MIB:
        reason = f"{info.st_size / MIB:.0f} MB, and files over {limits.max_file_mb} MB are not read"
        return Parsed(Outcome.TOO_LARGE, reason, size=info.st_size, mtime_ns=info.st_mtime_ns)
    _limit(request, info.st_size)
    facts: dict[str, Any] = {"size": info.st_size, "mtime_ns": info.st_mtime_ns}

    def read() -> Parsed:
        data = _read_all(descriptor, limits)
        facts.update(size=len(data), sha256=hashlib.sha256(data).hexdigest())
        kind, name = sniff(data, request.path), request.path
        if request.part is not None:
            _tell(kind, facts, request, answer)
            data, name = EXTRACTORS[kind](data, request.part, limits), request.part
            kind = sniff(data, name)
        _tell(kind, facts, request, answer)
        if request.converted:
            return _attempt_converted(data, kind, name, request, server_pid)
        return attempt(data, kind, name, request)

    return replace(_contained(read, request), **facts)


def _tell(kind: str, facts: dict[str, Any], request: Request, answer: int) -> None:
    """Say what the file is before anything that may crash: it is then known of a dead child's file too."""
    ways = find_programs(kind) if request.converted else READERS.get(kind, ())
    n_left = len(ways) - 1 - request.rung if request.page is None else 0
    facts.update(format=kind, n_readers_left=max(0, n_left))
    write_all(answer, pack(FACTS, encode(facts)))


def _read_all(descriptor: int, limits: ParseLimits) -> bytes:
    """Read the whole file: one snapshot is hashed and parsed, and a file that shrinks cannot hurt (no mmap)."""
    data = bytearray()
    while block := os.read(descriptor, BLOCK):
        data += block
        if len(data) > limits.max_file_mb * MIB:
            raise too_large(f"it grew over {limits.max_file_mb} MB while it was read")
    return bytes(data)


def _contained(read: Callable[[], Parsed], request: Request) -> Parsed:
    """Run a reader; whatever a hostile file provokes in it is an outcome of this file."""
    try:
        return read()
    except RefusedError as refusal:
        return Parsed(refusal.outcome, refusal.reason)
    except MemoryError:
        return Parsed(Outcome.TOO_LARGE, f"reading it needs more than {request.memory_mb} MB of memory")
    except Exception as error:
        reason = f"it could not be read ({type(error).__name__}: {str(error)[:200]})"
        return Parsed(Outcome.DAMAGED, reason)


def attempt(data: bytes, kind: str, path: str, request: Request) -> Parsed:
    """Read bytes of a kind by the reader that the request asks for.

    Raises:
        RefusedError: the reader refuses them; and whatever a broken file provokes in a reader.
    """
    limits = request.limits
    if request.page is not None:
        reading = PAGE_READERS[kind](data, request.page, limits)
    elif kind in READERS:
        reading = READERS[kind][request.rung](data, limits)
    else:
        return _unread(kind)
    if not (reading.units or reading.parts or reading.scans):
        return Parsed(
            Outcome.EMPTY, "there is no text in it", n_pages=reading.n_pages, notes=tuple(reading.notes)
        )
    title = one_line(reading.title)[:MAX_TITLE] or PurePath(path).stem.encode("utf-8", "replace").decode()
    return Parsed(
        Outcome.OK, title=title, units=tuple(with_flags(reading.units)), n_pages=reading.n_pages,
        parts=tuple(reading.parts), scans=tuple(reading.scans), notes=tuple(reading.notes),
    )  # fmt: skip


def _attempt_converted(data: bytes, kind: str, path: str, request: Request, server_pid: int) -> Parsed:
    """Let a program make a newer file of the bytes, then read that as any other; raises as `attempt` does."""
    programs = find_programs(kind)
    if request.rung >= len(programs):
        raise RefusedError(Outcome.UNSUPPORTED, "no program that could convert it is installed")
    program = programs[request.rung]
    newer = _converted(program, data, kind, request, server_pid)
    _confine(server_pid)
    request = replace(request, converted=False, rung=0)
    _limit(request, len(newer))
    parsed = attempt(newer, program.makes[kind], path, request)
    # What the newer file holds besides its text can be asked for by no key of the old one.
    notes = (*parsed.notes, f"read by way of {program.name}: places may differ a little")
    return replace(parsed, parts=(), scans=(), notes=notes)


def _converted(program: Program, data: bytes, kind: str, request: Request, server_pid: int) -> bytes:
    limits = request.limits
    room = Room(
        Path(tempfile.gettempdir()), limits.convert_timeout_s, limits.convert_memory_mb,
        is_wanted=lambda: os.getppid() == server_pid,
    )  # fmt: skip
    try:
        return convert(program, data, kind, room)
    except ConversionTimeoutError as error:
        raise RefusedError(Outcome.TIMEOUT, str(error)) from error
    except ConversionTooLargeError as error:
        raise too_large(str(error)) from error
    except ConversionError as error:
        raise damaged(str(error)) from error


def _unread(kind: str) -> Parsed:
    if kind == "empty":
        return Parsed(Outcome.EMPTY, "the file is empty (0 bytes)")
    if kind == "office-encrypted":
        return Parsed(
            Outcome.NEEDS_PASSWORD, "this is an Office document with a password: save a copy without one"
        )
    return Parsed(Outcome.UNSUPPORTED, f"this is {WORDS[kind]}: files of this kind are not read")
