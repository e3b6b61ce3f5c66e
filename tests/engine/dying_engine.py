"""An engine's child that dies on cue: `python dying_engine.py LIVES FOLDER FD`.

LIVES is a comma-separated list of what each process started in FOLDER does in turn, the last for all that follow:
`load` dies while loading, `gpu` does so if it is to use a GPU and else serves, `refuse` says why it cannot load,
`serve` answers and dies by SIGABRT when asked to "die". Its devices are those of FOLDER/devices.json, a list for each
life and the last for all that follow; without that file it has one large card.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

from appliance.engine import wire


def main() -> None:
    lives, folder = sys.argv[1].split(","), Path(sys.argv[2])
    channel = wire.Channel(socket.socket(fileno=int(sys.argv[3])))
    number = len(list(folder.glob("life*")))
    life = lives[min(number, len(lives) - 1)]
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") == ""
    channel.send({"kind": "hello", "devices": [] if hidden else devices(folder, number)})
    order = channel.receive()
    assert order is not None
    wanted = ("CUDA_VISIBLE_DEVICES", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    environment = {name: os.environ.get(name) for name in wanted}
    note = {"order": order, "environment": environment, "cpus": sorted(os.sched_getaffinity(0))}
    (folder / f"life{number}").write_text(json.dumps(note))
    if order["kind"] == "stop":
        return
    if life == "load" or (life == "gpu" and order["model"]["n_gpu_layers"]):
        print("ggml_cuda: out of memory", file=sys.stderr, flush=True)
        os.abort()
    if life == "refuse":
        channel.send({"kind": "failed", "reason": "unknown architecture"})
        sys.exit(3)
    channel.send({"kind": "ready", "device": "scripted", "n_ctx": 100})
    serve(channel)


def devices(folder: Path, number: int) -> list[dict[str, Any]]:
    file = folder / "devices.json"
    if not file.exists():
        return [card(64 * 1024**3)]
    lists: list[list[dict[str, Any]]] = json.loads(file.read_text())
    return lists[min(number, len(lists) - 1)]


def card(n_bytes: int, index: int = 1) -> dict[str, Any]:
    """A GPU with so many bytes free, as a child reports it."""
    return {
        "index": index, "name": f"CUDA{index - 1}", "description": "a card", "kind": "gpu",
        "free_bytes": n_bytes, "total_bytes": n_bytes,
    }  # fmt: skip


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
