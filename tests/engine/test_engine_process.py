"""The parent's side: children that die on cue, and what becomes of those who asked."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from appliance.engine.process import EngineProcess, EngineSpec
from appliance.engine.request import GenerateRequest, Message, Queued
from appliance.errors import EngineLostError, EngineNotReadyError

DYING = Path(__file__).parent / "dying_engine.py"
WAIT_S = 20.0


@pytest.fixture
def spec(tmp_path: Path) -> EngineSpec:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF and nothing else")
    return EngineSpec(
        model_path=model, model_name="scripted", n_ctx=100, max_sequences=2, max_waiting=3, n_batch=64,
        step_target_ms=150, threads=3, spin_count=1000, n_gpu_layers=0,
    )  # fmt: skip


@asynccontextmanager
async def engine(spec: EngineSpec, lives: str, **environment: str) -> AsyncIterator[EngineProcess]:
    command = (sys.executable, str(DYING), lives, str(spec.model_path.parent))
    process = EngineProcess(
        spec, command, environment={"PATH": "/usr/bin:/bin", **environment}, backoff_s=(0.0,)
    )
    await process.start()
    try:
        yield process
    finally:
        await process.stop()


def lives_of(spec: EngineSpec) -> list[dict[str, Any]]:
    notes = sorted(spec.model_path.parent.glob("life*"), key=lambda file: int(file.name.removeprefix("life")))
    return [json.loads(note.read_text()) for note in notes]


def ask(text: str) -> GenerateRequest:
    return GenerateRequest((Message("user", text),), max_tokens=5)


async def test_child_is_told_what_to_load_and_its_environment_is_bounded(spec: EngineSpec) -> None:
    async with engine(spec, "serve", OMP_WAIT_POLICY="active", GOMP_SPINCOUNT="infinity") as process:
        await process.ready(WAIT_S)
        status = process.status()
    assert (status.state, status.model, status.device, status.n_ctx) == ("ready", "scripted", "scripted", 100)
    [life] = lives_of(spec)
    assert life["environment"] == {
        "CUDA_VISIBLE_DEVICES": "",  # 0 layers: the GPU is hidden
        "GOMP_SPINCOUNT": "1000",
        "OMP_WAIT_POLICY": None,
    }
    assert life["order"]["model"]["n_threads"] == 3
    assert life["order"]["limits"]["max_waiting"] == 3


async def test_requests_before_the_model_is_ready_are_refused(spec: EngineSpec) -> None:
    async with engine(spec, "serve") as process:
        with pytest.raises(EngineNotReadyError, match="the model is loading"):
            await process.count_tokens(["x"])
        await process.ready(WAIT_S)
        assert await process.count_tokens(["", "four"]) == [0, 4]


async def test_death_fails_those_who_were_being_answered_and_the_engine_comes_back(spec: EngineSpec) -> None:
    async with engine(spec, "serve") as process:
        await process.ready(WAIT_S)
        waiting = process.generate(ask("wait"))
        assert await anext(waiting) == Queued(1)
        assert (process.status().n_running, process.status().n_waiting) == (0, 1)
        with pytest.raises(
            EngineLostError, match=r"stopped while answering \(killed by SIGABRT\).*ask again"
        ):
            await process.count_tokens(["die"])
        with pytest.raises(EngineLostError):
            await anext(waiting)
        await process.ready(WAIT_S)
        assert await process.count_tokens(["back"]) == [4]
        status = process.status()
    assert (status.state, status.n_restarts, status.n_waiting, status.n_running) == ("ready", 1, 0, 0)
    assert status.reason.startswith("killed by SIGABRT")


async def test_engine_that_never_gets_ready_is_given_up_with_its_last_words(spec: EngineSpec) -> None:
    async with engine(spec, "load") as process:
        with pytest.raises(
            EngineNotReadyError, match="died 3 times while loading: killed by SIGABRT; ggml_cuda: out"
        ):
            await process.ready(WAIT_S)
        assert process.status().state == "failed"
        with pytest.raises(EngineNotReadyError, match="out of memory"):
            await process.count_tokens(["x"])
    assert len(lives_of(spec)) == 3


async def test_reason_of_a_failed_load_is_what_the_child_said(spec: EngineSpec) -> None:
    async with engine(spec, "refuse") as process:
        with pytest.raises(EngineNotReadyError, match="unknown architecture"):
            await process.ready(WAIT_S)


async def test_engine_given_up_can_be_started_again(spec: EngineSpec) -> None:
    async with engine(spec, "load,load,load,serve") as process:
        with pytest.raises(EngineNotReadyError, match="died 3 times"):
            await process.ready(WAIT_S)
        await process.start()
        await process.ready(WAIT_S)
        assert process.status().reason == ""


async def test_crash_on_the_gpu_leads_down_the_ladder_to_the_cpu_with_the_gpu_hidden(
    spec: EngineSpec,
) -> None:
    async with engine(replace(spec, n_gpu_layers=20), "load,load,serve") as process:
        await process.ready(WAIT_S)
        assert "next try: 0 GPU layers" in process.status().reason
    lives = lives_of(spec)
    assert [life["order"]["model"]["n_gpu_layers"] for life in lives] == [20, 10, 0]
    assert [life["environment"]["CUDA_VISIBLE_DEVICES"] for life in lives] == [None, None, ""]


async def test_crash_while_answering_on_the_gpu_also_leads_down(spec: EngineSpec) -> None:
    async with engine(replace(spec, n_gpu_layers=-1), "serve") as process:
        await process.ready(WAIT_S)
        with pytest.raises(EngineLostError):
            await process.count_tokens(["die"])
        await process.ready(WAIT_S)
    assert [life["order"]["model"]["n_gpu_layers"] for life in lives_of(spec)] == [-1, 24]


async def test_missing_model_is_told_and_not_tried(spec: EngineSpec) -> None:
    spec.model_path.unlink()
    async with engine(spec, "serve") as process:
        with pytest.raises(EngineNotReadyError, match=r"model\.gguf cannot be read: No such file"):
            await process.ready(WAIT_S)
        assert process.status().state == "failed"
    assert lives_of(spec) == []


async def test_file_that_is_no_gguf_is_told_and_not_tried(spec: EngineSpec) -> None:
    spec.model_path.write_bytes(b"PK\x03\x04")
    async with engine(spec, "serve") as process:
        with pytest.raises(EngineNotReadyError, match="is not a GGUF file"):
            await process.ready(WAIT_S)
    assert lives_of(spec) == []


async def test_command_that_cannot_be_started_is_given_up(spec: EngineSpec) -> None:
    process = EngineProcess(spec, ("/nonexistent/python",), backoff_s=(0.0,))
    await process.start()
    with pytest.raises(EngineNotReadyError, match="cannot be started"):
        await process.ready(WAIT_S)
    await process.stop()


async def test_ready_gives_up_waiting_after_its_time(spec: EngineSpec) -> None:
    async with engine(spec, "serve") as process:
        with pytest.raises(EngineNotReadyError, match="not ready after 0 s"):
            await process.ready(0)


async def test_stop_fails_those_who_wait_and_is_no_restart(spec: EngineSpec) -> None:
    async with engine(spec, "serve") as process:
        await process.ready(WAIT_S)
        waiting = process.generate(ask("wait"))
        await anext(waiting)
        await process.stop()
        with pytest.raises(EngineNotReadyError, match="stopped"):
            await anext(waiting)
    assert len(lives_of(spec)) == 1
