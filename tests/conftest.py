"""What several rooms share: where the test models lie, and that no test calls out."""

from __future__ import annotations

import ipaddress
import os
import sys
from pathlib import Path
from typing import Any

import pytest

# Before any import of onnxruntime: from 1.29 on it sends telemetry unless the environment says otherwise.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"


def _stay_on_this_machine(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse connections to anything but unix sockets and loopback."""
    if event != "socket.connect":
        return
    address = arguments[1]
    if isinstance(address, tuple):
        host = str(address[0])
        assert host == "localhost" or ipaddress.ip_address(host).is_loopback, f"a test calls out to {address}"


sys.addaudithook(_stay_on_this_machine)

TEST_MODELS = (
    "smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf",
    "all-minilm-l6-v2/onnx/embedder.json",
    "all-minilm-l6-v2/source/model.safetensors",
)


@pytest.fixture(scope="session")
def models_folder() -> Path:
    """The registry folder with the real test models; tests that write copy or link what they need."""
    cached = Path(__file__).parent.parent / ".cache" / "models"
    folder = Path(os.environ.get("APPLIANCE_TEST_MODELS", cached))
    for name in TEST_MODELS:
        if not (folder / name).exists():
            pytest.fail(f"{folder / name} is missing; `make test` fetches and compiles it", pytrace=False)
    return folder
