"""What our control groups leave us of processors and memory: version 1 and 2, ours and all those above it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from appliance.sysfiles import read_int, read_text

# How each version names what a group holds, its limit and what the kernel would give back first.
_MEMORY = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def cpu_quotas(root: Path) -> Iterator[float]:
    """Yield each group's quota in cores."""
    for folder in _groups(root, "cpu"):
        match (read_text(folder / "cpu.max") or "max").split():
            case [quota, period] if quota != "max":
                yield int(quota) / int(period)
        old, period_us = read_int(folder / "cpu.cfs_quota_us"), read_int(folder / "cpu.cfs_period_us")
        if old and period_us and old > 0:  # -1: no limit
            yield old / period_us


def memory_limits(root: Path) -> Iterator[tuple[int, int]]:
    """Yield each group's limit, and how much of it is free: page cache that can go counts as free."""
    for folder in _groups(root, "memory"):
        for limit_name, usage_name, cache_name in _MEMORY:
            if (limit := read_int(folder / limit_name)) is not None:  # "max": no limit
                used = (read_int(folder / usage_name) or 0) - _cache(folder, cache_name)
                yield limit, max(0, limit - max(0, used))


def _cache(folder: Path, name: str) -> int:
    for line in (read_text(folder / "memory.stat") or "").splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of our group and of all those above it, whether or not they exist."""
    for line in (read_text(root / "proc/self/cgroup") or "0::/").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            mounts = [root / "sys/fs/cgroup", root / "sys/fs/cgroup/unified"]
        elif controller in controllers.split(","):
            mounts = [root / "sys/fs/cgroup" / controller, root / "sys/fs/cgroup" / controllers]
        else:
            continue
        # In a container the path may be the host's, or start with ..: what exists of it counts.
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for mount in mounts:
            yield from (mount.joinpath(*parts[:n]) for n in range(len(parts), -1, -1))
