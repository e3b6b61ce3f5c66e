"""Child process that opens a Chroma index and tries it: `python -m ingest.chroma_probe < task.json`.

Exit status 0: it opens, counts, and finds its own vectors. Anything else, a crash too: it is bad.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from ingest.chroma_index import Index
from ingest.confine import die_with
from ingest.errors import DenseError

N_NEAREST = 10
MIN_COSINE = 0.98  # between a vector and itself, stored and read back


def main() -> int:
    """Read the task from stdin; say what is wrong on the last line of stderr."""
    task = json.load(sys.stdin)
    die_with(task["parent"])  # two at once in a damaged index may hang each other
    try:
        index = Index(Path(task["path"]), task["collection"])
        stored = index.ids()
        if index.count() != len(stored):
            raise DenseError(f"counts {index.count()} vectors, lists {len(stored)}")
        for id, values in task["samples"]:
            _check(index, stored, int(id), np.array(values, np.float32))
        index.close()
    except DenseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _check(index: Index, stored: set[int], id: int, vector: np.ndarray) -> None:
    # An id that is not stored is no damage: a crash before the last commit reached it; it is added later.
    # Texts that are alike share a vector, so the nearest may bear another id.
    found = index.nearest(vector, N_NEAREST)
    if id in stored and (not found or found[0][1] < MIN_COSINE):
        raise DenseError(f"does not find vector {id}")


if __name__ == "__main__":
    sys.exit(main())
