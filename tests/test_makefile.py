"""What a machine lacks is named, with the command that installs it, before anything is begun; GPU builds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parent.parent / "Makefile"
TOOLS = ("make", "sh", "awk", "df", "cat", "sha256sum", "cut", "sed", "cc", "c++", "cmake")


def machine(folder: Path, *missing: str) -> dict[str, str]:
    """A machine with just the programs that the Makefile needs, save the missing ones."""
    for tool in TOOLS:
        found = shutil.which(tool)
        if found is None:
            pytest.skip(f"{tool} is not installed here")
        if tool not in missing:
            (folder / tool).symlink_to(found)
    if "python3" not in missing:
        (folder / "python3").symlink_to(os.path.realpath(sys.executable))
    return {"PATH": str(folder)}


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        ("python3", "python3 is missing: sudo apt-get install python3"),
        ("c++", "a C/C++ compiler is missing: sudo apt-get install build-essential"),
        ("cmake", "cmake is missing: sudo apt-get install cmake"),
    ],
)
def test_what_is_missing_is_named_with_its_remedy(tmp_path: Path, missing: str, named: str) -> None:
    environment = machine(tmp_path, missing)
    ended = subprocess.run(
        ["make", "--file", str(MAKEFILE), "preflight"],
        env=environment, cwd=MAKEFILE.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode != 0
    assert named in ended.stdout


def test_a_machine_that_has_everything_passes(tmp_path: Path) -> None:
    environment = machine(tmp_path)
    ended = subprocess.run(
        ["make", "--file", str(MAKEFILE), "preflight"],
        env=environment, cwd=MAKEFILE.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout


def make(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--file", str(MAKEFILE), *arguments],
        env=environment, cwd=MAKEFILE.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("gpu", "named"),
    [
        ("cuda", "nvcc is missing: install NVIDIA's CUDA toolkit"),
        ("rocm", "hipcc is missing: install AMD's ROCm"),
        ("vulkan", "glslc is missing: sudo apt-get install glslc"),
        ("metal", "GPU=metal: there are cpu, cuda, rocm and vulkan"),
    ],
)
def test_a_toolkit_that_is_missing_is_named(tmp_path: Path, gpu: str, named: str) -> None:
    ended = make(machine(tmp_path), "gpu-tools", f"GPU={gpu}")
    assert ended.returncode != 0
    assert named in ended.stdout


def test_a_toolkit_that_is_there_is_found(tmp_path: Path) -> None:
    environment = machine(tmp_path)
    (tmp_path / "nvcc").symlink_to(tmp_path / "cat")
    assert make(environment, "gpu-tools", "GPU=cuda").returncode == 0
    assert make(environment, "gpu-tools", "GPU=cpu").returncode == 0


@pytest.mark.parametrize(
    ("built", "arguments", "compiled_with", "from_cache"),
    [
        ("", ("GPU=cuda",), "-DGGML_CUDA=on", False),
        ("cpu", ("GPU=vulkan",), "-DGGML_VULKAN=on", False),
        ("cuda", ("GPU=rocm",), "-DGGML_HIP=on", False),
        ("cuda", ("GPU=cuda",), None, False),
        ("cuda", (), None, False),  # unset: as it is
        ("", (), None, True),
        ("cuda", ("GPU=cpu",), None, True),
    ],
)
def test_another_gpu_builds_again_and_never_through_the_cache_of_wheels(
    tmp_path: Path, built: str, arguments: tuple[str, ...], compiled_with: str | None, from_cache: bool
) -> None:
    """`make --dry-run` prints what would be run."""
    bin_folder, venv = tmp_path / "bin", tmp_path / "venv"
    bin_folder.mkdir()
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/python").touch()
    environment = machine(bin_folder)
    if built:
        version = re.search(r"llama-cpp-python==([\d.]+)", (MAKEFILE.parent / "pyproject.toml").read_text())
        assert version is not None
        (venv / f".llama-{built}-{version[1]}").touch()
    said = make(environment, "--dry-run", "run", f"VENV={venv}", *arguments).stdout
    builds = [line for line in said.splitlines() if "--force-reinstall" in line]
    assert bool(builds) == (compiled_with is not None or from_cache)
    if compiled_with:
        assert f'CMAKE_ARGS="{compiled_with} ' in builds[0]
        assert "--no-cache-dir --no-binary llama-cpp-python" in builds[0]
    elif builds:
        assert "CMAKE_ARGS" not in builds[0]
        assert "--no-cache-dir" not in builds[0]
