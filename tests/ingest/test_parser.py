"""The parse server and its children: limits, deaths and restarts, with real processes and real files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from ingest.errors import ParserStoppedError
from ingest.limits import ParseLimits
from ingest.parser import Parser
from ingest.unit import Outcome, Parsed
from tests.ingest.made_files import docx, flate_bomb, lines_at, p, pdf
from tests.processes import has_ended

Make = Callable[..., Parser]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Parser] = []

    def start(**limits: float) -> Parser:
        parser = Parser(ParseLimits(**limits))  # type: ignore[arg-type]
        parser.start()
        made.append(parser)
        return parser

    yield start
    for parser in made:
        parser.stop()


def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not come true in time"
        time.sleep(0.005)


def slow_file(folder: Path) -> Path:
    """Return a text that takes a reader some seconds."""
    path = folder / "slow.txt"
    path.write_bytes(b"A line of text that has to be read.\n" * 120_000)
    return path


def in_thread(parser: Parser, path: Path) -> tuple[threading.Thread, list[Parsed | Exception]]:
    results: list[Parsed | Exception] = []

    def run() -> None:
        try:
            results.append(parser.parse(path))
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


def test_a_file_is_read_with_its_facts(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "handbook.docx"
    path.write_bytes(docx(p("Staff have 27 days.")))
    parsed = make().parse(path)
    assert (parsed.outcome, parsed.format, parsed.title) == (Outcome.OK, "docx", "handbook")
    assert [unit.text for unit in parsed.units] == ["Staff have 27 days."]
    assert parsed.sha256 == sha256(path.read_bytes()).hexdigest()
    assert (parsed.size, parsed.mtime_ns) == (path.stat().st_size, path.stat().st_mtime_ns)
    assert 0 < parsed.peak_mb < 200
    assert parsed.seconds > 0


def test_one_server_reads_many_files_each_in_its_own_child(make: Make, tmp_path: Path) -> None:
    parser = make()
    (tmp_path / "a.txt").write_text("words")
    parser.parse(tmp_path / "a.txt")
    server = parser.pid
    for _ in range(5):
        assert parser.parse(tmp_path / "a.txt").outcome is Outcome.OK
    assert parser.pid == server


def test_a_name_in_any_bytes_is_read(make: Make, tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/gr\xf6\xdfe\n.txt"
    Path(os.fsdecode(name)).write_text("words")
    parsed = make().parse(Path(os.fsdecode(name)))
    assert parsed.outcome is Outcome.OK
    parsed.title.encode("utf-8")


@pytest.mark.parametrize(
    ("name", "data", "outcome", "reason"),
    [
        ("a.txt", b"", Outcome.EMPTY, "0 bytes"),
        ("a.txt", b" \n", Outcome.EMPTY, "no text in it"),
        (
            "a.pdf",
            b"SQLite format 3\0" + b"\0" * 30,
            Outcome.UNSUPPORTED,
            "this is a database (SQLite): files of this kind are not read",
        ),
        ("a.docx", b"\x7fELF" + b"\0" * 30, Outcome.UNSUPPORTED, "this is a program"),
        (
            "a.docx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            Outcome.NEEDS_PASSWORD,
            "save a copy without one",
        ),
        ("a.pdf", pdf(lines_at(72, 700, ["words"]))[:200], Outcome.DAMAGED, "cut off or broken"),
        ("a.txt", b"x" * (1024 * 1024 + 1), Outcome.TOO_LARGE, "files over 1 MB are not read"),
    ],
)
def test_what_cannot_be_read_says_why_in_plain_words(
    make: Make, tmp_path: Path, name: str, data: bytes, outcome: Outcome, reason: str
) -> None:
    (tmp_path / name).write_bytes(data)
    parsed = make(max_file_mb=1).parse(tmp_path / name)
    assert parsed.outcome is outcome
    assert reason in parsed.reason
    assert parsed.units == ()


def test_only_files_are_opened(make: Make, tmp_path: Path) -> None:
    parser = make()
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "secret.txt").write_text("words")
    (tmp_path / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert parser.parse(tmp_path / "pipe.txt").outcome is Outcome.UNSUPPORTED
    assert parser.parse(tmp_path).outcome is Outcome.UNSUPPORTED
    assert parser.parse(tmp_path / "link.txt").outcome is Outcome.DAMAGED
    assert "cannot be opened" in parser.parse(tmp_path / "absent.txt").reason


def test_a_file_that_takes_too_long_is_stopped(make: Make, tmp_path: Path) -> None:
    parser = make(timeout_s=0.5, timeout_per_mb_s=0)
    parsed = parser.parse(slow_file(tmp_path))
    assert parsed.outcome is Outcome.TIMEOUT
    assert parsed.sha256, "what is known of the file before it was stopped is kept"
    (tmp_path / "next.txt").write_text("words")
    assert parser.parse(tmp_path / "next.txt").outcome is Outcome.OK


def test_a_file_with_more_text_than_the_cap_is_stopped(make: Make, tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_bytes(b"A line of text.\n" * 100_000)
    parsed = make(max_output_mb=1).parse(tmp_path / "big.txt")
    assert parsed.outcome is Outcome.TOO_LARGE
    assert "more text than the limit of 1 MB" in parsed.reason


def test_a_bomb_kills_its_child_and_no_one_else(make: Make, tmp_path: Path) -> None:
    (tmp_path / "bomb.pdf").write_bytes(flate_bomb(300))
    parser = make(memory_mb=200)
    (tmp_path / "good.txt").write_text("words")
    parser.parse(tmp_path / "good.txt")
    server = parser.pid
    parsed = parser.parse(tmp_path / "bomb.pdf")
    assert parsed.outcome in (Outcome.CRASHED, Outcome.TOO_LARGE)
    assert "200 MB" in parsed.reason
    assert parsed.format == "pdf"
    assert parsed.peak_mb < 250
    assert parser.pid == server
    assert parser.parse(tmp_path / "good.txt").outcome is Outcome.OK


def kill_the_child_of(parser: Parser, not_this: int | None = None) -> int:
    until(lambda: parser.child_pid not in (None, not_this))
    assert parser.child_pid
    os.kill(parser.child_pid, signal.SIGKILL)
    return parser.child_pid


def test_a_child_that_someone_kills_says_nothing_of_the_file_which_is_read_again(
    make: Make, tmp_path: Path
) -> None:
    parser = make()
    thread, results = in_thread(parser, slow_file(tmp_path))
    server, killed = parser.pid, kill_the_child_of(parser)
    until(lambda: parser.child_pid not in (None, killed))
    thread.join(60)
    assert isinstance(results[0], Parsed)
    assert results[0].outcome is Outcome.OK
    assert parser.pid == server or server is None


def test_a_file_whose_child_is_killed_twice_is_given_up(make: Make, tmp_path: Path) -> None:
    parser = make()
    thread, results = in_thread(parser, slow_file(tmp_path))
    kill_the_child_of(parser, not_this=kill_the_child_of(parser))
    thread.join(20)
    assert isinstance(results[0], Parsed)
    assert results[0].outcome is Outcome.CRASHED
    assert "killed twice" in results[0].reason


def test_a_killed_server_is_started_again_and_the_file_read(make: Make, tmp_path: Path) -> None:
    parser = make()
    thread, results = in_thread(parser, slow_file(tmp_path))
    until(lambda: parser.child_pid)
    server, child = parser.pid, parser.child_pid
    assert server
    assert child
    os.kill(server, signal.SIGKILL)
    thread.join(60)
    assert isinstance(results[0], Parsed)
    assert results[0].outcome is Outcome.OK
    assert parser.pid != server
    until(lambda: has_ended(child))


def test_a_server_killed_between_files_is_not_noticed(make: Make, tmp_path: Path) -> None:
    parser = make()
    (tmp_path / "a.txt").write_text("words")
    parser.parse(tmp_path / "a.txt")
    assert parser.pid
    os.kill(parser.pid, signal.SIGKILL)
    assert parser.parse(tmp_path / "a.txt").outcome is Outcome.OK


def test_stopping_while_a_file_is_read_says_nothing_about_the_file(make: Make, tmp_path: Path) -> None:
    parser = make()
    thread, results = in_thread(parser, slow_file(tmp_path))
    until(lambda: parser.child_pid)
    server, child = parser.pid, parser.child_pid
    assert server
    assert child
    parser.stop()
    thread.join(10)
    assert isinstance(results[0], ParserStoppedError)
    until(lambda: has_ended(server) and has_ended(child))


def test_a_parser_can_be_started_again(make: Make, tmp_path: Path) -> None:
    parser = make()
    (tmp_path / "a.txt").write_text("words")
    parser.stop()
    with pytest.raises(ParserStoppedError):
        parser.parse(tmp_path / "a.txt")
    parser.start()
    assert parser.parse(tmp_path / "a.txt").outcome is Outcome.OK


def test_the_server_ends_with_the_daemon_even_while_a_file_is_read(tmp_path: Path) -> None:
    daemon = subprocess.Popen(
        [sys.executable, "-c", DAEMON, str(slow_file(tmp_path))],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert daemon.stdout
    with daemon.stdout:
        server, child = map(int, daemon.stdout.readline().split())
    daemon.kill()
    daemon.wait()
    until(lambda: has_ended(server) and has_ended(child))


DAEMON = """
import sys, threading, time
from pathlib import Path
from ingest.limits import ParseLimits
from ingest.parser import Parser
parser = Parser(ParseLimits())
threading.Thread(target=parser.parse, args=(Path(sys.argv[1]),)).start()
while not parser.child_pid:
    time.sleep(0.001)
print(parser.pid, parser.child_pid, flush=True)
time.sleep(60)
"""


def test_the_server_has_one_thread_and_fits_its_own_limit(make: Make, tmp_path: Path) -> None:
    parser = make()
    (tmp_path / "a.txt").write_text("words")
    parser.parse(tmp_path / "a.txt")
    lines = Path(f"/proc/{parser.pid}/status").read_text().splitlines()
    facts = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    assert int(facts["Threads"]) == 1
    assert int(facts["VmSize"].split()[0]) < 256 * 1024, "a child begins with what the server has mapped"


def test_a_child_has_nothing_left_to_import(tmp_path: Path) -> None:
    samples = {
        "a.docx": docx(p("words")),
        "a.pdf": pdf(lines_at(72, 700, ["some words"])),
        "a.txt": "Größe, 青森県産の林檎です".encode("utf-16-le"),
        "b.txt": "青森県産の林檎です。とても甘いです。".encode("cp932"),
        "a.csv": "Größe;Preis\n1;2\n".encode("cp1252"),
        "a.html": b"<html><h1>Head</h1><p>words",
        "a.md": b"# Head\n\nwords",
    }
    for name, data in samples.items():
        (tmp_path / name).write_bytes(data)
    command = [sys.executable, "-c", CHILD_IMPORTS, *(str(tmp_path / name) for name in samples)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=True)
    assert done.stdout == "[]\n"


CHILD_IMPORTS = """
import sys
from ingest import parse_server
from ingest.limits import ParseLimits
from ingest.parse_child import attempt
from ingest.parse_wire import Request
from ingest.sniff import sniff
parse_server.preload()
before = set(sys.modules)
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        data = file.read()
    assert attempt(data, sniff(data, path), path, Request(path, ParseLimits())).units, path
print(sorted(set(sys.modules) - before))
"""


def test_a_child_runs_under_its_limits(make: Make, tmp_path: Path) -> None:
    parser = make()
    thread, _ = in_thread(parser, slow_file(tmp_path))
    until(lambda: parser.child_pid)
    pid = parser.child_pid
    stat = Path(f"/proc/{pid}/stat")
    until(lambda: stat.read_text().rpartition(")")[2].split()[16] == "19")
    until(lambda: "1073741824" in Path(f"/proc/{pid}/limits").read_text())
    limits = Path(f"/proc/{pid}/limits").read_text()
    status = Path(f"/proc/{pid}/status").read_text()
    descriptors = os.listdir(f"/proc/{pid}/fd")
    os.kill(int(pid or 0), signal.SIGKILL)
    thread.join(10)
    named = {line[:26].strip(): line[26:].split()[0] for line in limits.splitlines()[1:]}
    assert named["Max address space"] == str(1024 * 1024 * 1024)
    assert named["Max file size"] == named["Max core file size"] == "0"
    assert named["Max open files"] == "64"
    assert "NoNewPrivs:\t1" in status
    assert len(descriptors) <= 5, "null device, pipe and the file: no socket to the daemon"


def test_the_answer_survives_the_wire() -> None:
    parsed = Parsed(Outcome.NEEDS_OCR, "a scan", "pdf", n_pages=3, sha256="ab", size=1, mtime_ns=2)
    assert Parsed.from_json(json.loads(json.dumps(parsed.to_json()))) == parsed


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": "fine"},
        {"units": [{"text": 1, "locator": {}, "kind": "paragraph"}]},
        {"units": [{"text": "x", "locator": {"door": 1}, "kind": "paragraph"}]},
        {"reason": None},
        {"n_pages": "3"},
        {"unknown": 1},
    ],
)
def test_an_answer_that_is_not_ours_is_refused(change: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        Parsed.from_json(Parsed(Outcome.OK).to_json() | change)
