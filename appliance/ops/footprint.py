"""What a process holds of the machine: file descriptors and memory. Reads /proc."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Footprint:
    """One process at one moment; `rss` is its resident memory in bytes, `peak` the most that was so far."""

    n_fds: int
    rss: int
    peak: int = 0


def footprint(pid: int | None = None) -> Footprint:
    """Return what a process holds now; None: ours."""
    folder = Path("/proc", str(pid or os.getpid()))
    n_fds = len(list((folder / "fd").iterdir()))
    status = (folder / "status").read_text(encoding="utf-8", errors="replace")
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    rss, peak = (int(fields.get(name, "0 kB").split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
    return Footprint(n_fds, rss, peak)
