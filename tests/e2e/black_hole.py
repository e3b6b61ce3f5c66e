"""A network whose every outgoing packet is counted and lost."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

# A machine of its own whose only way out is an interface that counts every packet and loses it: a library that tries
# to call out, be it from Python, C++ or Rust, by name or by address, shows in the counter. The addresses are
# reserved for documentation (RFC 5737). Connections to loopback would show too: the product needs none.
_SET_UP = """
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


class NoNetworkError(Exception):
    """Networks of one's own cannot be had here; the message says what is missing."""


def inside() -> list[str]:
    """Return the beginning of a command line that runs the rest of it in such a network.

    Raises:
        NoNetworkError: tools or rights are missing.
    """
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        raise NoNetworkError("needs unshare and ip: apt-get install util-linux iproute2")
    wrapper = [
        "unshare",
        "--net",
        *([] if os.geteuid() == 0 else ["--map-root-user"]),
        "sh",
        "-c",
        _SET_UP,
        "sh",
    ]
    if subprocess.run([*wrapper, "true"], capture_output=True, check=False).returncode != 0:
        raise NoNetworkError("network namespaces are not permitted here")
    return wrapper


def packets_sent(pid: int) -> dict[str, int]:
    """Packets sent by each interface of the network that `pid` lives in."""
    rows = Path(_SENT.format(pid=pid)).read_text().splitlines()[2:]
    return {row.split(":")[0].strip(): int(row.split(":")[1].split()[9]) for row in rows}
