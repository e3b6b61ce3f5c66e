"""Old Office files turned into newer ones by a program of the machine: LibreOffice, or catdoc for Word's text.

Used where our own readers fail. The program meets a hostile file: it runs alone, limited, in a folder that is deleted,
and its result is read in a limited child like any other file. Reads no result itself.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ingest.confine import die_with, give_up_rights, lower_limit
from ingest.formats.tidy import one_line
from ingest.limits import MIB

POLL_S = 0.1
PREFIX = "appliance-convert-"
MAX_SAID = 200  # characters of the program's own words in an error
# Macros never run, nothing that the file links to is fetched or taken in, no Java.
PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
{}
</oor:items>
"""
SETTING = '<item oor:path="/org.openoffice.Office.{}"><prop oor:name="{}" oor:op="fuse"><value>{}</value></prop></item>'
SETTINGS = (
    ("Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Writer/Content/Update", "Link", "0"),
    ("Java/VirtualMachine", "Enable", "false"),
)


class ConversionError(Exception):
    """The program could not turn the file into a newer one; it never leaves the parse child."""


class ConversionTimeoutError(ConversionError):
    """The program took too long and was ended."""


class ConversionTooLargeError(ConversionError):
    """The program wrote too much and was ended."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that converts.

    Attributes:
        name: what people call it.
        makes: kind it reads → kind it writes, by the names of `sniff`.
        prints: the result is what it prints; else it writes a file.
    """

    name: str
    path: Path
    makes: Mapping[str, str]
    prints: bool = False

    def command(self, source: Path, kind: str) -> Sequence[str]:
        """Return the command line for a file in its scratch folder."""
        if self.prints:
            return (str(self.path), "-d", "utf-8", "-w", str(source))
        folder = source.parent
        quiet = ("--headless", "--nologo", "--norestore", "--nolockcheck", "--nodefault")
        output = ("--convert-to", self.makes[kind], "--outdir", str(folder / "out"), str(source))
        return (str(self.path), f"-env:UserInstallation={(folder / 'profile').as_uri()}", *quiet, *output)


@dataclass(frozen=True, slots=True)
class Room:
    """Where and how long a conversion may run.

    Attributes:
        scratch: a folder in which it makes one of its own, deleted at its end.
        memory_mb: address space of each process of the program.
        max_output_mb: of each file that it writes, the result too.
        is_wanted: asked several times a second; once it says no, the program is ended.
    """

    scratch: Path
    timeout_s: float = 40.0
    memory_mb: int = 2048
    max_output_mb: int = 256
    is_wanted: Callable[[], bool] = field(default=lambda: True)


def find_programs(kind: str, path: str | None = None) -> list[Program]:
    """Return the programs that read a kind, best first; empty where none is installed.

    Args:
        path: folders to look in, as in the environment; None looks where the environment says.
    """
    found = []
    if soffice := shutil.which("soffice", path=path) or shutil.which("libreoffice", path=path):
        found.append(Program("LibreOffice", Path(soffice), {"doc": "docx", "ppt": "pptx"}))
    if catdoc := shutil.which("catdoc", path=path):
        found.append(Program("catdoc", Path(catdoc), {"doc": "txt"}, prints=True))
    return [program for program in found if kind in program.makes]


def convert(program: Program, data: bytes, kind: str, room: Room) -> bytes:
    """Convert a file of a kind that the program reads, and return the newer file; blocks until it is done.

    Raises:
        ConversionTimeoutError, ConversionTooLargeError: the program reached a limit and was ended.
        ConversionError: it failed, or wrote nothing, or is not wanted any more.
    """
    _sweep(room.scratch)
    try:
        with tempfile.TemporaryDirectory(
            prefix=f"{PREFIX}{os.getpid()}-", dir=room.scratch, ignore_cleanup_errors=True
        ) as folder:
            source = Path(folder) / f"source.{kind}"
            source.write_bytes(data)
            _furnish(source.parent)
            _run(program, source, kind, room)
            return _result(program, source, kind, room)
    except (OSError, subprocess.SubprocessError) as error:
        raise ConversionError(f"{program.name} could not be run ({error})") from error


def _sweep(scratch: Path) -> None:
    """Delete what a conversion left whose process was killed."""
    for folder in scratch.glob(f"{PREFIX}*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            if not Path("/proc", pid).exists() and folder.lstat().st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)


def _furnish(folder: Path) -> None:
    (folder / "out").mkdir()
    user = folder / "profile" / "user"
    user.mkdir(parents=True)
    settings = "\n".join(SETTING.format(*setting) for setting in SETTINGS)
    (user / "registrymodifications.xcu").write_text(PROFILE.format(settings), encoding="utf-8")


def _run(program: Program, source: Path, kind: str, room: Room) -> None:
    folder = source.parent
    home = {"HOME": str(folder), "TMPDIR": str(folder), "PATH": os.defpath, "LANG": "C.UTF-8"}
    with (folder / "printed").open("wb") as printed, (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            program.command(source, kind), cwd=folder, env=home, process_group=0,
            stdin=subprocess.DEVNULL, stdout=printed, stderr=said,
            preexec_fn=partial(_confine, os.getpid(), room),
        )  # fmt: skip
        try:
            code = _wait(process, program, room)
        finally:
            _end(process)
    if code == -signal.SIGXFSZ:
        raise ConversionTooLargeError(f"{program.name} wrote more than {room.max_output_mb} MB")
    if code == -signal.SIGXCPU:
        raise ConversionTimeoutError(f"{program.name} took longer than {room.timeout_s:.0f} s")
    if code != 0:
        raise ConversionError(f"{program.name} failed ({_how(code)}): {_said(folder)}")


def _confine(parent_pid: int, room: Room) -> None:
    """Run in the new process, before the program."""
    die_with(parent_pid)
    give_up_rights()
    lower_limit(resource.RLIMIT_AS, room.memory_mb * MIB)
    lower_limit(resource.RLIMIT_FSIZE, room.max_output_mb * MIB)
    lower_limit(resource.RLIMIT_CPU, int(room.timeout_s) + 1)


def _wait(process: subprocess.Popen[bytes], program: Program, room: Room) -> int:
    deadline = time.monotonic() + room.timeout_s
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(POLL_S)
        if not room.is_wanted():
            raise ConversionError(f"{program.name} was stopped")
        if time.monotonic() > deadline:
            raise ConversionTimeoutError(f"{program.name} took longer than {room.timeout_s:.0f} s")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill whatever the program started, also when itself it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _result(program: Program, source: Path, kind: str, room: Room) -> bytes:
    made = source.parent / "out" / f"source.{program.makes[kind]}"
    path = source.parent / "printed" if program.prints else made
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise ConversionError(f"{program.name} wrote nothing: {_said(source.parent)}") from error
    with open(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise ConversionError(f"{program.name} wrote no file")
        # A file exactly as long as the limit was cut off by it, by a program that took no notice.
        if info.st_size >= room.max_output_mb * MIB:
            raise ConversionTooLargeError(f"{program.name} wrote more than {room.max_output_mb} MB")
        return file.read(room.max_output_mb * MIB)


def _said(folder: Path) -> str:
    with (folder / "said").open("rb") as said:
        return one_line(said.read(4096).decode("utf-8", "replace"))[-MAX_SAID:] or "it did not say why"


def _how(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit {code}"
