"""The parent's side: children that die on cue, and what becomes of those who asked."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from appliance.engine.process import RETRY_S, EngineProcess
from appliance.engine.request import GenerateRequest, Message, Queued
from appliance.engine.spec import EngineSpec
from appliance.errors import EngineLostError, EngineNotReadyError
from appliance.hardware import ROOT
from tests.engine.dying_engine import card
from tests.engine.made_gguf import MIB, write_gguf

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
async def engine(
    spec: EngineSpec, lives: str, retry_s: float = RETRY_S, root: Path = ROOT, **environment: str
) -> AsyncIterator[EngineProcess]:
    command = (sys.executable, str(DYING), lives, str(spec.model_path.parent))
    process = EngineProcess(
        spec, command, environment={"PATH": "/usr/bin:/bin", **environment}, backoff_s=(0.0,),
        retry_s=retry_s, root=root,
    )  # fmt: skip
    await process.start()
    try:
        yield process
    finally:
        await process.stop()


def lives_of(spec: EngineSpec) -> list[dict[str, Any]]:
    notes = sorted(spec.model_path.parent.glob("life*"), key=lambda file: int(file.name.removeprefix("life")))
    return [json.loads(note.read_text()) for note in notes]


def layers_of(spec: EngineSpec) -> list[int | str]:
    """Return how many layers each child was told to put on the GPU; "asked": it was only to say what it sees."""
    orders = [life["order"] for life in lives_of(spec)]
    return [order["model"]["n_gpu_layers"] if order["kind"] == "load" else "asked" for order in orders]


def report_devices(spec: EngineSpec, *lists: list[dict[str, Any]]) -> None:
    """Let each child report the next of these lists of devices."""
    (spec.model_path.parent / "devices.json").write_text(json.dumps(lists))


def memory_of(root: Path, free_mib: int, cpus: str = "0") -> Path:
    """Lay out a machine with so much free memory."""
    for name, text in {
        "proc/meminfo": f"MemTotal: {free_mib * 1024} kB\nMemAvailable: {free_mib * 1024} kB\n",
        "proc/self/status": f"Cpus_allowed_list:\t{cpus}\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not condition():  # noqa: ASYNC110 (it looks at files)
            await asyncio.sleep(0.02)


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
    assert status.reason == ""
    assert status.note.startswith("killed by SIGABRT")


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
        assert process.status().reason == ""
        assert "out of memory (next try: the CPU alone)" in process.status().note
    lives = lives_of(spec)
    assert [life["order"]["model"]["n_gpu_layers"] for life in lives] == [20, 10, 0]
    assert [life["environment"]["CUDA_VISIBLE_DEVICES"] for life in lives] == [None, None, ""]


async def test_fitted_layers_then_half_of_them_then_the_cpu(spec: EngineSpec) -> None:
    write_gguf(spec.model_path)
    async with engine(replace(spec, n_gpu_layers=-1), "load,load,serve") as process:
        await process.ready(WAIT_S)
    models = [life["order"]["model"] for life in lives_of(spec)]
    assert [(model["n_gpu_layers"], model["tensor_split"]) for model in models] == [
        (5, [5]),
        (2, [2]),
        (0, []),
    ]


async def test_crash_while_answering_on_the_gpu_also_leads_down(spec: EngineSpec) -> None:
    write_gguf(spec.model_path)
    async with engine(replace(spec, n_gpu_layers=-1), "serve") as process:
        await process.ready(WAIT_S)
        with pytest.raises(EngineLostError):
            await process.count_tokens(["die"])
        await process.ready(WAIT_S)
    assert [life["order"]["model"]["n_gpu_layers"] for life in lives_of(spec)] == [5, 2]


async def test_full_gpu_is_hidden_and_the_numbers_are_told(spec: EngineSpec) -> None:
    write_gguf(spec.model_path)
    report_devices(spec, [card(40 * MIB)])
    async with engine(replace(spec, n_gpu_layers=-1), "serve") as process:
        await process.ready(WAIT_S)
        assert "no layer fits the GPU (CUDA0 40 MiB free" in process.status().note
    orders = [life["order"] for life in lives_of(spec)]
    assert [order["kind"] for order in orders] == ["stop", "load"]
    assert orders[1]["model"]["n_gpu_layers"] == 0


async def test_two_cards_and_a_mixture_are_told_to_the_child(spec: EngineSpec) -> None:
    write_gguf(spec.model_path, experts_mib=400)
    report_devices(spec, [card(1000 * MIB, 1), card(800 * MIB, 2)])
    async with engine(replace(spec, n_gpu_layers=-1), "serve") as process:
        await process.ready(WAIT_S)
    [model] = [life["order"]["model"] for life in lives_of(spec)]
    assert (model["n_gpu_layers"], model["devices"], model["n_cpu_experts"]) == (5, [1, 2], 2)


async def test_build_without_a_gpu_never_climbs(spec: EngineSpec) -> None:
    report_devices(spec, [])
    async with engine(replace(spec, n_gpu_layers=-1), "serve", retry_s=0.01) as process:
        await process.ready(WAIT_S)
        process.reload()
        await asyncio.sleep(0.3)
        assert process.status().n_restarts == 0
    assert [life["order"]["model"]["n_gpu_layers"] for life in lives_of(spec)] == [0]


async def test_gpu_is_tried_again_later_when_nobody_is_being_answered(spec: EngineSpec) -> None:
    write_gguf(spec.model_path)
    async with engine(replace(spec, n_gpu_layers=-1), "load,load,serve", retry_s=0.05) as process:
        await until(lambda: len(lives_of(spec)) >= 5)
        await process.ready(WAIT_S)
        assert await process.count_tokens(["back"]) == [4]
    assert layers_of(spec) == [5, 2, 0, "asked", 5]


async def test_engine_that_works_is_kept_while_the_gpu_is_full(spec: EngineSpec) -> None:
    write_gguf(spec.model_path)
    full, free = [card(40 * MIB)], [card(4096 * MIB)]
    report_devices(spec, full, full, full, full, free)
    async with engine(replace(spec, n_gpu_layers=-1), "serve", retry_s=0.05) as process:
        await until(lambda: len(lives_of(spec)) >= 4)
        pid = process.status().pid
        assert (process.status().state, process.status().n_restarts) == ("ready", 1)
        await until(lambda: len(lives_of(spec)) >= 6)
        await process.ready(WAIT_S)
        assert process.status().pid != pid
    assert layers_of(spec) == ["asked", 0, "asked", "asked", "asked", 5]


async def test_reload_tries_the_gpu_again_once_the_answer_is_made(spec: EngineSpec) -> None:
    write_gguf(spec.model_path)
    async with engine(replace(spec, n_gpu_layers=-1), "load,load,serve") as process:
        await process.ready(WAIT_S)
        waiting = process.generate(ask("wait"))
        await anext(waiting)
        process.reload()
        await asyncio.sleep(0.3)
        assert len(lives_of(spec)) == 3
        await waiting.aclose()
        await until(lambda: len(lives_of(spec)) == 5)
        await process.ready(WAIT_S)
    assert layers_of(spec)[-1] == 5


async def test_reload_starts_an_engine_again_that_was_given_up(spec: EngineSpec) -> None:
    async with engine(spec, "load,load,load,serve") as process:
        with pytest.raises(EngineNotReadyError, match="died 3 times"):
            await process.ready(WAIT_S)
        process.reload()
        await process.ready(WAIT_S)


async def test_cache_that_memory_cannot_hold_is_refused_with_the_numbers(spec: EngineSpec) -> None:
    write_gguf(spec.model_path)
    box = memory_of(spec.model_path.parent / "box", free_mib=1000)
    async with engine(replace(spec, n_ctx=65536), "serve", root=box) as process:
        with pytest.raises(
            EngineNotReadyError,
            match=r"0\.5 GiB of weights, 1\.0 GiB of KV cache for 65536 tokens \(f16\).* 1\.0 GiB are free: "
            r"lower engine\.n_ctx \(\d+ fits\)",
        ):
            await process.ready(WAIT_S)
        assert process.status().state == "failed"
    assert [life["order"]["kind"] for life in lives_of(spec)] == ["stop"]


async def test_cache_of_coarser_numbers_is_taken_where_f16_does_not_fit(spec: EngineSpec) -> None:
    write_gguf(spec.model_path)
    box = memory_of(spec.model_path.parent / "box", free_mib=1300)
    async with engine(replace(spec, n_ctx=65536, kv_type="auto"), "serve", root=box) as process:
        await process.ready(WAIT_S)
    [life] = lives_of(spec)
    assert life["order"]["model"]["kv_type"] == "q8_0"


async def test_engine_stays_on_one_socket(spec: EngineSpec) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core")
    first, second = sorted(os.sched_getaffinity(0))[:2]
    box = memory_of(spec.model_path.parent / "box", free_mib=1000, cpus=f"{first},{second}")
    for cpu, socket in ((first, 0), (second, 1)):
        folder = box / f"sys/devices/system/cpu/cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{socket}\n")
    async with engine(replace(spec, threads=0), "serve", root=box) as process:
        await process.ready(WAIT_S)
    [life] = lives_of(spec)
    assert (life["cpus"], life["order"]["model"]["n_threads"]) == ([first], 1)


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
