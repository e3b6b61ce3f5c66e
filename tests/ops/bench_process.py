"""A bench as an administrator runs it, watched: it must leave nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


@contextmanager
def running_bench(models: Path, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Start a bench with a temporary folder of its own, which must be empty at the end."""
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch, tempfile.TemporaryDirectory() as home:
        ours = {
            **os.environ,
            "TMPDIR": scratch,
            "PYTHONPATH": str(ROOT),
            "APPLIANCE_MODELS__FOLDER": str(models),
            **environment,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "appliance", "--home", home, "bench", *arguments],
            env=ours, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        with process:
            try:
                yield process
            finally:
                process.kill()
        assert os.listdir(scratch) == []
        assert os.listdir(home) == []
        assert processes_of(scratch) == []


def processes_of(scratch: str) -> list[str]:
    """Return the command lines of processes that were started in a folder's name."""
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"TMPDIR={scratch}".encode() in file.read_bytes().split(b"\0"):
                found.append((file.parent / "cmdline").read_text().replace("\0", " "))
        except (FileNotFoundError, PermissionError, ProcessLookupError):  # ended meanwhile, or another's
            continue
    return found
