"""Passages that are computed apart and joined, with the real 135M model in its own process."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.engine.pieces import block
from appliance.engine.process import WORKER, EngineProcess
from appliance.engine.request import Done, GenerateRequest, Logprob, Message, Reuse, Sampling, Token
from appliance.engine.spec import EngineSpec
from appliance.errors import EngineLostError
from tests.chaos.private_disk import NoDiskError, PrivateDisk

WAIT_S = 60.0
SYSTEM = Message("system", "Answer from the passages, with their exact names and figures.")
PASSAGES = (
    "[bcd] boiler.pdf, page 2\nThe safety valve of the boiler opens at 6.5 bar. The normal working pressure is 4.2 "
    "bar. The valve is checked each spring by the caretaker, who notes the date in the book beside the door.\n\n",
    "[fgh] rota.txt\nThe director of the clinic is on call on Friday. Doctor Lindqvist stands in for her on Sunday, "
    "and the night nurse has the key of the cabinet with the morphine.\n\n",
    "[jkl] garden.md\nThe apple trees behind the chapel are pruned in February. The pears wait until March. What is "
    "cut off is burnt on the second Saturday of the month, if the wind does not come from the west.\n\n",
)
OWNERS = tuple(letter * 32 for letter in "abc")
QUESTION = "At what pressure does the safety valve open?"
# The logprobs of the five best tokens differ by up to 0.21 when a prompt is cut into steps of 256, 64 or 32 tokens, by
# up to 0.22 when its passage was computed apart or kept; with another passage by 0.57 and more, with that of the test
# by 1.4 (three passages; 2026-11-30, 2 cores).
MAX_DIFFERENCE = 0.4


def asked(
    *passages: str, reuse: str = "blocks", max_tokens: int = 12, n_top: int | None = None
) -> GenerateRequest:
    marked = "".join(block(OWNERS[PASSAGES.index(text)], text) for text in passages)
    turn = Message("user", f"Passages:\n{marked}{QUESTION}")
    sampling = Sampling(logprobs=n_top)
    mode = Reuse("blend", 8) if reuse == "blend" else Reuse(reuse)  # type: ignore[arg-type]
    return GenerateRequest((SYSTEM, turn), max_tokens, sampling, reuse=mode)


async def answer(engine: EngineProcess, request: GenerateRequest) -> tuple[str, Done, list[Logprob]]:
    text = ""
    logprobs: list[Logprob] = []
    async with asyncio.timeout(WAIT_S):
        async for event in engine.generate(request):
            if isinstance(event, Token):
                text += event.text
                logprobs += event.logprobs
    assert isinstance(event, Done)
    return text, event, logprobs


@pytest.fixture
def spec(models_folder: Path, tmp_path: Path) -> EngineSpec:
    [model] = (models_folder / "smollm2-135m-instruct").glob("*.gguf")
    return EngineSpec(
        model_path=model, model_name="smollm2-135m-instruct", n_ctx=2048, max_sequences=2, max_waiting=2, n_batch=256,
        step_target_ms=150, threads=0, spin_count=1000, n_gpu_layers=0, blocks=tmp_path / "blocks", blocks_mb=100,
        reuse=Reuse("blocks"),
    )  # fmt: skip


@asynccontextmanager
async def running(spec: EngineSpec, command: Sequence[str] = WORKER) -> AsyncIterator[EngineProcess]:
    engine = EngineProcess(spec, command, backoff_s=(0.0,))
    await engine.start()
    try:
        await engine.ready(WAIT_S)
        yield engine
    finally:
        await engine.stop()


def kept(spec: EngineSpec) -> list[Path]:
    assert spec.blocks is not None
    return sorted(spec.blocks.rglob("*.kv"))


async def sizes(engine: EngineProcess, *passages: str) -> int:
    return sum(await engine.count_tokens(list(passages)))


def top(logprobs: Sequence[Logprob]) -> dict[bytes, float]:
    return {one.piece: one.logprob for one in logprobs[0].top}


def furthest(found: dict[bytes, float], expected: dict[bytes, float]) -> float:
    """How far the five best tokens are from what was expected; one that is not found is as far as can be."""
    return max(abs(found.get(piece, -100) - expected[piece]) for piece in list(expected)[:5])


async def test_one_passage_says_what_it_says_when_it_is_computed_in_its_place(spec: EngineSpec) -> None:
    request = asked(PASSAGES[0], max_tokens=1, n_top=20)
    async with running(replace(spec, blocks=None)) as engine:
        _, done, exact = await answer(engine, request)
        assert done.n_reused == 0
        _, _, of_another = await answer(engine, asked(PASSAGES[2], max_tokens=1, n_top=20))
    async with running(spec) as engine:
        _, done, cold = await answer(engine, request)
        assert done.n_reused == 0
    async with running(spec) as engine:
        _, done, warm = await answer(engine, request)
        assert done.n_reused == await sizes(engine, PASSAGES[0])
    for found in (top(cold), top(warm)):
        assert furthest(found, top(exact)) < MAX_DIFFERENCE
    assert furthest(top(of_another), top(exact)) > 2 * MAX_DIFFERENCE


@pytest.mark.parametrize("mode", ["blocks", "blend"])
async def test_several_passages_are_joined_and_answered_from(spec: EngineSpec, mode: str) -> None:
    async with running(spec) as engine:
        text, cold, _ = await answer(engine, asked(*PASSAGES, reuse=mode))
        assert (text != "", cold.n_reused) == (True, 0)
    assert [path.parent.name for path in kept(spec)] == list(OWNERS)
    async with running(spec) as engine:
        status = engine.status()
        assert (status.n_blocks, status.block_bytes) == (3, sum(path.stat().st_size for path in kept(spec)))
        assert (status.reuse, status.max_block_bytes) == (Reuse("blocks"), 100_000_000)
        again, warm, _ = await answer(engine, asked(*PASSAGES, reuse=mode))
        n_fresh = 8 * 2 if mode == "blend" else 0
        assert warm.n_reused == await sizes(engine, *PASSAGES) - n_fresh
        assert again == text, "cold and warm are one"
        other, done, _ = await answer(engine, asked(*PASSAGES[::-1], reuse=mode))
        assert other
        assert done.n_reused >= await sizes(engine, *PASSAGES) - n_fresh


async def test_engine_killed_while_it_prepares_or_writes_starts_well(spec: EngineSpec) -> None:
    order = asked(*PASSAGES).messages
    async with running(spec) as engine:
        preparing = asyncio.create_task(engine.prepare(order))
        async with asyncio.timeout(WAIT_S):
            while not kept(spec):  # noqa: ASYNC110 (it looks at files)
                await asyncio.sleep(0.002)
        pid = engine.status().pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(EngineLostError):
            await preparing
        n_kept = len(kept(spec))
        assert 0 < n_kept < 3
        half = kept(spec)[0].with_suffix(".part")  # as a write leaves it that is killed
        half.write_bytes(b"half")
        await engine.ready(WAIT_S)
        assert engine.status().n_blocks == n_kept
        assert not half.exists()
        assert await engine.prepare(order) == 3
        assert engine.status().n_blocks == 3
        _, done, _ = await answer(engine, asked(*PASSAGES))
        assert done.n_reused >= await sizes(engine, *PASSAGES)


@pytest.mark.parametrize("change", [{"kv_type": "q8_0"}, {"model_sha256": "another file"}], ids=str)
async def test_blocks_of_another_model_or_cache_are_not_used(
    spec: EngineSpec, change: dict[str, str]
) -> None:
    before = replace(spec, model_sha256="a file")
    after = replace(before, **change)  # type: ignore[arg-type]
    async with running(before) as engine:
        assert await engine.prepare(asked(*PASSAGES).messages) == 3
    theirs = kept(spec)
    async with running(after) as engine:
        _, done, _ = await answer(engine, asked(*PASSAGES))
        assert done.n_reused == 0
        assert engine.status().n_blocks == 6
    assert set(theirs) < set(kept(spec))
    async with running(before) as engine:
        _, done, _ = await answer(engine, asked(*PASSAGES))
        assert done.n_reused == await sizes(engine, *PASSAGES)


async def test_question_during_an_order_is_answered_first(spec: EngineSpec) -> None:
    async with running(spec) as engine:
        preparing = asyncio.create_task(engine.prepare(asked(*PASSAGES).messages))
        await asyncio.sleep(0)
        await answer(engine, asked(PASSAGES[1], max_tokens=1))
        assert not preparing.done()
        assert await preparing == 3
        assert (engine.status().n_preparing, engine.status().n_blocks) == (0, 3)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[PrivateDisk]:
    try:
        disk = PrivateDisk(tmp_path / "disk.img", tmp_path / "disk", 24)
    except NoDiskError as error:
        pytest.skip(str(error))
    yield disk
    disk.close()


async def test_full_disk_keeps_nothing_says_so_once_and_answers_go_on(
    spec: EngineSpec, disk: PrivateDisk, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "appliance.engine")
    disk.fill()
    async with running(
        replace(spec, blocks=tmp_path / "disk" / "blocks"), [*disk.wrapper, *WORKER]
    ) as engine:
        first, done, _ = await answer(engine, asked(*PASSAGES))
        assert (first != "", done.n_reused) == (True, 0)
        assert await engine.prepare(asked(*PASSAGES[1:]).messages) == 0
        assert engine.status().n_blocks == 0
        assert list(disk.path.rglob("*.kv")) == []
        assert caplog.text.count("a block was not kept") == 1
        disk.make_room()
        assert await engine.prepare(asked(*PASSAGES).messages) == 3
        assert engine.status().n_blocks == 3
