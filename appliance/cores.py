"""The processors we may run on, and those that the engine should: which share a core, a socket, a speed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from appliance.sysfiles import parse_cpus, read_field, read_int, read_text

# Below this share of the fastest core's capacity a core is a slow one. Boost differs by a few percent among equal
# cores; an E-core has 0.65 to 0.8 of a P-core's clock, and Intel names its own anyway.
SLOW_BELOW = 0.8
_CPUS = "sys/devices/system/cpu"
_NODES = "sys/devices/system/node"


@dataclass(frozen=True, slots=True)
class Cpu:
    """A processor as the kernel numbers it: with SMT, one of several of a core.

    Attributes:
        core: the lowest processor of the same core.
        node: NUMA node; `socket`: package, which may hold several nodes.
        fast: no E-core, no little core.
    """

    number: int
    core: int
    socket: int
    node: int
    fast: bool


@dataclass(frozen=True, slots=True)
class EngineCores:
    """Where the engine's threads run.

    Attributes:
        n_threads: one a core.
        cpus: the processors they may use; empty: wherever the kernel likes.
        why: what was left out, for the log; empty: nothing.
    """

    n_threads: int
    cpus: tuple[int, ...]
    why: str


def allowed_cpus(root: Path) -> tuple[Cpu, ...]:
    """Return the processors of our affinity (cpusets are part of it), in order."""
    numbers = parse_cpus(read_field(root / "proc/self/status", "Cpus_allowed_list") or "0")
    speeds = {number: _speed(root, number) for number in numbers}
    fastest = max(speeds.values())
    slow = set(parse_cpus(read_text(root / "sys/devices/cpu_atom/cpus") or ""))  # Intel's E-cores
    nodes = _nodes(root)
    return tuple(
        Cpu(
            number=number,
            core=_core(root, number),
            socket=_socket(root, number),
            node=nodes.get(number, 0),
            fast=number not in slow and speeds[number] >= SLOW_BELOW * fastest,
        )
        for number in numbers
    )


def engine_cores(cpus: Iterable[Cpu], quota: float, root: Path, n_bytes: int = 0) -> EngineCores:
    """Choose cores for the engine: one thread a core, fast cores, one socket.

    A step waits for its slowest thread, so a second thread of a core or an E-core costs more than it adds: llama.cpp's
    own tools count the same way (common/common.cpp: cpu_get_num_math). Weights read across sockets come over the
    link between them, which is slower than memory; only a model too large for one socket's memory uses both.

    Args:
        quota: cores that the cgroups allow; infinity: all.
        n_bytes: what the model needs; 0: anything fits.
    """
    every = tuple(cpus)
    chosen = tuple(cpu for cpu in every if cpu.fast)
    left_out = ["slow cores"] if len(chosen) < len(every) else []
    sockets = sorted({cpu.socket for cpu in chosen}, key=lambda socket: (-_n_cores(chosen, socket), socket))
    if len(sockets) > 1 and n_bytes <= _socket_memory(root, chosen, sockets[0]):
        chosen = tuple(cpu for cpu in chosen if cpu.socket == sockets[0])
        left_out.append(f"every socket but {sockets[0]}")
    n_cores = len({cpu.core for cpu in chosen})
    n_threads = max(1, min(n_cores, int(min(quota, n_cores))))
    pinned = tuple(cpu.number for cpu in chosen) if left_out else ()
    return EngineCores(n_threads, pinned, " and ".join(left_out))


def _n_cores(cpus: Iterable[Cpu], socket: int) -> int:
    return len({cpu.core for cpu in cpus if cpu.socket == socket})


def _core(root: Path, number: int) -> int:
    topology = root / _CPUS / f"cpu{number}" / "topology"
    siblings = read_text(topology / "core_cpus_list") or read_text(topology / "thread_siblings_list")
    return min(parse_cpus(siblings), default=number) if siblings else number


def _socket(root: Path, number: int) -> int:
    package = read_int(root / _CPUS / f"cpu{number}/topology/physical_package_id")
    return max(0, package or 0)  # -1 on boards that name none


def _speed(root: Path, number: int) -> int:
    """Return a processor's capacity (ARM) or highest clock; where the kernel says neither, all are alike."""
    folder = root / _CPUS / f"cpu{number}"
    return read_int(folder / "cpu_capacity") or read_int(folder / "cpufreq/cpuinfo_max_freq") or 0


def _nodes(root: Path) -> dict[int, int]:
    found: dict[int, int] = {}
    for folder in (root / _NODES).glob("node[0-9]*"):
        node = int(folder.name.removeprefix("node"))
        found |= dict.fromkeys(parse_cpus(read_text(folder / "cpulist") or ""), node)
    return found


def _socket_memory(root: Path, cpus: Iterable[Cpu], socket: int) -> int:
    """Return the bytes of memory at a socket: that of its nodes."""
    total = 0
    for node in {cpu.node for cpu in cpus if cpu.socket == socket}:
        said = read_field(root / _NODES / f"node{node}/meminfo", f"Node {node} MemTotal") or "0 kB"
        total += int(said.split()[0]) * 1024
    return total
