"""What servers say, and what it means here: refusals, lists of models, counts, settings. No model, no process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from appliance.engine.address import find_key, parse_address
from appliance.engine.dialect import APPLIANCE, LLAMA_CPP, OPENAI, VLLM, RemoteModel, chat_body
from appliance.engine.pieces import block
from appliance.engine.refusal import error_of
from appliance.engine.remote import RemoteEngine, RemoteSpec
from appliance.engine.request import (
    Done,
    Event,
    GenerateRequest,
    Logprob,
    Message,
    Queued,
    Sampling,
    Token,
)
from appliance.errors import (
    ConfigError,
    DeadlineError,
    EngineBusyError,
    EngineError,
    EngineLostError,
    EngineNotReadyError,
    PromptTooLongError,
    SamplingError,
    UnsupportedRequestError,
)
from tests.engine.scripted_server import Reply, ScriptedServer, models, scripted_server, stream, text_chunk

CHAT = "POST /v1/chat/completions"
WAIT_S = 10.0
KEY = "sk-not-for-anyone"


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with scripted_server() as script:
        script.replies["GET /v1/models"] = models("m", max_model_len=4096)
        yield script


@asynccontextmanager
async def engine(server: ScriptedServer, **more: Any) -> AsyncIterator[RemoteEngine]:
    given: dict[str, Any] = {"n_ctx": 1000, "max_sequences": 2, "max_waiting": 2, **more}
    remote = RemoteEngine(RemoteSpec(parse_address(server.url), **given), poll_s=0.1, backoff_s=(0.05,))
    await remote.start()
    try:
        yield remote
    finally:
        await remote.stop()


def ask(
    text: str = "hello", user: str = "", deadline_s: float | None = None, **sampling: Any
) -> GenerateRequest:
    return GenerateRequest((Message("user", text),), 5, Sampling(**sampling), user, deadline_s)


async def answer(remote: RemoteEngine, request: GenerateRequest | None = None) -> list[Event]:
    return [event async for event in remote.generate(request or ask())]


# --- refusals ---


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "This model's maximum context length is 4096 tokens. However, you requested 5050 tokens "
                              "(5000 in the messages, 50 in the completion). Please reduce the length.", "code": 400}},
        {"object": "error", "message": "This model's maximum context length is 4096 tokens and your request has 5000 "
                                       "input tokens (50 > 4096 - 5000)."},
        {"error": {"message": "You passed 5000 input tokens and requested 50 output tokens. However, the model's "
                              "context length is only 4096 tokens, resulting in a maximum input length of 4046."}},
        {"error": {"code": 400, "message": "request (5000 tokens) exceeds the available context size (4096 tokens)"}},
        {"error": {"type": "exceed_context_size_error", "message": "too long", "n_prompt_tokens": 5000, "n_ctx": 4096}},
        {"error": {"code": "prompt_too_long", "message": str(PromptTooLongError(5000, 50, 4096))}},
    ],
    ids=["openai", "vllm until 0.10", "vllm", "llama.cpp", "llama.cpp with fields", "appliance"],
)  # fmt: skip
def test_a_prompt_that_is_too_long_keeps_its_numbers(body: dict[str, Any]) -> None:
    error = error_of(400, {}, body, max_tokens=50)
    assert isinstance(error, PromptTooLongError)
    assert (error.n_prompt, error.max_tokens, error.n_ctx) == (5000, 50, 4096)


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (400, b'{"error": {"message": "roles must alternate"}}', EngineError, "roles must alternate"),
        (401, b'{"error": {"message": "Incorrect API key: sk-abc"}}', EngineError, "engine.key_file"),
        (403, b"", EngineError, "refuses the key"),
        (404, b'{"detail": "Not Found"}', EngineError, "Not Found"),
        (429, b"slow down", EngineBusyError, "the engine is busy; try again in 5 s"),
        (500, b"<html><h1>Oops</h1></html>", EngineError, "Oops"),
        (502, b"", EngineNotReadyError, "HTTP 502"),
        (503, b'{"error": {"message": "Loading model"}}', EngineNotReadyError, "Loading model"),
        (503, b'{"error": {"code": "engine_lost", "message": "it stopped"}}', EngineLostError, "it stopped"),
        (
            400,
            b'{"error": {"code": "bad_sampling", "message": "grammar: no root"}}',
            SamplingError,
            "no root",
        ),
        (500, b"[1, 2]", EngineError, "[1, 2]"),
    ],
)
def test_refusals_mean_what_they_mean_here(
    status: int, body: bytes, kind: type[EngineError], said: str
) -> None:
    error = error_of(status, {}, body)
    assert type(error) is kind
    assert said in str(error)
    assert "sk-abc" not in str(error)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), (None, 5.0), ("Wed, 21 Oct 2026 07:28:00 GMT", 5.0), ("0", 1.0), ("nan", 5.0)],
)
def test_retry_after_is_kept_where_it_is_a_number(header: str | None, seconds: float) -> None:
    error = error_of(429, {} if header is None else {"retry-after": header}, b"")
    assert isinstance(error, EngineBusyError)
    assert error.retry_after_s == seconds


async def test_a_busy_server_is_told_as_busy_and_stays_ready(server: ScriptedServer) -> None:
    server.replies[CHAT] = Reply(429, {"error": {"message": "later"}}, {"Retry-After": "9"})
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        with pytest.raises(EngineBusyError, match="try again in 9 s"):
            await answer(remote)
        assert remote.status().state == "ready"


async def test_a_wrong_key_is_told_and_never_shown(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.replies["GET /v1/models"] = Reply(401, {"error": {"message": f"Incorrect API key: {KEY}"}})
    async with engine(server, key=KEY) as remote:
        with pytest.raises(EngineNotReadyError, match=r"refuses the key .HTTP 401.*engine.key_file"):
            await remote.ready(WAIT_S)
        assert remote.status().state == "failed"
        assert f"Authorization: Bearer {KEY}" in server.headers[0]
        server.replies["GET /v1/models"] = models("m")
        await until_ready(remote)
        assert KEY not in repr(remote.status())
    assert KEY not in caplog.text


async def until(true: Callable[[], bool]) -> None:
    for _ in range(500):
        if true():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("not within 10 s")


async def until_ready(remote: RemoteEngine) -> None:
    await until(lambda: remote.status().state == "ready")


# --- which model, how much context ---


@pytest.mark.parametrize(
    ("listed", "about", "expected"),
    [
        (models("a", "b", owned_by="vllm", max_model_len=512), {}, ("a", 512, "vLLM")),
        (models("a", owned_by="llamacpp", meta={"n_ctx_train": 2048}),
         {"GET /props": Reply(body={"default_generation_settings": {"n_ctx": 256}})}, ("a", 256, "llama.cpp server")),
        (models("a", owned_by="llamacpp", meta={"n_ctx_train": 2048}), {}, ("a", 2048, "llama.cpp server")),
        (models("a", owned_by="me"), {}, ("a", 1000, "llama_cpp.server")),
        (models("a"), {}, ("a", 1000, "OpenAI-compatible server")),
        (models("appliance", "a", owned_by="local"),
         {"GET /api/status": Reply(body={"engine": {"state": "ready", "reason": "", "n_ctx": 128}})},
         ("a", 128, "appliance")),
    ],
    ids=["vllm", "llama.cpp", "llama.cpp behind a gateway", "llama_cpp.server", "anything", "appliance"],
)  # fmt: skip
async def test_model_and_context_are_found(
    server: ScriptedServer, listed: Reply, about: dict[str, Reply], expected: tuple[str, int, str]
) -> None:
    server.replies |= {"GET /v1/models": listed, **about}
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        status = remote.status()
    assert (status.model, status.n_ctx, status.device.partition(" at ")[0]) == expected
    assert server.url.removeprefix("http://") in status.device


async def test_a_model_that_is_not_there_is_told_with_those_that_are(server: ScriptedServer) -> None:
    server.replies["GET /v1/models"] = models("a", "b")
    async with engine(server, model="c") as remote:
        with pytest.raises(EngineNotReadyError, match=r"no model 'c': set engine.remote_model .*\(a, b\)"):
            await remote.ready(WAIT_S)


async def test_a_model_that_loads_is_waited_for(server: ScriptedServer) -> None:
    server.replies["GET /v1/models"] = models("a", owned_by="llamacpp")
    server.replies["GET /props"] = Reply(503, {"error": {"message": "Loading model"}})
    async with engine(server) as remote:
        with pytest.raises(EngineNotReadyError, match=r"not ready after 0 s: .*Loading model"):
            await remote.ready(0.3)
        assert remote.status().state == "starting"
        server.replies["GET /props"] = Reply(body={"default_generation_settings": {"n_ctx": 256}})
        await remote.ready(WAIT_S)


@pytest.mark.parametrize("body", ["<html>welcome</html>", [1], {"data": [{"no": "id"}]}, {"data": None}])
async def test_what_is_no_such_server_is_told(server: ScriptedServer, body: Any) -> None:
    server.replies["GET /v1/models"] = Reply(body=body)
    async with engine(server) as remote:
        with pytest.raises(EngineNotReadyError, match=r"check engine\.url|no model at all"):
            await remote.ready(WAIT_S)


async def test_no_redirect_is_followed(server: ScriptedServer) -> None:
    server.replies["GET /v1/models"] = Reply(302, "", {"Location": f"{server.url}/elsewhere"})
    async with engine(server, key=KEY) as remote:
        with pytest.raises(EngineNotReadyError, match="HTTP 302"):
            await remote.ready(WAIT_S)
    assert server.asked("GET /elsewhere") == []


# --- counts ---


@pytest.mark.parametrize(
    ("owner", "reply", "sent"),
    [
        ("llamacpp", lambda body: {"tokens": list(body["content"])},
         {"content": "four", "add_special": False, "parse_special": False}),
        ("vllm", lambda body: {"count": len(body["prompt"])},
         {"model": "m", "prompt": "four", "add_special_tokens": False}),
    ],
)  # fmt: skip
async def test_tokens_are_counted_where_the_server_can(
    server: ScriptedServer, owner: str, reply: Any, sent: dict[str, Any]
) -> None:
    server.replies["GET /v1/models"] = models("m", owned_by=owner, max_model_len=100)
    server.replies["POST /tokenize"] = lambda body: Reply(body=reply(body))
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        assert await remote.count_tokens(["four", "", "seven77"]) == [4, 0, 7]
        assert "tokens counted there" in remote.status().device
    assert sent in server.asked("POST /tokenize")


async def test_a_gateway_without_that_route_leaves_an_estimate_which_status_says(
    server: ScriptedServer,
) -> None:
    server.replies["GET /v1/models"] = models("m", owned_by="vllm")
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        assert await remote.count_tokens(["123456", "1", "", "ä"]) == [2, 1, 0, 1]
        assert "tokens estimated here" in remote.status().device
        await remote.count_tokens(["again"])
    assert len(server.asked("POST /tokenize")) == 4


# --- answers ---


async def test_an_answer_and_its_account(server: ScriptedServer) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
    server.replies[CHAT] = stream(
        {"choices": [{"delta": {"role": "assistant", "content": None}, "finish_reason": None}]},
        text_chunk("One\u2028line\u0085 "), text_chunk("ü"), text_chunk("", "length"),
        {"choices": [], "usage": usage}, "[DONE]",
    )  # fmt: skip
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        *tokens, done = await answer(remote)
    assert tokens == [Token("One\u2028line\u0085 "), Token("ü")]
    assert isinstance(done, Done)
    assert (done.finish_reason, done.n_prompt, done.n_reused, done.n_decoded) == ("length", 9, 4, 3)
    assert done.ttft_s > 0
    [sent] = server.asked(CHAT)
    assert sent == {
        "model": "m", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 5, "stream": True,
        "stream_options": {"include_usage": True}, "temperature": 0.0, "frequency_penalty": 0.0,
        "presence_penalty": 0.0,
    }  # fmt: skip


async def test_no_server_is_told_of_blocks_and_nothing_is_prepared_there(server: ScriptedServer) -> None:
    marked = (Message("user", f"Passages:\n{block('ab' * 16, 'one, ')}why?"), Message("assistant", "so"))
    server.replies[CHAT] = stream(text_chunk("a", "stop"), "[DONE]")
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        assert await remote.prepare(marked) == 0
        done = (await answer(remote, GenerateRequest(marked, 5)))[-1]
        assert await remote.count_tokens([marked[0].content, "why?"]) == [7, 2]
    [sent] = server.asked(CHAT)
    assert sent["messages"] == [
        {"role": "user", "content": "Passages:\none, why?"}, {"role": "assistant", "content": "so"},
    ]  # fmt: skip
    assert isinstance(done, Done)
    assert done.n_prompt == 7 + 1


async def test_logprobs_come_with_their_tokens(server: ScriptedServer) -> None:
    told = {"token": "ü", "logprob": -0.5, "bytes": [195, 188],
            "top_logprobs": [{"token": "u", "logprob": -1.0, "bytes": None}]}  # fmt: skip
    chunk = text_chunk("ü", "stop")
    chunk["choices"][0]["logprobs"] = {"content": [told]}
    server.replies[CHAT] = stream(chunk, "[DONE]")
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        events = await answer(remote, ask(logprobs=1))
    assert events[0] == Token("ü", (Logprob("ü".encode(), -0.5, (Logprob(b"u", -1.0),)),))


async def test_without_usage_pieces_count_as_tokens(server: ScriptedServer) -> None:
    server.replies[CHAT] = stream(text_chunk("a"), text_chunk("b", "stop"), "[DONE]")
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        done = (await answer(remote, ask("x" * 30)))[-1]
    assert isinstance(done, Done)
    assert (done.n_prompt, done.n_decoded, done.finish_reason) == (10, 2, "stop")


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (stream(text_chunk("a")), EngineLostError, "ended the answer early"),
        (stream(), EngineLostError, "ended the answer early"),
        (stream(text_chunk("a"), "[DONE]"), EngineLostError, "ended the answer early"),
        (stream(text_chunk("a"), {"error": {"code": "engine_lost", "message": "gone", "status": 503}}),
         EngineLostError, "gone"),
        (stream(text_chunk("a"), {"error": {"code": 500, "message": "out of memory"}}), EngineError, "out of memory"),
        (stream(text_chunk("a"), "{not json"), EngineError, "check engine.url"),
        (Reply(200, "data: {}\r\n\r\n", {"Content-Length": "999"}), EngineLostError, "broke"),
    ],
    ids=["end", "nothing", "done without a reason", "lost", "failed", "no json", "cut"],
)  # fmt: skip
async def test_an_answer_that_breaks_off_is_an_error(
    server: ScriptedServer, reply: Reply, kind: type[EngineError], said: str
) -> None:
    server.replies[CHAT] = reply
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        with pytest.raises(kind, match=said):
            await answer(remote)
        await until_ready(remote)
        assert remote.status().n_running == 0


async def test_a_server_that_refuses_a_long_prompt_without_a_word_is_understood(
    server: ScriptedServer,
) -> None:
    server.replies[CHAT] = stream()
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        with pytest.raises(EngineError, match="may be too long for its context of 4096 tokens"):
            await answer(remote, ask("x" * 3 * 4096))


async def test_on_reload_the_server_is_looked_at_anew(server: ScriptedServer) -> None:
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        server.replies["GET /v1/models"] = models("m2", max_model_len=8192)
        remote.reload()
        await until(lambda: remote.status().model == "m2")
        assert (remote.status().n_ctx, remote.status().n_restarts) == (8192, 0)


async def test_a_closed_answer_hangs_up_and_a_late_one_too(server: ScriptedServer) -> None:
    server.replies[CHAT] = stream(text_chunk("a"), hangs=True)
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        events = remote.generate(ask())
        assert await anext(events) == Token("a")
        assert remote.status().n_running == 1
        await events.aclose()
        assert remote.status().n_running == 0
        with pytest.raises(DeadlineError, match=r"within 0\.2 s: 1 tokens"):
            await answer(remote, ask(deadline_s=0.2))
        await until(lambda: server.n_hung_up == 2)
        assert remote.status().state == "ready"


async def test_the_server_gets_no_more_at_once_than_it_may_and_users_take_turns(
    server: ScriptedServer,
) -> None:
    server.replies[CHAT] = stream(text_chunk("a"), hangs=True)
    async with engine(server, max_sequences=1, max_waiting=2) as remote:
        await remote.ready(WAIT_S)
        first, second, third = (remote.generate(ask(user=user)) for user in ("ann", "ann", "bob"))
        assert await anext(first) == Token("a")
        assert await anext(second) == Queued(1, 5.0)
        assert await anext(third) == Queued(2, 10.0)
        assert (remote.status().n_running, remote.status().n_waiting) == (1, 2)
        with pytest.raises(EngineBusyError, match="2 questions are waiting already; try again in 10 s"):
            await answer(remote)
        await second.aclose()
        assert await anext(third) == Queued(1, 5.0)
        await first.aclose()
        assert await anext(third) == Token("a")
        await third.aclose()
        assert len(server.asked(CHAT)) == 2
        assert (remote.status().n_running, remote.status().n_waiting) == (0, 0)


async def test_a_running_answer_is_not_disturbed_by_looks_at_the_server(server: ScriptedServer) -> None:
    server.replies[CHAT] = stream(text_chunk("a"), hangs=True)
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        events = remote.generate(ask())
        await anext(events)
        n_before = len(server.requests)
        await asyncio.sleep(0.5)
        assert len(server.requests) == n_before
        await events.aclose()


async def test_a_server_that_says_it_is_not_well_is_away_until_it_is(server: ScriptedServer) -> None:
    async with engine(server) as remote:
        await remote.ready(WAIT_S)
        server.replies["GET /health"] = server.replies["GET /v1/models"] = Reply(503)
        await until(lambda: remote.status().state != "ready")
        assert remote.status().state == "restarting"
        with pytest.raises(EngineNotReadyError, match="HTTP 503"):
            await answer(remote)
        server.replies["GET /v1/models"] = models("m2", max_model_len=4096)
        await until_ready(remote)
        status = remote.status()
        assert (status.model, status.n_restarts, status.reason) == ("m2", 1, "")
        assert "HTTP 503" in status.note


# --- sampling ---


@pytest.mark.parametrize(
    ("dialect", "sampling", "sent"),
    [
        (OPENAI, Sampling(temperature=0.5, seed=3, stop=("a", "b")),
         {"temperature": 0.5, "top_p": 0.95, "seed": 3, "stop": ["a", "b"]}),
        (LLAMA_CPP, Sampling(temperature=0.5, grammar="root ::= x"),
         {"top_k": 40, "min_p": 0.05, "repeat_penalty": 1.0, "grammar": "root ::= x", "dry_multiplier": 0.0}),
        (VLLM, Sampling(repeat_penalty=1.1, logit_bias=((5, -1.0),), logprobs=2),
         {"repetition_penalty": 1.1, "logit_bias": {"5": -1.0}, "logprobs": True, "top_logprobs": 2}),
        (OPENAI, Sampling(schema='{"type": "object"}'),
         {"response_format": {"type": "json_schema",
                              "json_schema": {"name": "answer", "strict": True, "schema": {"type": "object"}}}}),
    ],
)  # fmt: skip
def test_sampling_is_said_in_the_servers_words(
    dialect: Any, sampling: Sampling, sent: dict[str, Any]
) -> None:
    body = chat_body(GenerateRequest((), 5, sampling), RemoteModel("m", dialect, 0))
    assert sent.items() <= body.items()


def test_another_appliance_is_told_only_what_differs_from_the_defaults() -> None:
    plain, asked = (
        set(chat_body(GenerateRequest((), 5, sampling), RemoteModel("m", APPLIANCE, 0)))
        for sampling in (Sampling(), Sampling(temperature=0.5, top_k=10, repeat_penalty=1.1))
    )
    assert plain == {"model", "messages", "max_tokens", "stream", "stream_options"}
    assert asked - plain == {"temperature", "top_k", "repeat_penalty"}


def test_what_the_server_cannot_be_told_is_refused_and_named() -> None:
    with pytest.raises(UnsupportedRequestError, match="grammar: the vLLM behind this one"):
        chat_body(GenerateRequest((), 5, Sampling(grammar="root ::= x")), RemoteModel("m", VLLM, 0))
    with pytest.raises(UnsupportedRequestError, match="min_p"):
        chat_body(GenerateRequest((), 5, Sampling(temperature=1, min_p=0.2)), RemoteModel("m", OPENAI, 0))


# --- address and key ---


@pytest.mark.parametrize(
    ("url", "base", "name"),
    [
        ("http://box:8000", "http://box:8000", "box:8000"),
        ("http://box:8000/v1/", "http://box:8000", "box:8000"),
        ("https://box/llm/v1", "https://box/llm", "box/llm"),
        ("http://[::1]:80", "http://[::1]:80", "[::1]:80"),
        ("unix:/run/a.sock", "http://remote", "/run/a.sock"),
        ("unix:///run/a.sock", "http://remote", "/run/a.sock"),
    ],
)
def test_an_address_is_read(url: str, base: str, name: str) -> None:
    address = parse_address(url)
    assert (address.base, address.name) == (base, name)


@pytest.mark.parametrize(
    "url",
    [None, "", "box:8000", "ftp://box", "http://", "unix:", "unix:a.sock", "http://box:x", "http://u:p@box",
     "http://box/?key=1"],
)  # fmt: skip
def test_a_wrong_address_is_refused_without_being_repeated(url: str | None) -> None:
    with pytest.raises(ConfigError, match=r"engine\.url") as caught:
        parse_address(url)
    assert "u:p" not in str(caught.value)


def test_a_key_comes_from_its_file_and_no_message_repeats_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    file.chmod(0o600)
    assert find_key(str(file), None) == KEY
    assert caplog.text == ""
    file.chmod(0o644)
    find_key(str(file), None)
    assert "everyone on this machine may read" in caplog.text
    assert find_key(None, None) == ""
    for key_file, key, said in [
        (str(file), KEY, "leave one of them out"), (str(tmp_path / "none"), None, "No such file"),
        (None, "two words of sk-not", "one word"), (None, "", "one word"),
    ]:  # fmt: skip
        with pytest.raises(ConfigError, match=said) as caught:
            find_key(key_file, key)
        assert "sk-not" not in str(caught.value)
