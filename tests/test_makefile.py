"""What a fresh machine lacks is named, with the command that installs it, before anything is begun."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parent.parent / "Makefile"
TOOLS = ("make", "sh", "awk", "df", "cat", "sha256sum", "cut", "cc", "c++", "cmake")


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
