"""`python -m tui SOCKET`: the screen of the daemon behind a socket."""

from __future__ import annotations

import sys
from pathlib import Path

from tui.app import run

run(Path(sys.argv[1]))
