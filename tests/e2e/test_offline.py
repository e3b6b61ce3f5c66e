"""Nothing in the running product opens a connection off the machine, and nothing heavy is loaded by default."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import black_hole
from tests.e2e.conftest import short_home
from tests.e2e.daemon_process import DaemonProcess
from tests.e2e.files import BOILER
from tests.processes import children


@pytest.fixture(scope="module")
def cut_off(models_folder: Path) -> Iterator[DaemonProcess]:
    """A daemon on a machine whose every outgoing packet is counted."""
    try:
        wrapper = black_hole.inside()
    except black_hole.NoNetworkError as error:
        pytest.skip(str(error))
    with short_home() as home:
        running = DaemonProcess(Path(home), models_folder, wrapper)
        running.start()
        yield running
        running.stop()


def test_the_counter_counts(cut_off: DaemonProcess) -> None:
    """Without this the next test could not fail."""
    enter = ["nsenter", "--net", "--target", str(cut_off.pid), "--"]
    before = black_hole.packets_sent(cut_off.pid)["hole"]
    send = (
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('198.51.100.1', 53))"
    )
    if subprocess.run([*enter, "python3", "-c", send], capture_output=True, check=False).returncode != 0:
        pytest.skip("nsenter is not permitted here")
    assert black_hole.packets_sent(cut_off.pid)["hole"] == before + 1


def test_start_ingest_search_and_answer_send_no_packet(cut_off: DaemonProcess) -> None:
    before = black_hole.packets_sent(cut_off.pid)
    (cut_off.documents / "boiler.pdf").write_bytes(BOILER)
    cut_off.until_states(boiler="ready")
    assert (
        asyncio.run(cut_off.ask("At what pressure does the safety valve of the boiler open?"))[-1].event
        == "done"
    )
    assert asyncio.run(cut_off.found("boiler"))
    assert black_hole.packets_sent(cut_off.pid) == before
    assert before["lo"] == 0
    assert before["hole"] <= 1  # the one that the test before this sent


def test_the_running_daemon_has_not_loaded_torch_and_never_inference_beside_the_engine(
    daemon: DaemonProcess,
) -> None:
    mapped = Path(f"/proc/{daemon.pid}/maps").read_text()
    assert "onnxruntime" in mapped
    assert "torch" not in mapped
    assert "llama" not in mapped
    (engine,) = children(daemon.pid, "appliance.engine.serve")
    assert "llama" in Path(f"/proc/{engine}/maps").read_text()


def test_no_telemetry_store_appears(own_daemon: DaemonProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    home = own_daemon.home / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    own_daemon.start(loaded=False)
    (own_daemon.documents / "boiler.pdf").write_bytes(BOILER)
    own_daemon.until_states(boiler="ready")
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_this_suite_itself_cannot_call_out() -> None:
    with socket.socket() as outward, pytest.raises(AssertionError, match=r"198\.51\.100\.1"):
        outward.connect(("198.51.100.1", 80))
