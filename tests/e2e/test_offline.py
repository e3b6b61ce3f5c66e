"""Nothing in the running product opens a connection off the machine, and nothing heavy is loaded by default."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import short_home
from tests.e2e.daemon_process import DaemonProcess
from tests.e2e.files import BOILER
from tests.processes import children

# A machine of its own whose only way out is an interface that counts every packet and loses it: a library that tries
# to call out, be it from Python, C++ or Rust, by name or by address, shows in the counter. The addresses are
# reserved for documentation (RFC 5737). Connections to loopback would show too: the product needs none.
_BLACK_HOLE = """
set -e
ip link set lo up
ip link add hole type veth peer name drain
for end in hole drain; do
  sysctl -qw net.ipv6.conf.$end.disable_ipv6=1 2>/dev/null || true
  ip link set $end up
done
ip addr add 192.0.2.1/24 dev hole
ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev hole
ip route add default via 192.0.2.2 dev hole
exec "$@"
"""
_SENT = "/proc/{pid}/net/dev"


def packets_sent(pid: int) -> dict[str, int]:
    """Packets sent by each interface of the network that `pid` lives in."""
    rows = Path(_SENT.format(pid=pid)).read_text().splitlines()[2:]
    return {row.split(":")[0].strip(): int(row.split(":")[1].split()[9]) for row in rows}


@pytest.fixture(scope="module")
def cut_off(models_folder: Path) -> Iterator[DaemonProcess]:
    """A daemon on a machine whose every outgoing packet is counted."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("needs unshare and ip: apt-get install util-linux iproute2")
    wrapper = [
        "unshare",
        "--net",
        *([] if os.geteuid() == 0 else ["--map-root-user"]),
        "sh",
        "-c",
        _BLACK_HOLE,
        "sh",
    ]
    if subprocess.run([*wrapper, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("network namespaces are not permitted here")
    with short_home() as home:
        running = DaemonProcess(Path(home), models_folder, wrapper)
        running.start()
        yield running
        running.stop()


def test_the_counter_counts(cut_off: DaemonProcess) -> None:
    """Without this the next test could not fail."""
    enter = ["nsenter", "--net", "--target", str(cut_off.pid), "--"]
    before = packets_sent(cut_off.pid)["hole"]
    send = (
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('198.51.100.1', 53))"
    )
    if subprocess.run([*enter, "python3", "-c", send], capture_output=True, check=False).returncode != 0:
        pytest.skip("nsenter is not permitted here")
    assert packets_sent(cut_off.pid)["hole"] == before + 1


def test_start_ingest_search_and_answer_send_no_packet(cut_off: DaemonProcess) -> None:
    before = packets_sent(cut_off.pid)
    (cut_off.documents / "boiler.pdf").write_bytes(BOILER)
    cut_off.until_states(boiler="ready")
    assert (
        asyncio.run(cut_off.ask("At what pressure does the safety valve of the boiler open?"))[-1].event
        == "done"
    )
    assert asyncio.run(cut_off.found("boiler"))
    assert packets_sent(cut_off.pid) == before
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
