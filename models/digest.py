"""sha256 of files too large to read at once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

BLOCK = 4 * 2**20

Progress = Callable[[str, int, int], None]
"""What is being done, how much of it is done, how much there is (bytes, or steps)."""


def sha256_of(file: Path, progress: Progress | None = None) -> str:
    """Return the hex sha256 of a file; progress counts bytes."""
    digest = hashlib.sha256()
    total = file.stat().st_size
    with file.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
            if progress is not None:
                progress(f"checking {file.name}", stream.tell(), total)
    return digest.hexdigest()
