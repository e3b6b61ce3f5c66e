"""A process of the bench's own that does one piece of ingest's work and says how long it took.

`python -m appliance.ops.ingest_worker HOME TASK PARAMETERS`; one line of JSON each for what it is doing and for the
result. Ends when its standard input does: with whoever started it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from appliance.config import load
from appliance.offline import enforce

Task = Callable[..., Mapping[str, float]]  # (config, say, parameters by name)


def main(home: Path, task: str, parameters: Mapping[str, Any]) -> None:
    """Do the task and print the result."""
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_watch_starter, daemon=True).start()
    enforce(os.environ)
    result = tasks()[task](load(home, {}), lambda line: _tell(say=line), **parameters)
    _tell(result=dict(result))


def tasks() -> Mapping[str, Task]:
    """Return what can be asked for, by name."""
    from appliance.ops import ingest_scale, ingest_stages  # ChromaDB and onnxruntime: only after `enforce`

    return {
        "stages": ingest_stages.stages,
        "embed": ingest_stages.embedder_alone,
        "pipeline": ingest_stages.pipeline,
        "unchanged": ingest_scale.unchanged,
        "index": ingest_scale.large_index,
    }


def _tell(**message: Any) -> None:
    print(json.dumps(message), flush=True)


def _watch_starter() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)  # so that what was started is stopped on the way out


def _end(code: int) -> None:
    """End without waiting for threads that measure."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
    except SystemExit as leaving:
        _end(int(leaving.code or 0))
    _end(0)
