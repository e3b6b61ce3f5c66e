"""Several answers to one chat, with the real 135M model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from appliance.api.choices import together
from appliance.engine.process import EngineProcess
from appliance.engine.request import Done, GenerateRequest, Message, Sampling, Token
from appliance.engine.spec import EngineSpec
from appliance.errors import EngineBusyError

STORY = "Write a story about a lighthouse keeper. " * 20


@pytest.fixture(scope="module")
def spec(models_folder: Path) -> EngineSpec:
    [model] = (models_folder / "smollm2-135m-instruct").glob("*.gguf")
    return EngineSpec(
        model_path=model, model_name="smollm2-135m-instruct", n_ctx=2048, max_sequences=4, max_waiting=2, n_batch=64,
        step_target_ms=150, threads=0, spin_count=1000, n_gpu_layers=0,
    )  # fmt: skip


@pytest.fixture
async def engine(spec: EngineSpec) -> AsyncIterator[EngineProcess]:
    engine = EngineProcess(spec)
    await engine.start()
    await engine.ready(60)
    yield engine
    await engine.stop()


def requests(n: int, max_tokens: int = 12) -> list[GenerateRequest]:
    samplings = [Sampling(temperature=1.0, seed=seed) for seed in range(n)]
    return [GenerateRequest((Message("user", STORY),), max_tokens, each) for each in samplings]


async def test_the_prompt_is_computed_once_for_all(engine: EngineProcess) -> None:
    events = [pair async for pair in together(engine, requests(4))]
    done = {which: event for which, event in events if isinstance(event, Done)}
    assert sorted(done) == [0, 1, 2, 3]
    assert done[0].n_reused == 0
    for which in (1, 2, 3):
        assert done[which].n_reused == done[which].n_prompt - 1
    texts = [
        "".join(e.text for at, e in events if at == which and isinstance(e, Token)) for which in range(4)
    ]
    assert len(set(texts)) == 4


async def test_closing_it_ends_them_all(engine: EngineProcess) -> None:
    async with aclosing(together(engine, requests(3, max_tokens=300))) as events:
        async for which, event in events:
            if which == 2 and isinstance(event, Token):
                break
    await asyncio.sleep(0)
    assert engine.status().n_running == 0


async def test_one_that_is_refused_ends_the_others(engine: EngineProcess, spec: EngineSpec) -> None:
    with pytest.raises(EngineBusyError):
        async for _ in together(engine, requests(spec.max_sequences + spec.max_waiting + 2, max_tokens=100)):
            pass
    assert engine.status().n_running == 0
