"""What a process holds of the machine: file descriptors and memory. Reads /proc."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Footprint:
    """One process at one moment; `rss` is its resident memory in bytes."""

    n_fds: int
    rss: int


def footprint(pid: int | None = None) -> Footprint:
    """Return what a process holds now; None: ours."""
    folder = Path("/proc", str(pid or os.getpid()))
    n_fds = len(list((folder / "fd").iterdir()))
    for line in (folder / "status").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("VmRSS:"):
            return Footprint(n_fds, int(line.split()[1]) * 1024)
    return Footprint(n_fds, 0)
