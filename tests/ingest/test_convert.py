"""Conversion by another program: stand-ins that do what such programs do at their worst, and the real one if there."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from ingest.convert import (
    ConversionError,
    ConversionTimeoutError,
    ConversionTooLargeError,
    Program,
    Room,
    convert,
    find_programs,
)
from ingest.limits import ParseLimits
from ingest.parser import Parser
from ingest.sniff import sniff
from ingest.unit import Outcome
from tests.ingest.made_files import docx, p
from tests.ingest.made_ole import Doc, ole

MAKES = {"doc": "docx"}
# The stand-in is called as LibreOffice is: … --outdir DIR FILE
WRITES = 'import shutil\nshutil.copy(sys.argv[-1], sys.argv[-2] + "/source.docx")'
BROKEN_DOC = ole({"WordDocument": b"\xec\xa5\xc1\x00" + bytes(8) + b"words", "0Table": b""})


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def program(folder: Path, body: str, name: str = "soffice") -> Path:
    """Write a stand-in; it may use `sys`, `os`, `time` and `told`, a file outside the scratch folder."""
    path = folder / name
    told = folder / "told"
    path.write_text(f"#!/usr/bin/python3\nimport os, sys, time\ntold = {str(told)!r}\n{body}\n")
    path.chmod(0o755)
    return path


def stand_in(folder: Path, body: str, prints: bool = False) -> Program:
    return Program("Stand-in", program(folder, body), MAKES, prints)


def is_gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def test_the_file_goes_in_and_the_newer_one_comes_out(tmp_path: Path, scratch: Path) -> None:
    told = '[*sys.argv, os.environ["HOME"], os.getcwd(), str(os.getpgid(0) == os.getpid())]'
    tells = f'open(told, "w").write("\\n".join({told}))'
    made = convert(stand_in(tmp_path, f"{tells}\n{WRITES}"), b"old words", "doc", Room(scratch))
    assert made == b"old words"
    _, profile, *_, source, home, folder, leads = (tmp_path / "told").read_text().split("\n")
    assert home == folder == str(Path(source).parent)
    assert profile == f"-env:UserInstallation=file://{folder}/profile"
    assert leads == "True"
    assert list(scratch.iterdir()) == []


def test_the_profile_forbids_macros_and_what_the_file_links_to(tmp_path: Path, scratch: Path) -> None:
    body = (
        'import shutil\nshutil.copy("profile/user/registrymodifications.xcu", sys.argv[-2] + "/source.docx")'
    )
    profile = convert(stand_in(tmp_path, body), b"x", "doc", Room(scratch)).decode()
    assert '"DisableMacrosExecution" oor:op="fuse"><value>true' in profile
    assert '"BlockUntrustedRefererLinks" oor:op="fuse"><value>true' in profile


def test_a_program_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path, scratch: Path) -> None:
    body = (
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nchild = os.fork()\n"
        'open(told, "a").write(f"{os.getpid()}\\n")\ntime.sleep(600)'
    )
    with pytest.raises(ConversionTimeoutError, match="took longer than 1 s"):
        convert(stand_in(tmp_path, body), b"x", "doc", Room(scratch, timeout_s=1.0))
    pids = [int(pid) for pid in (tmp_path / "told").read_text().split()]
    assert len(pids) == 2
    assert all(is_gone(pid) for pid in pids)
    assert list(scratch.iterdir()) == []


def test_what_a_program_leaves_running_is_ended_when_it_ends(tmp_path: Path, scratch: Path) -> None:
    stays = 'if os.fork() == 0:\n    open(told, "w").write(str(os.getpid()))\n    time.sleep(600)'
    body = f"{WRITES}\n{stays}\ntime.sleep(0.5)"
    assert convert(stand_in(tmp_path, body), b"x", "doc", Room(scratch)) == b"x"
    assert is_gone(int((tmp_path / "told").read_text()))


@pytest.mark.parametrize(
    "body",
    [
        'open(sys.argv[-2] + "/source.docx", "wb").write(bytes(3 << 20))',
        'import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nopen("big", "wb").write(bytes(3 << 20))',
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        'file = os.open(sys.argv[-2] + "/source.docx", 65)\nos.write(file, bytes(3 << 20))',
    ],
)
def test_a_program_that_writes_too_much_is_stopped(body: str, tmp_path: Path, scratch: Path) -> None:
    with pytest.raises(ConversionError) as caught:
        convert(stand_in(tmp_path, body), b"x", "doc", Room(scratch, max_output_mb=1))
    if "SIGXFSZ" in body:
        assert isinstance(caught.value, ConversionTooLargeError)
    assert list(scratch.iterdir()) == []


def test_a_program_that_takes_too_much_memory_fails(tmp_path: Path, scratch: Path) -> None:
    with pytest.raises(ConversionError, match="MemoryError"):
        convert(stand_in(tmp_path, "bytes(900 << 20)"), b"x", "doc", Room(scratch, memory_mb=500))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('sys.stderr.write("no " * 500 + "such filter")\nsys.exit(3)', r"failed \(exit 3\): .*such filter$"),
        ("os.kill(os.getpid(), 11)", r"failed \(SIGSEGV\): it did not say why"),
        ("pass", "wrote nothing: it did not say why"),
        ('os.symlink("/etc/passwd", sys.argv[-2] + "/source.docx")', "could not be run"),
        ('os.mkdir(sys.argv[-2] + "/source.docx")', "wrote no file|could not be run"),
    ],
)
def test_a_program_that_fails_is_named_with_a_short_reason(
    body: str, said: str, tmp_path: Path, scratch: Path
) -> None:
    with pytest.raises(ConversionError, match=said) as caught:
        convert(stand_in(tmp_path, body), b"x", "doc", Room(scratch))
    assert len(str(caught.value)) < 300
    assert list(scratch.iterdir()) == []


def test_a_program_that_cannot_be_started_is_no_crash(tmp_path: Path, scratch: Path) -> None:
    with pytest.raises(ConversionError, match="could not be run"):
        convert(Program("Stand-in", tmp_path / "missing", MAKES), b"x", "doc", Room(scratch))


def test_a_conversion_that_nobody_wants_any_more_ends_at_once(tmp_path: Path, scratch: Path) -> None:
    began = time.monotonic()
    with pytest.raises(ConversionError, match="was stopped"):
        convert(stand_in(tmp_path, "time.sleep(600)"), b"x", "doc", Room(scratch, is_wanted=lambda: False))
    assert time.monotonic() - began < 5


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may take the network away from a process")
def test_a_program_has_no_network(tmp_path: Path, scratch: Path) -> None:
    body = 'import shutil\nshutil.copyfile("/proc/self/net/dev", sys.argv[-2] + "/source.docx")'
    lines = convert(stand_in(tmp_path, body), b"x", "doc", Room(scratch)).decode().splitlines()
    assert [line.partition(":")[0].strip() for line in lines[2:]] in ([], ["lo"])


def test_what_a_program_prints_is_the_result_where_it_writes_no_file(tmp_path: Path, scratch: Path) -> None:
    body = 'sys.stdout.write(" ".join(sys.argv[1:-1]) + " " + open(sys.argv[-1]).read())'
    assert (
        convert(stand_in(tmp_path, body, prints=True), b"words", "doc", Room(scratch)) == b"-d utf-8 -w words"
    )


def test_leftovers_of_a_killed_conversion_are_deleted_by_the_next(tmp_path: Path, scratch: Path) -> None:
    left, alive = scratch / "appliance-convert-999999999-x", scratch / f"appliance-convert-{os.getppid()}-x"
    for folder in (left, alive):
        (folder / "profile").mkdir(parents=True)
    convert(stand_in(tmp_path, WRITES), b"x", "doc", Room(scratch))
    assert not left.exists()
    assert alive.exists()


def test_programs_are_found_on_the_path_best_first(tmp_path: Path) -> None:
    assert find_programs("doc", str(tmp_path)) == []
    program(tmp_path, "pass", "catdoc")
    program(tmp_path, "pass", "libreoffice")
    assert [found.name for found in find_programs("doc", str(tmp_path))] == ["LibreOffice", "catdoc"]
    assert [found.name for found in find_programs("ppt", str(tmp_path))] == ["LibreOffice"]
    assert find_programs("docx", str(tmp_path)) == []


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "old.doc"
    path.write_bytes(BROKEN_DOC)
    return path


def parser_with(
    folder: Path, body: str, monkeypatch: pytest.MonkeyPatch, limits: ParseLimits | None = None
) -> Parser:
    program(folder, body)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder / "scratch"))
    return Parser(limits or ParseLimits())


def test_a_document_that_our_reader_refuses_is_read_by_way_of_the_program(
    tmp_path: Path, scratch: Path, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = tmp_path / "newer.docx"
    newer.write_bytes(docx(p("Saved words")))
    body = f'import shutil\nshutil.copyfile({str(newer)!r}, sys.argv[-2] + "/source.docx")'
    parser = parser_with(tmp_path, body, monkeypatch)
    found = parser.parse(broken)
    parser.stop()
    assert found.outcome is Outcome.OK, found.reason
    assert [unit.text for unit in found.units] == ["Saved words"]
    assert (found.format, found.size) == ("doc", len(BROKEN_DOC))
    assert found.sha256 == hashlib.sha256(BROKEN_DOC).hexdigest()
    assert found.mtime_ns == broken.stat().st_mtime_ns
    assert "LibreOffice" in found.notes[0]
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    "body", ["time.sleep(600)", "sys.exit(1)", 'open(sys.argv[-2] + "/source.docx", "w")']
)
def test_what_our_reader_said_stands_when_the_program_fails(
    body: str, tmp_path: Path, scratch: Path, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = parser_with(tmp_path, body, monkeypatch, ParseLimits(convert_timeout_s=1.0))
    found = parser.parse(broken)
    parser.stop()
    assert found.outcome is Outcome.DAMAGED
    assert "order of its text" in found.reason
    assert list(scratch.iterdir()) == []


def test_no_program_is_started_for_good_or_locked_files_or_when_it_is_switched_off(
    tmp_path: Path, scratch: Path, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = 'open(told, "w").write("started")'
    parser = parser_with(tmp_path, told, monkeypatch, ParseLimits(convert=False))
    assert parser.parse(broken).outcome is Outcome.DAMAGED
    parser.stop()
    parser = parser_with(tmp_path, told, monkeypatch)
    good, locked = tmp_path / "good.doc", tmp_path / "locked.doc"
    good.write_bytes(Doc("words\r").bytes())
    locked.write_bytes(Doc("words\r", flags=0x0300).bytes())
    assert parser.parse(good).outcome is Outcome.OK
    assert parser.parse(locked).outcome is Outcome.NEEDS_PASSWORD
    parser.stop()
    assert not (tmp_path / "told").exists()


def test_a_killed_parse_server_leaves_no_program_and_no_files_behind(
    tmp_path: Path, scratch: Path, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = 'open(told, "a").write(f"{os.getpid()}\\n")\ntime.sleep(600)'
    parser = parser_with(tmp_path, body, monkeypatch, ParseLimits(convert_timeout_s=1.0))
    parser.start()
    killer = threading.Thread(target=kill_server, args=(parser, tmp_path / "told"))
    killer.start()
    found = parser.parse(broken)
    killer.join()
    parser.stop()
    assert found.outcome is Outcome.DAMAGED
    pids = [int(pid) for pid in (tmp_path / "told").read_text().split()]
    assert len(pids) >= 2, "it was converted once more after the kill"
    assert all(is_gone(pid) for pid in pids)
    assert list(scratch.iterdir()) == []


def kill_server(parser: Parser, told: Path) -> None:
    """Kill the parse server as soon as the program runs."""
    deadline = time.monotonic() + 20
    while not told.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    if parser.pid is not None:
        os.kill(parser.pid, signal.SIGKILL)


def test_the_real_program_converts(scratch: Path) -> None:
    found = [one for one in find_programs("doc") if one.name == "LibreOffice"]
    if not found:
        pytest.skip("LibreOffice is not installed")
    made = convert(found[0], Doc("Real words\r").bytes(), "doc", Room(scratch))
    assert sniff(made, "a.txt") == "docx"
    assert list(scratch.iterdir()) == []
