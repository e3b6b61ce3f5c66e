"""The machine under measurement, in the words that make figures comparable."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from appliance import hardware

ROOT = Path("/")
BUSY_LOAD = 1.0  # one process that runs all the time


@dataclass(frozen=True, slots=True)
class Machine:
    """What the figures were measured on.

    Attributes:
        features: what of the processor makes llama.cpp fast.
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

    @property
    def warning(self) -> str:
        """What to tell people when it is busy."""
        return f"warning: the load is {self.load_before:.2f}: others are at work, do not trust these figures"


def describe(root: Path = ROOT) -> Machine:
    """Return what this machine is and does now."""
    return Machine(
        cpu=hardware.cpu_model(root),
        n_cores=hardware.usable_cores(root),
        features=tuple(sorted(hardware.cpu_features(root))),
        memory_gib=round(hardware.memory_bytes(root) / 2**30, 1),
        system=f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        llama_cpp_python=version("llama-cpp-python"),
        load_before=float((root / "proc/loadavg").read_text(encoding="ascii").split()[0]),
    )
