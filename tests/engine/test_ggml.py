"""What this build of llama.cpp can compute on; read in a process of its own, as the engine's child does."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from appliance.engine.fit import Device

ROOT = Path(__file__).parent.parent.parent


def test_every_build_has_a_processor_with_memory() -> None:
    code = (
        "import json; from dataclasses import asdict; from appliance.engine import ggml;"
        "print(json.dumps([asdict(device) for device in ggml.devices()]));"
        "print(bool(ggml.handles([0])[0]), ggml.handles([0])[1], len(ggml.experts_to_cpu(3)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    devices, rest = said.stdout.splitlines()
    found = [Device(**each) for each in json.loads(devices)]
    [processor] = [device for device in found if device.kind == "cpu"]
    assert processor.description
    assert 0 < processor.free_bytes <= processor.total_bytes
    assert asdict(processor)["index"] == found.index(processor)
    assert rest == "True None 4"  # lists end with a null
