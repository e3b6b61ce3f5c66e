"""The remote engine against real servers, each its own process: another appliance, llama-cpp-python's server."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from appliance.api.schema import DoneEvent, PassagesEvent
from appliance.engine.address import parse_address
from appliance.engine.remote import RemoteEngine, RemoteSpec
from appliance.engine.request import Done, Event, GenerateRequest, Message, Queued, Sampling, Token
from appliance.errors import EngineLostError, EngineNotReadyError, PromptTooLongError
from tests.e2e.conftest import short_home
from tests.e2e.daemon_process import DaemonProcess
from tests.e2e.files import BOILER
from tests.e2e.test_kills import children

MODEL = "smollm2-135m-instruct"
GGUF = "smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf"
QUESTION = "At what pressure does the safety valve of the boiler open?"
START_S = 60.0
KEY = "a-key-of-this-test"


@pytest.fixture(scope="module")
def there(models_folder: Path) -> Iterator[DaemonProcess]:
    """The other appliance: it has the model, and no documents."""
    with short_home() as home:
        running = DaemonProcess(Path(home), models_folder)
        running.start()
        yield running
        running.stop()


class LlamaServer:
    """`python -m llama_cpp.server`."""

    def __init__(self, model: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}/v1"
        self._model = model
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        # One answer at a time; by default a second request breaks the first one's stream off.
        options = [
            "--model",
            str(self._model),
            "--host",
            "127.0.0.1",
            "--port",
            str(self._port),
            "--n_ctx",
            "1024",
        ]
        options += ["--api_key", KEY, "--interrupt_requests", "false", "--n_threads", "1"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "llama_cpp.server", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "GOMP_SPINCOUNT": "1000"},
        )  # fmt: skip
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            assert self._process.poll() is None, "llama_cpp.server does not start"
            try:
                httpx.get(f"{self.url}/models", timeout=5, trust_env=False)
                return
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError(f"llama_cpp.server not there after {START_S} s")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=30)


@pytest.fixture(scope="module")
def llama_server(models_folder: Path) -> Iterator[LlamaServer]:
    server = LlamaServer(models_folder / GGUF)
    server.start()
    yield server
    server.kill()


@asynccontextmanager
async def engine(url: str, **more: Any) -> AsyncIterator[RemoteEngine]:
    given: dict[str, Any] = {"n_ctx": 1024, "max_sequences": 2, "max_waiting": 2, **more}
    remote = RemoteEngine(RemoteSpec(parse_address(url), **given), backoff_s=(0.1, 0.2))
    await remote.start()
    try:
        await remote.ready(START_S)
        yield remote
    finally:
        await remote.stop()


def ask(text: str = "Count from one to fifty.", max_tokens: int = 24, **sampling: Any) -> GenerateRequest:
    return GenerateRequest((Message("user", text),), max_tokens, Sampling(**sampling))


async def answer(remote: RemoteEngine, request: GenerateRequest) -> tuple[str, Done]:
    *events, done = [event async for event in remote.generate(request)]
    assert isinstance(done, Done)
    return "".join(event.text for event in events if isinstance(event, Token)), done


async def broken_off(remote: RemoteEngine, kill: Callable[[], object]) -> None:
    """Kill what makes a long answer at its first token, and read on."""
    is_killed = False
    async for event in remote.generate(ask(max_tokens=800)):
        if isinstance(event, Token) and not is_killed:
            is_killed = True
            kill()


# --- another appliance ---


async def test_another_appliance_answers_with_its_chat_model_and_its_numbers(there: DaemonProcess) -> None:
    async with engine(f"unix:{there.socket}") as remote:
        status = remote.status()
        assert (status.state, status.model, status.n_ctx) == ("ready", MODEL, 4096)
        assert status.device == f"appliance at {there.socket}, tokens counted there"
        text, done = await answer(remote, ask())
        assert text
        assert (done.finish_reason, done.n_decoded) == ("length", 24)
        assert done.decode_tps > 0
        assert (await answer(remote, ask()))[0] == text  # greedy
        stopped, done = await answer(remote, ask(stop=(text[8:12],)))
        assert (stopped, done.finish_reason) == (text[: text.index(text[8:12])], "stop")


async def test_another_appliance_counts_as_its_model_does(there: DaemonProcess) -> None:
    async with engine(f"unix:{there.socket}") as remote:
        empty, short, control = await remote.count_tokens(["", "The valve opens at 6.5 bar.", "<|im_end|>"])
    assert empty == 0
    assert 5 < short < 15
    assert control > 1  # plain text, not the end of a turn


async def test_a_prompt_too_long_for_the_other_appliance_is_told_with_the_numbers(
    there: DaemonProcess,
) -> None:
    async with engine(f"unix:{there.socket}") as remote:
        with pytest.raises(PromptTooLongError) as caught:
            await answer(remote, ask("word " * 6000))
    assert caught.value.n_prompt > 6000
    assert (caught.value.max_tokens, caught.value.n_ctx) == (24, 4096)


async def test_a_closed_answer_frees_the_other_appliance(there: DaemonProcess) -> None:
    async with engine(f"unix:{there.socket}") as remote:
        async for event in remote.generate(ask(max_tokens=2000)):
            if isinstance(event, Token):
                break
        for _ in range(100):
            if (await there.status()).engine.n_running == 0:
                break
            await asyncio.sleep(0.1)
        assert (await there.status()).engine.n_running == 0


def test_a_question_is_answered_from_documents_here_by_a_model_there(
    there: DaemonProcess, own_home: Path, models_folder: Path
) -> None:
    here = DaemonProcess(own_home, models_folder)
    here.settings = {
        "APPLIANCE_ENGINE__BACKEND": "openai", "APPLIANCE_ENGINE__URL": f"unix:{there.socket}",
        "APPLIANCE_ENGINE__MODEL": "none-is-installed",
    }  # fmt: skip
    (here.documents / "boiler.pdf").write_bytes(BOILER)
    here.start()
    try:
        here.until_states(boiler="ready")
        assert children(here.pid, "appliance.engine") == []
        events = asyncio.run(here.ask(QUESTION))
        evidence = next(event for event in events if isinstance(event, PassagesEvent))
        assert evidence.passages[0].path == "boiler.pdf"
        done = events[-1]
        assert isinstance(done, DoneEvent)
        assert (done.model, done.context.n_ctx) == (MODEL, 4096)
        assert done.answer
        assert done.context.n_passages > 0
        assert done.timings.n_decoded > 0
        assert f"{MODEL} on appliance at {there.socket}" in here.run("status").stdout
        shown = here.run("config").stdout
        assert '"openai"' in shown
        assert str(there.socket) in shown
    finally:
        here.stop()


@pytest.fixture
def own_home() -> Iterator[Path]:
    with short_home() as home:
        yield Path(home)


async def test_the_other_appliance_dies_mid_answer_and_comes_back(
    own_home: Path, models_folder: Path
) -> None:
    other = DaemonProcess(own_home, models_folder)
    await asyncio.to_thread(other.start)
    try:
        async with engine(f"unix:{other.socket}") as remote:
            with pytest.raises(EngineLostError, match="ask again"):
                await broken_off(remote, lambda: other.kill(signal.SIGKILL))
            assert remote.status().state == "restarting"
            with pytest.raises(EngineNotReadyError, match="cannot be reached"):
                await answer(remote, ask())
            with pytest.raises(EngineNotReadyError, match="cannot be reached"):
                await remote.count_tokens(["x"])
            await asyncio.to_thread(other.start)
            await remote.ready(START_S)
            assert (await answer(remote, ask()))[0]
            assert (remote.status().state, remote.status().n_restarts) == ("ready", 1)
    finally:
        await asyncio.to_thread(other.stop)


async def test_an_engine_that_dies_in_the_other_appliance_is_lost_here_and_comes_back(
    own_home: Path, models_folder: Path
) -> None:
    other = DaemonProcess(own_home, models_folder)
    await asyncio.to_thread(other.start)
    try:
        async with engine(f"unix:{other.socket}") as remote:
            [child] = children((await other.status()).pid, "appliance.engine")
            with pytest.raises(EngineLostError):
                await broken_off(remote, lambda: os.kill(child, signal.SIGKILL))
            await remote.ready(START_S)
            assert (await answer(remote, ask()))[0]
    finally:
        await asyncio.to_thread(other.stop)


# --- python -m llama_cpp.server ---


async def test_llama_cpp_server_answers(llama_server: LlamaServer) -> None:
    async with engine(llama_server.url, key=KEY, max_sequences=1) as remote:
        status = remote.status()
        assert status.model.endswith(Path(GGUF).name)
        assert status.n_ctx == 1024  # the setting: it does not tell
        assert "llama_cpp.server at 127.0.0.1" in status.device
        assert "tokens estimated here" in status.device
        text, done = await answer(remote, ask())
        assert text
        assert done.finish_reason == "length"
        assert 20 <= done.n_decoded <= 24
        assert await remote.count_tokens(["123456"]) == [2]


async def test_llama_cpp_server_without_its_key_is_told(llama_server: LlamaServer) -> None:
    with pytest.raises(EngineNotReadyError, match=r"refuses the key .*engine\.key_file"):
        async with engine(llama_server.url, key="another"):
            pass


async def test_one_waits_while_llama_cpp_server_answers_another(llama_server: LlamaServer) -> None:
    async with engine(llama_server.url, key=KEY, max_sequences=1) as remote:
        first = remote.generate(ask(max_tokens=200))
        assert isinstance(await anext(first), Token)
        seen: list[Event] = []

        async def second() -> None:
            seen.extend([event async for event in remote.generate(ask(max_tokens=8))])

        waiting = asyncio.create_task(second())
        await asyncio.sleep(0.2)
        assert (remote.status().n_running, remote.status().n_waiting) == (1, 1)
        await first.aclose()
        await waiting
        assert isinstance(seen[0], Queued)
        assert isinstance(seen[-1], Done)


async def test_llama_cpp_server_dies_mid_answer_and_comes_back(models_folder: Path) -> None:
    server = LlamaServer(models_folder / GGUF)
    await asyncio.to_thread(server.start)
    try:
        async with engine(server.url, key=KEY) as remote:
            with pytest.raises(EngineLostError, match="ask again"):
                await broken_off(remote, server.kill)
            await asyncio.to_thread(server.start)
            await remote.ready(START_S)
            assert (await answer(remote, ask(max_tokens=8)))[0]
    finally:
        server.kill()
