"""Tries an index in a child process, where a crash or a hang costs nothing. The child is chroma_probe.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PACKAGE_ROOT = Path(__file__).resolve().parent.parent
# 100,000 vectors load in a few seconds; a second opener of a bad index hung for 16 minutes (chroma#7040).
TIMEOUT_S = 120.0


def probe(path: Path, collection: str, ids: Sequence[int], vectors: NDArray[np.float32]) -> str:
    """Return what is wrong with the index in a directory, or an empty string.

    Args:
        ids: some that the index should hold.
        vectors: theirs, (n_ids, n_dims).
    """
    samples = [[id, vector.tolist()] for id, vector in zip(ids, vectors, strict=True)]
    task = {"path": str(path), "collection": collection, "samples": samples, "parent": os.getpid()}
    try:
        child = subprocess.run(
            [sys.executable, "-P", "-m", "ingest.chroma_probe"],
            input=json.dumps(task),
            env=os.environ | {"PYTHONPATH": str(PACKAGE_ROOT)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return f"does not open within {TIMEOUT_S:.0f} s"
    if child.returncode == 0:
        return ""
    said = child.stderr.strip().splitlines()[-1:] or [f"exit status {child.returncode}"]
    return f"is damaged ({said[0]})"
