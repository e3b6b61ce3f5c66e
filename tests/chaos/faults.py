"""What happens to a box: processes die, files of its state are damaged, its disk fills up. A function, a fault.

Those that damage files kill the daemon first. Each says what it did.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path

from appliance.api.schema import AskEvent, ErrorEvent, TokenEvent
from appliance.client import Client
from tests.chaos import agreement
from tests.chaos.ordeal import DisagreementError, Fault, Ordeal, until_none
from tests.processes import children, has_ended

CHILD_S = 20.0  # to wait for a parse child to kill
FULL_S = 3.0


def daemon_killed(ordeal: Ordeal) -> str:
    """Kill the daemon; what it started ends by itself."""
    ordeal.daemon.kill()
    until_none(lambda: [f"left over: {pid} {name}" for pid, name in agreement.processes_of(ordeal.home)])
    return "daemon killed"


def daemon_killed_while_it_starts(ordeal: Ordeal) -> str:
    """Kill the daemon, start it, and kill it again somewhere on the way."""
    daemon_killed(ordeal)
    ordeal.daemon.launch()
    seconds = ordeal.rng.uniform(0, 4)
    time.sleep(seconds)
    ordeal.daemon.kill()
    return f"daemon killed, and again {seconds:.1f} s after its start"


def machine_killed(ordeal: Ordeal) -> str:
    """Kill everything at once."""
    pids = [pid for pid, _ in agreement.processes_of(ordeal.home)]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    ordeal.daemon.kill()
    until_none(lambda: [f"{pid} does not end" for pid in pids if not has_ended(pid)])
    return f"all {len(pids)} processes killed"


def daemon_stopped(ordeal: Ordeal) -> str:
    """Stop the daemon in good order, in the middle of its work; then the index must be the record's."""
    ordeal.end()
    return "daemon stopped"


def engine_killed(ordeal: Ordeal) -> str:
    """Kill the engine in mid-answer: one error ends the answer, and the next question is answered."""
    ordeal.daemon.until(lambda status: status.engine.state == "ready", 120)
    asyncio.run(_ask_and_kill(ordeal))
    ordeal.daemon.until(lambda status: status.engine.state == "ready", 120)
    last = asyncio.run(ordeal.daemon.ask("When is the alarm tested?"))[-1]
    if last.event != "done":
        raise DisagreementError(f"after a killed engine: {last}")
    return "engine killed in mid-answer"


async def _ask_and_kill(ordeal: Ordeal) -> None:
    ends, killed = list[AskEvent](), False
    async with Client(ordeal.daemon.socket) as client:
        async for event in client.ask("When is the alarm tested, and where does the key of the gate lie?"):
            if isinstance(event, TokenEvent) and not killed:
                pid = (await client.status()).engine.pid
                assert pid is not None
                os.kill(pid, signal.SIGKILL)
                killed = True
            if event.event == "done" or isinstance(event, ErrorEvent):
                ends.append(event)
    if len(ends) != 1:
        raise DisagreementError(f"an answer ended {len(ends)} times: {ends}")


def parse_server_killed(ordeal: Ordeal) -> str:
    """Kill the parse server; its child ends with it."""
    for pid in children(ordeal.daemon.pid, "ingest.parse_server"):
        os.kill(pid, signal.SIGKILL)
    return "parse server killed"


def parse_child_killed(ordeal: Ordeal) -> str:
    """Kill a child of the parse server while it reads."""
    path, deadline = ordeal.folder.add("scan"), time.monotonic() + CHILD_S
    daemon = ordeal.daemon.pid
    while time.monotonic() < deadline:
        for server in children(daemon, "ingest.parse_server"):
            for pid in children(server, "ingest.parse_server"):
                os.kill(pid, signal.SIGKILL)
                return f"parse child killed, {path} is new"
        time.sleep(0.005)
    return "no parse child seen"


# --- the index ---


def index_overwritten(ordeal: Ordeal) -> str:
    """Overwrite some bytes of each of Chroma's files."""
    daemon_killed(ordeal)
    for file in _index_files(ordeal):
        with open(file, "r+b") as damaged:
            for _ in range(20):
                damaged.seek(ordeal.rng.randrange(max(1, file.stat().st_size)))
                damaged.write(ordeal.rng.randbytes(64))
    return "bytes of the index overwritten"


def index_file_deleted(ordeal: Ordeal) -> str:
    """Delete one of Chroma's files."""
    daemon_killed(ordeal)
    file = ordeal.rng.choice(_index_files(ordeal))
    file.unlink()
    return f"{file.name} of the index deleted"


def index_database_replaced(ordeal: Ordeal) -> str:
    """Replace Chroma's database with noise."""
    daemon_killed(ordeal)
    for file in _index_files(ordeal):
        if file.suffix == ".sqlite3":
            file.write_bytes(ordeal.rng.randbytes(200_000))
    return "database of the index replaced by noise"


def index_facts_damaged(ordeal: Ordeal) -> str:
    """Cut off what is known of the index."""
    daemon_killed(ordeal)
    file = ordeal.state / "chroma" / "index.json"
    data = file.read_bytes()
    file.write_bytes(data[: ordeal.rng.randrange(len(data))])
    return "index.json cut off"


def _index_files(ordeal: Ordeal) -> list[Path]:
    return sorted(path for path in (ordeal.state / "chroma").glob("index-*/**/*") if path.is_file())


# --- the record ---


def wal_cut(ordeal: Ordeal) -> str:
    """Cut the record's write-ahead log at any byte: its last commits are lost, or more."""
    daemon_killed(ordeal)
    wal = ordeal.state / "library.db-wal"
    size = wal.stat().st_size if wal.exists() else 0
    left = ordeal.rng.randrange(size + 1)
    if size:
        os.truncate(wal, left)
    return f"the record's WAL cut from {size} to {left} bytes"


def record_overwritten(ordeal: Ordeal) -> str:
    """Overwrite pages of the record: it must be read anew from the folder."""
    daemon_killed(ordeal)
    file = ordeal.state / "library.db"
    with open(file, "r+b") as damaged:
        for _ in range(4):
            damaged.seek(ordeal.rng.randrange(max(1, file.stat().st_size)))
            damaged.write(ordeal.rng.randbytes(8192))
    return "pages of the record overwritten"


# --- the disk ---


def disk_full(ordeal: Ordeal) -> str:
    """Fill the disk while files come; questions must be answered; then make room."""
    assert ordeal.disk is not None
    ordeal.disk.fill()
    ordeal.folder.add("txt")
    _live_on_a_full_disk(ordeal)
    problem = (
        asyncio.run(ordeal.daemon.status()).ingest.problem if ordeal.daemon.is_running else "(no daemon)"
    )
    ordeal.disk.make_room()
    return f"disk full for a while: {problem[:60]}"


def disk_full_and_daemon_killed(ordeal: Ordeal) -> str:
    """Kill the daemon on a full disk, and start it there; it may refuse in one line, until there is room."""
    assert ordeal.disk is not None
    ordeal.disk.fill()
    ordeal.folder.add("txt")
    _live_on_a_full_disk(ordeal)
    daemon_killed(ordeal)
    ordeal.daemon.launch()
    time.sleep(ordeal.rng.uniform(4, 8))
    is_running = ordeal.daemon.is_running
    ordeal.disk.make_room()
    return f"daemon killed on a full disk, {'started' if is_running else 'not started'} on it"


def _live_on_a_full_disk(ordeal: Ordeal) -> None:
    began = time.monotonic()
    while time.monotonic() - began < FULL_S:
        ordeal.search()
        ordeal.folder.disturb()


KILLS: Mapping[str, Fault] = {
    fault.__name__: fault
    for fault in (
        daemon_killed, daemon_killed_while_it_starts, machine_killed, daemon_stopped, engine_killed,
        parse_server_killed, parse_child_killed,
    )
}  # fmt: skip
DAMAGES: Mapping[str, Fault] = {
    fault.__name__: fault
    for fault in (
        index_overwritten, index_file_deleted, index_database_replaced, index_facts_damaged, wal_cut,
        record_overwritten,
    )
}  # fmt: skip
DISK: Mapping[str, Fault] = {fault.__name__: fault for fault in (disk_full, disk_full_and_daemon_killed)}
