"""Compiling in a throw-away environment, so that the running one stays without torch (1 GB and more)."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import tempfile
import venv
from pathlib import Path

from models.card import CARDS
from models.catalogue import Role
from models.digest import Progress
from models.errors import CompileError

_PROJECT = "appliance"
_EXTRA = "compile"
# What models.compile_onnx and its callers import besides the extra; pinned by the project itself.
_OWN = ("onnxruntime", "tokenizers", "numpy", "pydantic", "pyyaml")
_STEPS = 3
_ERROR_LINES = 15


class CompileApart:
    """Compiles in an environment that is made for it and removed after it.

    Attributes:
        torch_index: where pip finds torch's CPU build besides its usual index; empty: nowhere else.
    """

    def __init__(self, torch_index: str = "") -> None:
        self.torch_index = torch_index

    def __call__(self, role: Role, source: Path, target: Path, progress: Progress) -> None:
        """Compile the model of a role, from a source folder into a target folder.

        Raises:
            CompileError: the packages could not be had, or the model cannot be compiled.
        """
        with tempfile.TemporaryDirectory(prefix=".compile-", dir=target.parent) as folder:
            progress("making a throw-away environment", 0, _STEPS)
            venv.create(folder, with_pip=True)
            python = Path(folder) / "bin" / "python"
            progress("fetching torch and sentence-transformers (1 GB or more, a few minutes)", 1, _STEPS)
            index = ["--extra-index-url", self.torch_index] if self.torch_index else []
            _run(
                [
                    python,
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    *index,
                    *requirements(),
                ]
            )
            progress("compiling", 2, _STEPS)
            _run([python, "-m", CARDS[role].COMPILER, source.absolute(), target.absolute()])
            progress("compiled", _STEPS, _STEPS)


def requirements() -> list[str]:
    """Return what the throw-away environment needs, with this project's pins."""
    found = []
    for line in importlib.metadata.requires(_PROJECT) or []:
        requirement, _, marker = (part.strip() for part in line.partition(";"))
        name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower()
        if _EXTRA in marker or (not marker and name in _OWN):
            found.append(requirement)
    return found


def _run(command: list[str | Path]) -> None:
    root = Path(__file__).resolve().parent.parent  # `models` must be importable there without being installed
    ended = subprocess.run([*map(str, command)], cwd=root, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        end = "\n".join((ended.stdout + ended.stderr).splitlines()[-_ERROR_LINES:])
        raise CompileError(f"{Path(command[0]).name} {' '.join(map(str, command[1:4]))} failed:\n{end}")
