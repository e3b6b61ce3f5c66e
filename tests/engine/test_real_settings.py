"""The settings that reach llama.cpp, with the real 135M model: each one loads and answers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from appliance.engine.process import EngineProcess
from appliance.engine.request import Done, GenerateRequest, Message
from appliance.engine.spec import EngineSpec

WAIT_S = 60.0


@pytest.fixture
def spec(models_folder: Path) -> EngineSpec:
    [model] = (models_folder / "smollm2-135m-instruct").glob("*.gguf")
    return EngineSpec(
        model_path=model, model_name="smollm2-135m-instruct", n_ctx=1024, max_sequences=2, max_waiting=2, n_batch=256,
        step_target_ms=150, threads=0, spin_count=1000, n_gpu_layers=-1,
    )  # fmt: skip


@pytest.mark.parametrize(
    "settings",
    [
        {"kv_type": "q8_0"},
        {"kv_type": "q4_0", "flash_attention": "on"},
        {"kv_type": "auto", "flash_attention": "off"},
        {"n_ubatch": 64, "threads": 1},
        {"mlock": True, "kv_placement": "cpu", "gpu_split": "all"},
        {"n_gpu_layers": 99},  # on a build without a GPU: none
    ],
    ids=str,
)
async def test_a_setting_loads_and_answers(spec: EngineSpec, settings: dict[str, Any]) -> None:
    engine = EngineProcess(replace(spec, **settings))
    await engine.start()
    try:
        await engine.ready(WAIT_S)
        async with asyncio.timeout(WAIT_S):
            asked = GenerateRequest((Message("user", "Tell me of the sea. " * 20),), max_tokens=4)
            events = [event async for event in engine.generate(asked)]
        assert isinstance(events[-1], Done)
        assert engine.status().note == ""
    finally:
        await engine.stop()
