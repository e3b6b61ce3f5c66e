"""What this box has: cores and memory that this process may use. Reads /proc and /sys, nothing else.

Every function takes the root of the tree, so that recorded ones can be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/")
_KIB = 1024


def usable_cores(root: Path = ROOT) -> int:
    """Return the cores we may keep busy: our affinity, or our cgroups' quota if that is less; at least 1."""
    quotas = [int(quota) for quota in _cpu_quotas(root)]
    return max(1, min([_allowed_cores(root), *quotas]))


def memory_bytes(root: Path = ROOT) -> int:
    """Return the memory that this process may use: the machine's, or its cgroups' limit if less."""
    return min([_machine_memory(root), *_memory_limits(root)])


def _allowed_cores(root: Path) -> int:
    ranges = _field(root / "proc/self/status", "Cpus_allowed_list") or "0"
    return sum(_range_length(part) for part in ranges.split(","))


def _range_length(part: str) -> int:
    first, _, last = part.partition("-")
    return int(last or first) - int(first) + 1


def _machine_memory(root: Path) -> int:
    total = _field(root / "proc/meminfo", "MemTotal") or "0 kB"
    return int(total.split()[0]) * _KIB


def _cpu_quotas(root: Path) -> Iterator[float]:
    for folder in _cgroups(root, "cpu"):
        match (_read(folder / "cpu.max") or "max").split():
            case [quota, period] if quota != "max":
                yield int(quota) / int(period)
        old = _read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")
        if old[0] and old[1] and int(old[0]) > 0:  # -1: no limit
            yield int(old[0]) / int(old[1])


def _memory_limits(root: Path) -> Iterator[int]:
    for folder in _cgroups(root, "memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            limit = _read(folder / name)
            if limit and limit != "max":
                yield int(limit)


def _cgroups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of our cgroup and of all those above it, v2 and v1, whether or not they exist."""
    for line in (_read(root / "proc/self/cgroup") or "0::/").splitlines():
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


def _read(file: Path) -> str | None:
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None


def _field(file: Path, name: str) -> str | None:
    for line in (_read(file) or "").splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return value.strip()
    return None
