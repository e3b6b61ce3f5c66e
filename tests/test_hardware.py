from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.hardware import memory_bytes, usable_cores

GIB = 1024**3


def box(root: Path, files: dict[str, str], cores: str = "0-7", memory_gib: int = 16) -> Path:
    """Lay out a recorded tree of /proc and /sys."""
    always = {
        "proc/self/status": f"Name:\tpython\nCpus_allowed:\tff\nCpus_allowed_list:\t{cores}\n",
        "proc/meminfo": f"MemTotal:       {memory_gib * 1024 * 1024} kB\nMemFree:        1 kB\n",
    }
    for name, text in (always | files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


UNIT = "sys/fs/cgroup/system.slice/appliance.service"


@pytest.mark.parametrize(
    ("cores", "files", "expected"),
    [
        ("0-7", {}, 8),
        ("0-3,6,8-9", {}, 7),
        ("5", {}, 1),
        # v2: systemd's CPUQuota=250% on the unit
        (
            "0-7",
            {
                "proc/self/cgroup": "0::/system.slice/appliance.service\n",
                f"{UNIT}/cpu.max": "250000 100000\n",
            },
            2,
        ),
        # v2: the slice above is tighter than the unit
        (
            "0-7",
            {
                "proc/self/cgroup": "0::/system.slice/appliance.service\n",
                f"{UNIT}/cpu.max": "max 100000\n",
                "sys/fs/cgroup/system.slice/cpu.max": "300000 100000\n",
            },
            3,
        ),
        # v2 in a container with its own cgroup namespace
        ("0-7", {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1),
        ("0-7", {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
        # v1, docker: the host's path does not exist in the container, the mount's root is ours
        (
            "0-7",
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/docker/3f2a\n3:memory:/docker/3f2a\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "400000\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            4,
        ),
        # v1 without a limit
        (
            "0-1",
            {
                "proc/self/cgroup": "4:cpu:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            2,
        ),
        # more quota than cores
        ("0-1", {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "800000 100000\n"}, 2),
    ],
)
def test_usable_cores(tmp_path: Path, cores: str, files: dict[str, str], expected: int) -> None:
    assert usable_cores(box(tmp_path, files, cores=cores)) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 16 * GIB),
        (
            {
                "proc/self/cgroup": "0::/system.slice/appliance.service\n",
                f"{UNIT}/memory.max": f"{3 * GIB}\n",
            },
            3 * GIB,
        ),
        (
            {"proc/self/cgroup": "0::/system.slice/appliance.service\n", f"{UNIT}/memory.max": "max\n"},
            16 * GIB,
        ),
        (
            {
                "proc/self/cgroup": "3:memory:/docker/3f2a\n0::/\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{GIB}\n",
            },
            GIB,
        ),
        # v1's way of saying no limit
        (
            {
                "proc/self/cgroup": "3:memory:/\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            },
            16 * GIB,
        ),
    ],
)
def test_memory_bytes(tmp_path: Path, files: dict[str, str], expected: int) -> None:
    assert memory_bytes(box(tmp_path, files)) == expected


def test_this_box_has_at_least_a_core_and_some_memory() -> None:
    assert 1 <= usable_cores() <= len(os.sched_getaffinity(0))
    assert memory_bytes() > 256 * 1024**2
