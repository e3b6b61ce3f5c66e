"""kill -9 of each process in mid-work loses nothing."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time

from appliance.api.schema import ErrorEvent, PrefillEvent
from appliance.client import Client
from appliance.errors import NotRunningError
from tests.e2e.daemon_process import DaemonProcess
from tests.e2e.files import BOILER, pdf
from tests.processes import children, has_ended

LINE = "The torque of every bolt on this flange is 21 Nm, to be checked once a year.\n"
QUESTION = "At what pressure does the safety valve of the boiler open?"


def until_child_of(server: int) -> int:
    """Wait until the parse server has a child, and return its pid."""
    deadline = time.monotonic() + 30
    while not (found := children(server, "ingest.parse_server")):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return found[0]


async def ask_and_kill_the_engine(daemon: DaemonProcess) -> ErrorEvent:
    async with Client(daemon.socket) as client:
        killed = False
        async for event in client.ask(QUESTION):
            if (
                isinstance(event, PrefillEvent) and not killed
            ):  # a short answer ends before its first words show
                engine = (await client.status()).engine
                assert engine.pid is not None
                os.kill(engine.pid, signal.SIGKILL)
                killed = True
            if isinstance(event, ErrorEvent):
                return event
    raise AssertionError("the answer ended as if nothing had happened")


def test_a_killed_engine_says_so_and_comes_back(own_daemon: DaemonProcess) -> None:
    (own_daemon.documents / "boiler.pdf").write_bytes(BOILER)
    own_daemon.start()
    own_daemon.until_states(boiler="ready")
    error = asyncio.run(ask_and_kill_the_engine(own_daemon))
    assert (error.code, error.retryable) == ("engine_lost", True)
    own_daemon.until(lambda status: status.engine.state == "ready" and status.engine.n_restarts == 1)
    assert asyncio.run(own_daemon.ask(QUESTION))[-1].event == "done"


def test_a_killed_daemon_takes_its_children_along_and_goes_on_where_it_was(own_daemon: DaemonProcess) -> None:
    for number in range(8):
        pages = [
            f"Manual {number}, section {page}: bolt M{number} is set to {page}.5 Nm." for page in range(1, 40)
        ]
        (own_daemon.documents / f"manual{number}.pdf").write_bytes(pdf(pages))
    own_daemon.start()
    own_daemon.until(lambda status: 0 < status.ingest.counts.get("ready", 0) < 8)
    pid = own_daemon.pid
    below = children(pid, "appliance.engine.serve") + children(pid, "ingest.parse_server")
    assert len(below) == 2
    own_daemon.kill()
    own_daemon.start()
    assert not [child for child in below if not has_ended(child)]
    own_daemon.until(lambda status: status.ingest.counts == {"ready": 8})
    assert asyncio.run(own_daemon.found("bolt M5 set to 17.5 Nm"))[0].startswith("manual5.pdf, page 17")
    n_chunks = sum(document.n_chunks for document in asyncio.run(own_daemon.listing()).documents)
    own_daemon.until(lambda status: status.index.n_vectors == n_chunks)  # the index follows the record


def test_parse_child_and_parse_server_killed_in_mid_work_cost_nothing(own_daemon: DaemonProcess) -> None:
    own_daemon.start()
    (own_daemon.documents / "book.pdf").write_bytes(pdf([f"Page {n}\n" + LINE * 40 for n in range(400)]))
    own_daemon.until(lambda status: status.ingest.current == "book.pdf")
    (server,) = children(own_daemon.pid, "ingest.parse_server")
    os.kill(until_child_of(server), signal.SIGKILL)
    until_child_of(server)
    os.kill(server, signal.SIGKILL)
    own_daemon.until_states(book="ready")
    assert children(own_daemon.pid, "ingest.parse_server") != [server]


def test_a_second_daemon_on_one_home_refuses_and_names_the_first(daemon: DaemonProcess) -> None:
    second = daemon.run("serve")
    assert second.returncode == 2
    assert f"pid {daemon.pid}" in second.stderr


def test_a_daemon_that_is_told_to_stop_stops_though_someone_watches(own_daemon: DaemonProcess) -> None:
    own_daemon.start(loaded=False)

    async def watch() -> None:
        async with Client(own_daemon.socket) as client:
            async for _ in client.watch_documents():
                os.kill((await client.status()).pid, signal.SIGTERM)

    with contextlib.suppress(NotRunningError):
        asyncio.run(watch())
    assert own_daemon.kill(0) == 0
    assert not own_daemon.socket.exists()
