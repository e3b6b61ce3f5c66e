"""An engine's child that dies on cue: `python dying_engine.py LIVES FOLDER FD`.

LIVES is a comma-separated list of what each process started in FOLDER does in turn, the last for all that follow:
`load` dies while loading, `refuse` says why it cannot load, `serve` answers and dies by SIGABRT when asked to "die".
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

from appliance.engine import wire


def main() -> None:
    lives, folder = sys.argv[1].split(","), Path(sys.argv[2])
    channel = wire.Channel(socket.socket(fileno=int(sys.argv[3])))
    number = len(list(folder.glob("life*")))
    life = lives[min(number, len(lives) - 1)]
    channel.send({"kind": "hello", "gpu": True})
    order = channel.receive()
    assert order is not None
    wanted = ("CUDA_VISIBLE_DEVICES", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    note = {"order": order, "environment": {name: os.environ.get(name) for name in wanted}}
    (folder / f"life{number}").write_text(json.dumps(note))
    if life == "load":
        print("ggml_cuda: out of memory", file=sys.stderr, flush=True)
        os.abort()
    if life == "refuse":
        channel.send({"kind": "failed", "reason": "unknown architecture"})
        sys.exit(3)
    channel.send({"kind": "ready", "device": "scripted", "n_ctx": 100})
    serve(channel)


def serve(channel: wire.Channel) -> None:
    while (message := channel.receive()) is not None and message["kind"] != "stop":
        match message:
            case {"kind": "count", "texts": ["die"]} | {"request": {"messages": [{"content": "die"}]}}:
                os.abort()
            case {"kind": "count", "id": number, "texts": texts}:
                channel.send({"kind": "counts", "id": number, "counts": [len(text) for text in texts]})
            case {"kind": "generate", "id": number}:
                channel.send({"kind": "event", "id": number, "event": "queued", "position": 1})


if __name__ == "__main__":
    main()
