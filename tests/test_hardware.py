from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.cores import EngineCores
from appliance.gpu import Gpu, find_gpus
from appliance.hardware import (
    cpu_features,
    cpu_model,
    engine_cores,
    free_memory_bytes,
    memory_bytes,
    read_machine,
    usable_cores,
)

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


# --- recorded machines ---


def cpu(number: int, siblings: str, package: int = 0, **files: str) -> dict[str, str]:
    """The files of one processor."""
    folder = f"sys/devices/system/cpu/cpu{number}"
    return {
        f"{folder}/topology/core_cpus_list": f"{siblings}\n",
        f"{folder}/topology/physical_package_id": f"{package}\n",
        **{f"{folder}/{name.replace('__', '/')}": f"{text}\n" for name, text in files.items()},
    }


def laptop(root: Path) -> Path:
    """An i5-1340P: four P-cores of two threads (0-7), eight E-cores (8-15)."""
    files = {
        "sys/devices/cpu_core/cpus": "0-7\n",
        "sys/devices/cpu_atom/cpus": "8-15\n",
        "proc/cpuinfo": "model name\t: 13th Gen Intel(R) Core(TM) i5-1340P\n"
        "flags\t\t: fpu avx avx2 fma f16c avx_vnni\n",
    }
    for number in range(8):
        first = number // 2 * 2
        files |= cpu(number, f"{first}-{first + 1}", cpufreq__cpuinfo_max_freq="4600000")
    for number in range(8, 16):
        files |= cpu(number, str(number), cpufreq__cpuinfo_max_freq="3400000")
    return box(root, files, cores="0-15")


def server(root: Path, cores: str = "0-31", node_gib: int = 32, files: dict[str, str] | None = None) -> Path:
    """Two sockets of eight cores and two threads: 0-7 with 16-23, 8-15 with 24-31; a node each."""
    tree = {}
    for number in range(32):
        core = number % 16
        tree |= cpu(number, f"{core},{core + 16}", package=core // 8)
    for node, cpus in ((0, "0-7,16-23"), (1, "8-15,24-31")):
        tree[f"sys/devices/system/node/node{node}/cpulist"] = f"{cpus}\n"
        tree[f"sys/devices/system/node/node{node}/meminfo"] = f"Node {node} MemTotal: {node_gib * 2**20} kB\n"
    return box(root, tree | (files or {}), cores=cores, memory_gib=2 * node_gib)


def raspberry(root: Path) -> Path:
    """A Raspberry Pi 5: four equal cores, memory cgroups off."""
    files = {
        "proc/cpuinfo": "processor\t: 0\nFeatures\t: fp asimd evtstrm aes crc32 asimddp\n"
        "CPU implementer\t: 0x41\nCPU part\t: 0xd0b\n",
        "proc/device-tree/model": "Raspberry Pi 5 Model B Rev 1.0\0",
        "proc/self/cgroup": "0::/system.slice/appliance.service\n",
    }
    for number in range(4):
        files |= cpu(number, str(number), cpufreq__cpuinfo_max_freq="2400000")
    return box(root, files, cores="0-3", memory_gib=8)


def phone(root: Path) -> Path:
    """An RK3588: four little cores (0-3), four big ones, told apart by capacity alone."""
    files: dict[str, str] = {}
    for number in range(8):
        files |= cpu(number, str(number), cpu_capacity="414" if number < 4 else "1024")
    return box(root, files, cores="0-7")


def test_laptop_gets_a_thread_for_each_fast_core(tmp_path: Path) -> None:
    root = laptop(tmp_path)
    machine = read_machine(root)
    assert (machine.n_cpus, machine.n_cores, machine.n_fast_cores, machine.n_usable) == (16, 12, 4, 16)
    assert machine.features == {"avx", "avx2", "fma", "f16c", "avx_vnni"}
    assert engine_cores(root) == EngineCores(4, tuple(range(8)), "slow cores")


def test_little_cores_are_told_by_their_capacity(tmp_path: Path) -> None:
    assert engine_cores(phone(tmp_path)) == EngineCores(4, (4, 5, 6, 7), "slow cores")


def test_cores_that_boost_a_little_higher_are_no_class_of_their_own(tmp_path: Path) -> None:
    files: dict[str, str] = {}
    for number in range(4):
        files |= cpu(number, str(number), cpufreq__cpuinfo_max_freq=str(5_000_000 + 100_000 * number))
    assert engine_cores(box(tmp_path, files, cores="0-3")) == EngineCores(4, (), "")


def test_server_keeps_the_engine_on_one_socket_while_the_model_fits_its_memory(tmp_path: Path) -> None:
    root = server(tmp_path)
    machine = read_machine(root)
    assert (machine.n_cores, machine.n_sockets, machine.n_nodes) == (16, 2, 2)
    on_first = (*range(8), *range(16, 24))
    assert engine_cores(root, 20 * GIB) == EngineCores(8, on_first, "every socket but 0")
    assert engine_cores(root, 40 * GIB) == EngineCores(16, (), "")


def test_the_socket_with_more_of_our_cores_is_taken(tmp_path: Path) -> None:
    chosen = engine_cores(server(tmp_path, cores="0-1,8-15"))
    assert chosen == EngineCores(8, tuple(range(8, 16)), "every socket but 1")


def test_container_is_held_to_its_quota_and_its_cpuset(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/\n",
        "sys/fs/cgroup/cpu.max": "350000 100000\n",
        "sys/fs/cgroup/memory.max": f"{4 * GIB}\n",
        "sys/fs/cgroup/memory.current": f"{3 * GIB}\n",
        "sys/fs/cgroup/memory.stat": f"anon {GIB}\ninactive_file {2 * GIB}\n",
    }
    root = server(tmp_path, cores="4-7,20-23", files=files)  # docker run --cpuset-cpus 4-7,20-23 --cpus 3.5
    (root / "proc/meminfo").write_text(f"MemTotal: {64 * 2**20} kB\nMemAvailable: {50 * 2**20} kB\n")
    assert (usable_cores(root), engine_cores(root)) == (3, EngineCores(3, (), ""))
    assert (memory_bytes(root), free_memory_bytes(root)) == (4 * GIB, 3 * GIB)


def test_threads_of_a_core_count_once(tmp_path: Path) -> None:
    assert engine_cores(server(tmp_path, cores="0-1,16-17")).n_threads == 2


def test_raspberry_is_known_by_its_board_and_its_cores_are_equal(tmp_path: Path) -> None:
    root = raspberry(tmp_path)
    assert cpu_model(root) == "Cortex-A76 (Raspberry Pi 5 Model B Rev 1.0)"
    assert cpu_features(root) == {"neon", "dotprod"}
    assert engine_cores(root) == EngineCores(4, (), "")
    assert memory_bytes(root) == 8 * GIB


@pytest.mark.parametrize(
    ("files", "available_gib", "expected_gib"),
    [
        ({}, 5, 5),
        # v2: the slice above the unit is fuller than the unit
        (
            {
                "proc/self/cgroup": "0::/system.slice/appliance.service\n",
                f"{UNIT}/memory.max": f"{8 * GIB}\n",
                f"{UNIT}/memory.current": f"{GIB}\n",
                "sys/fs/cgroup/system.slice/memory.max": f"{9 * GIB}\n",
                "sys/fs/cgroup/system.slice/memory.current": f"{7 * GIB}\n",
            },
            12,
            2,
        ),
        # v1: page cache of the group can go
        (
            {
                "proc/self/cgroup": "3:memory:/docker/3f2a\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{4 * GIB}\n",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{3 * GIB}\n",
                "sys/fs/cgroup/memory/memory.stat": f"cache 1\ntotal_inactive_file {2 * GIB}\n",
            },
            12,
            3,
        ),
    ],
)
def test_free_memory(tmp_path: Path, files: dict[str, str], available_gib: int, expected_gib: int) -> None:
    root = box(tmp_path, files)
    (root / "proc/meminfo").write_text(f"MemTotal: {2**24} kB\nMemAvailable: {available_gib * 2**20} kB\n")
    assert free_memory_bytes(root) == expected_gib * GIB


# --- GPUs that drivers show ---

CARD = "sys/class/drm/card1/device"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, []),
        (
            {"proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA RTX A2000\nIRQ: 1\n"},
            [Gpu("NVIDIA RTX A2000", "cuda", None, None)],
        ),
        (
            {
                f"{CARD}/vendor": "0x1002\n",
                f"{CARD}/product_name": "AMD Radeon RX 7600\n",
                f"{CARD}/mem_info_vram_total": f"{8 * GIB}\n",
                f"{CARD}/mem_info_vram_used": f"{GIB}\n",
                "dev/kfd": "",
            },
            [Gpu("AMD Radeon RX 7600", "rocm", 8 * GIB, 7 * GIB)],
        ),
        (
            {
                f"{CARD}/vendor": "0x8086\n",
                f"{CARD}/device": "0x56a0\n",
                "usr/share/vulkan/icd.d/intel_icd.x86_64.json": "{}",
                "sys/class/drm/card1-HDMI-A-1/device/vendor": "0x8086\n",
            },
            [Gpu("Intel 0x56a0", "vulkan", None, None)],
        ),
        ({f"{CARD}/vendor": "0x8086\n", f"{CARD}/device": "0x56a0\n"}, [Gpu("Intel 0x56a0", "", None, None)]),
        ({f"{CARD}/vendor": "0x1af4\n"}, []),  # a virtual machine's screen
    ],
)
def test_gpus_are_found_by_what_their_drivers_show(
    tmp_path: Path, files: dict[str, str], expected: list[Gpu]
) -> None:
    assert find_gpus(box(tmp_path, files)) == expected


def test_this_box_has_a_processor_with_a_name() -> None:
    machine = read_machine()
    assert machine.cpu
    assert 1 <= machine.n_cores <= machine.n_cpus
    assert 0 < machine.free_bytes <= machine.memory_bytes
    assert 1 <= engine_cores().n_threads <= machine.n_usable
