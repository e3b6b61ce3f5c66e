"""The machine under measurement, in the words that make figures comparable. Reads /proc."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from appliance import hardware

ROOT = Path("/")
# The instruction sets that llama.cpp's kernels choose by; the other hundred flags change nothing here.
FEATURES = (
    "sse4_2", "avx", "f16c", "fma", "avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8",
    "asimd", "asimddp", "i8mm", "sve", "sve2",
)  # fmt: skip
BUSY_LOAD = 1.0  # one process that runs all the time


@dataclass(frozen=True, slots=True)
class Machine:
    """What the figures were measured on.

    Attributes:
        n_cores: usable by us (affinity and cgroup quota).
        load_before: processes that ran or wanted to, on average over the minute before the start.
    """

    cpu: str
    n_cores: int
    features: tuple[str, ...]
    memory_gib: float
    system: str
    llama_cpp_python: str
    load_before: float

    @property
    def is_busy(self) -> bool:
        """Whether others were at work, so that the figures cannot be trusted."""
        return self.load_before > BUSY_LOAD


def describe(root: Path = ROOT) -> Machine:
    """Return what this machine is and does now."""
    about = _first_processor(root / "proc/cpuinfo")
    flags = set((about.get("flags") or about.get("Features") or "").split())
    return Machine(
        cpu=about.get("model name") or platform.machine(),
        n_cores=hardware.usable_cores(root),
        features=tuple(feature for feature in FEATURES if feature in flags),
        memory_gib=round(hardware.memory_bytes(root) / 2**30, 1),
        system=f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        llama_cpp_python=version("llama-cpp-python"),
        load_before=float((root / "proc/loadavg").read_text().split()[0]),
    )


def _first_processor(cpuinfo: Path) -> dict[str, str]:
    about: dict[str, str] = {}
    for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
        key, colon, value = line.partition(":")
        if not colon and about:
            break
        about[key.strip()] = value.strip()
    return about
