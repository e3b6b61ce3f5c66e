"""The engine's child process: `python -m appliance.engine.serve FD`. Loads the model, then lets `Worker` work."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
from dataclasses import asdict
from pathlib import Path
from threading import Thread

from appliance.engine import wire
from appliance.engine.blocks import Blocks
from appliance.engine.model import ModelLoadError, ModelSpec
from appliance.engine.prefixes import Prefixes
from appliance.engine.request import Reuse
from appliance.engine.scheduler import Limits
from appliance.engine.worker import Worker
from appliance.errors import EngineError

PR_SET_PDEATHSIG = 1  # linux/prctl.h
EXIT_LOAD_FAILED = 3


def serve(channel: wire.Channel) -> int:
    """Load the model that the first message names, answer until the parent stops us; return the exit code."""
    from appliance.engine import ggml, llama  # load libllama and libgomp: not before the process is told to

    channel.send({"kind": "hello", "devices": [asdict(device) for device in ggml.devices()]})
    if (order := channel.receive()) is None or order["kind"] != "load":
        return 0
    spec = ModelSpec(**order["model"])
    try:
        model = llama.Llama(spec)
        limits = Limits(max_context=model.max_context, **order["limits"])
        prefixes, blocks = _prefixes(order, model.state_key), _blocks(order, model.state_key)
        worker = Worker(model, channel, limits, prefixes, blocks, Reuse(**order["reuse"]))
    except (ModelLoadError, EngineError) as error:
        channel.send({"kind": "failed", "reason": str(error)})
        return EXIT_LOAD_FAILED
    channel.send(*worker.news(), {"kind": "ready", "device": model.device, "n_ctx": model.n_ctx})
    Thread(target=worker.listen, name="listener", daemon=True).start()
    Thread(target=worker.mind_deadlines, name="deadlines", daemon=True).start()
    worker.run()
    worker.save()
    return 0


def _prefixes(order: wire.WireMessage, key: str) -> Prefixes | None:
    about = order.get("prefixes")
    return Prefixes(Path(about["folder"]), key, about["max_bytes"]) if about else None


def _blocks(order: wire.WireMessage, key: str) -> Blocks | None:
    about = order.get("blocks")
    return Blocks(Path(about["folder"]), key, about["max_bytes"]) if about else None


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # Ctrl-C in a terminal and systemd's SIGTERM reach the whole group; the daemon finishes its answers, then tells us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def main() -> None:
    """Run the child process."""
    _die_with_parent()
    code = serve(wire.Channel(socket.socket(fileno=int(sys.argv[1]))))
    sys.stderr.flush()
    os._exit(code)  # llama.cpp's own teardown has nothing left to save, and may crash


if __name__ == "__main__":
    main()
