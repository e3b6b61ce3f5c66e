"""What this box has: cores and memory that this process may use, and what the processor can do.

Reads /proc and /sys, nothing else. Every function takes the root of the tree, so that recorded ones can be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from appliance import cgroup
from appliance.cores import EngineCores, allowed_cpus
from appliance.cores import engine_cores as choose_cores
from appliance.sysfiles import read_field, read_text

ROOT = Path("/")
_KIB = 1024

# What llama.cpp's kernels care about: the kernel's flag (x86) or feature (ARM) → our name.
_FEATURES = {
    "avx": "avx", "avx2": "avx2", "fma": "fma", "f16c": "f16c", "avx_vnni": "avx_vnni", "avx512f": "avx512",
    "avx512_vnni": "avx512_vnni", "avx512_bf16": "bf16", "amx_int8": "amx_int8", "asimd": "neon", "neon": "neon",
    "asimddp": "dotprod", "i8mm": "i8mm", "bf16": "bf16", "sve": "sve", "sme": "sme",
}  # fmt: skip
# Names that /proc/cpuinfo of an ARM does not give: implementer and part.
_ARM_PARTS = {
    ("0x41", "0xd03"): "Cortex-A53", ("0x41", "0xd08"): "Cortex-A72", ("0x41", "0xd0b"): "Cortex-A76",
    ("0x41", "0xd0c"): "Neoverse-N1", ("0x41", "0xd40"): "Neoverse-V1", ("0x41", "0xd4f"): "Neoverse-V2",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Machine:
    """The box at a glance.

    Attributes:
        cpu: the processor's name.
        n_cpus, n_cores, n_fast_cores: processors that we may use; the cores they make up; those that are no E-cores.
        n_usable: cores that we may keep busy, quota included.
        n_sockets, n_nodes: packages and NUMA nodes among them.
        features: see `cpu_features`.
        memory_bytes, free_bytes: under the limits of our cgroups.
    """

    cpu: str
    n_cpus: int
    n_cores: int
    n_fast_cores: int
    n_usable: int
    n_sockets: int
    n_nodes: int
    features: frozenset[str]
    memory_bytes: int
    free_bytes: int


def read_machine(root: Path = ROOT) -> Machine:
    """Look at the box."""
    cpus = allowed_cpus(root)
    return Machine(
        cpu=cpu_model(root),
        n_cpus=len(cpus),
        n_cores=len({cpu.core for cpu in cpus}),
        n_fast_cores=len({cpu.core for cpu in cpus if cpu.fast}),
        n_usable=usable_cores(root),
        n_sockets=len({cpu.socket for cpu in cpus}),
        n_nodes=len({cpu.node for cpu in cpus}),
        features=cpu_features(root),
        memory_bytes=memory_bytes(root),
        free_bytes=free_memory_bytes(root),
    )


def usable_cores(root: Path = ROOT) -> int:
    """Return the processors we may keep busy: our affinity, or our cgroups' quota if that is less; at least 1."""
    return max(1, min([len(allowed_cpus(root)), *map(int, cgroup.cpu_quotas(root))]))


def engine_cores(root: Path = ROOT, n_bytes: int = 0) -> EngineCores:
    """Return how many threads the engine should have, and where, for a model that needs `n_bytes`."""
    return choose_cores(allowed_cpus(root), min(cgroup.cpu_quotas(root), default=float("inf")), root, n_bytes)


def memory_bytes(root: Path = ROOT) -> int:
    """Return the memory that this process may use: the machine's, or its cgroups' limit if less."""
    return min([_meminfo(root, "MemTotal"), *(limit for limit, _ in cgroup.memory_limits(root))])


def free_memory_bytes(root: Path = ROOT) -> int:
    """Return the memory that can be had without swapping: the machine's, or what the cgroups leave if less."""
    return min([_meminfo(root, "MemAvailable"), *(free for _, free in cgroup.memory_limits(root))])


def cpu_features(root: Path = ROOT) -> frozenset[str]:
    """Return what the processor can do of that which makes llama.cpp fast: avx2, avx512_vnni, bf16, neon, …"""
    cpuinfo = root / "proc/cpuinfo"
    flags = (read_field(cpuinfo, "flags") or read_field(cpuinfo, "Features") or "").split()
    return frozenset(_FEATURES[flag] for flag in flags if flag in _FEATURES)


def cpu_model(root: Path = ROOT) -> str:
    """Return the processor's name, with the board's where that is a small computer."""
    cpuinfo = root / "proc/cpuinfo"
    name = read_field(cpuinfo, "model name")
    if name is None:
        part = read_field(cpuinfo, "CPU implementer") or "", read_field(cpuinfo, "CPU part") or ""
        name = _ARM_PARTS.get(part, " ".join(filter(None, part)) or "unknown")
    board = read_text(root / "proc/device-tree/model")
    return f"{name} ({board})" if board else name


def _meminfo(root: Path, name: str) -> int:
    return int((read_field(root / "proc/meminfo", name) or "0 kB").split()[0]) * _KIB
