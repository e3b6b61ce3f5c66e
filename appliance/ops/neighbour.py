"""A busy neighbour: a process of another session that never rests.

The kernel shares time between sessions before it shares it between processes, so nice does not help against it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# It ends with us even when we are killed and cannot end it.
_BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(100_000))\n"


@contextmanager
def busy_neighbour() -> Iterator[int]:
    """Keep one core busy from another session while the block runs; yields the process's pid."""
    process = subprocess.Popen([sys.executable, "-c", _BUSY], start_new_session=True)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()
