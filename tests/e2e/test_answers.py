"""A question answered from a real document, through every way in."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess

import httpx
import openai
import pytest

from appliance.api.schema import AskEvent, DoneEvent, PassagesEvent, TokenEvent
from appliance.client import Client, RequestFailedError
from tests.e2e.daemon_process import DaemonProcess

QUESTION = "At what pressure does the safety valve of the boiler open?"
UNANSWERABLE = "Who won the football championship in Uruguay?"


def passages_of(events: list[AskEvent]) -> PassagesEvent:
    return next(event for event in events if isinstance(event, PassagesEvent))


async def test_the_evidence_comes_first_then_tokens_then_done_with_its_account(daemon: DaemonProcess) -> None:
    events = await daemon.ask(QUESTION)
    evidence = passages_of(events)
    assert events.index(evidence) == 0
    best = evidence.passages[0]
    assert (best.path, best.place["page"]) == ("boiler.pdf", 2)
    assert best.best is not None
    assert "6.5 bar" in best.text[slice(*best.best)]
    done = events[-1]
    assert isinstance(done, DoneEvent)
    assert done.answer.strip() == "".join(e.text for e in events if isinstance(e, TokenEvent)).strip()
    assert done.context.n_passages > 0
    assert done.timings.n_decoded > 0
    assert done.timings.decode_tps > 0


async def test_what_the_documents_do_not_say_is_said_at_once(daemon: DaemonProcess) -> None:
    done = (await daemon.ask(UNANSWERABLE))[-1]
    assert isinstance(done, DoneEvent)
    assert (done.answered, done.answer, done.citations) == (False, "The documents do not say.", [])


async def test_a_follow_up_pays_only_for_its_own_words(daemon: DaemonProcess) -> None:
    async with Client(daemon.socket) as client:
        first = [event async for event in client.ask(QUESTION)][-1]
        assert isinstance(first, DoneEvent)
        second = [
            event
            async for event in client.ask(
                "What is the normal working pressure of the boiler?", conversation=first.conversation
            )
        ][-1]
        assert isinstance(second, DoneEvent)
        assert second.timings.n_reused >= first.timings.n_prompt - 8
        assert second.context.n_history > 0
        kept = await client.conversation(first.conversation)
        assert kept.turns[0].question == QUESTION
        assert len(kept.turns) == 2
        await client.delete_conversation(first.conversation)
        with pytest.raises(RequestFailedError, match="no conversation"):
            await client.conversation(first.conversation)


async def test_a_client_that_goes_away_frees_the_engine(daemon: DaemonProcess) -> None:
    async with Client(daemon.socket) as client:
        async for event in client.ask(QUESTION):
            if isinstance(event, TokenEvent):
                break
    for _ in range(50):
        if (await daemon.status()).engine.n_running == 0:
            break
        await asyncio.sleep(0.1)
    assert (await daemon.status()).engine.n_running == 0


async def test_an_answer_that_comes_too_late_is_broken_off_and_says_so(daemon: DaemonProcess) -> None:
    transport = httpx.AsyncHTTPTransport(uds=str(daemon.socket))
    async with httpx.AsyncClient(transport=transport, base_url="http://appliance") as http:
        reply = await http.post("/api/ask", json={"question": QUESTION, "deadline_s": 0.05})
        assert "event: passages" in reply.text
        assert '"code":"deadline"' in reply.text.splitlines()[-2]
        body = {"model": "appliance", "deadline_s": 0.05, "messages": [{"role": "user", "content": QUESTION}]}
        plain = await http.post("/v1/chat/completions", json=body)
        assert (plain.status_code, plain.json()["error"]["code"]) == (504, "deadline")
    assert (await daemon.status()).engine.n_running == 0


def test_curl_streams_an_answer(daemon: DaemonProcess) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    body = {"model": "appliance", "stream": True, "messages": [{"role": "user", "content": QUESTION}]}
    ended = subprocess.run(
        ["curl", "--silent", "--no-buffer", "--unix-socket", str(daemon.socket), "http://appliance/v1/chat/completions",
         "--json", json.dumps(body)],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    lines = [line.removeprefix("data: ") for line in ended.stdout.splitlines() if line]
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1]]
    assert chunks[0]["appliance"]["passages"][0]["path"] == "boiler.pdf"
    assert chunks[-1]["choices"][0]["finish_reason"] in ("stop", "length")
    assert "citations" in chunks[-1]["appliance"]
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)


async def test_the_official_openai_client_streams_both_models(daemon: DaemonProcess) -> None:
    transport = httpx.AsyncHTTPTransport(uds=str(daemon.socket))
    async with openai.AsyncOpenAI(
        base_url="http://appliance/v1", api_key="none", http_client=httpx.AsyncClient(transport=transport)
    ) as client:
        names = [model.id async for model in client.models.list()]
        assert names == ["appliance", "smollm2-135m-instruct"]
        for name in names:
            stream = await client.chat.completions.create(
                model=name, stream=True, max_tokens=24, stream_options={"include_usage": True},
                messages=[{"role": "user", "content": QUESTION}],
            )  # fmt: skip
            chunks = [chunk async for chunk in stream]
            assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
            usage = chunks[-1].usage
            assert usage is not None
            assert usage.completion_tokens > 0


async def test_openai_errors_arrive_as_the_client_expects_them(daemon: DaemonProcess) -> None:
    transport = httpx.AsyncHTTPTransport(uds=str(daemon.socket))
    async with openai.AsyncOpenAI(
        base_url="http://appliance/v1",
        api_key="none",
        max_retries=0,
        http_client=httpx.AsyncClient(transport=transport),
    ) as client:
        messages: list[openai.types.chat.ChatCompletionMessageParam] = [{"role": "user", "content": "hello"}]
        with pytest.raises(openai.NotFoundError, match="no model 'gpt-4'"):
            await client.chat.completions.create(model="gpt-4", messages=messages)
        with pytest.raises(openai.BadRequestError, match="logprobs: the answer's marks"):
            await client.chat.completions.create(model="appliance", messages=messages, logprobs=True)
        long = "word " * 6000
        with pytest.raises(openai.BadRequestError, match="context 4096"):
            await client.chat.completions.create(
                model="smollm2-135m-instruct", messages=[{"role": "user", "content": long}]
            )
        whole = await client.chat.completions.create(model="appliance", messages=[
            {"role": "user", "content": QUESTION}]
        )  # fmt: skip
        assert whole.choices[0].message.content


async def test_bad_requests_are_told_in_one_shape(daemon: DaemonProcess) -> None:
    transport = httpx.AsyncHTTPTransport(uds=str(daemon.socket))
    async with httpx.AsyncClient(transport=transport, base_url="http://appliance") as http:
        for method, path, body, status, code in [
            ("POST", "/api/ask", {"question": ""}, 400, "bad_request"),
            ("POST", "/api/ask", {"question": "x", "conversation": "nope"}, 404, "not_found"),
            ("POST", "/api/search", {"query": "x", "m": 1}, 400, "bad_request"),
            ("GET", "/api/chunks/999999/around", None, 404, "not_found"),
            ("GET", "/api/nothing", None, 404, "not_found"),
            ("POST", "/api/documents?name=../x", None, 400, "bad_upload"),
            ("POST", "/api/documents?name=boiler.pdf", None, 409, "conflict"),
        ]:
            response = await http.request(method, path, json=body)
            assert response.status_code == status, (path, response.text)
            error = response.json()["error"]
            assert error["code"] == code
            assert error["message"]
        assert (await http.get("/healthz")).json()["status"] == "ok"


def test_the_socket_is_for_owner_and_group_only(daemon: DaemonProcess) -> None:
    assert daemon.socket.stat().st_mode & 0o777 == 0o660
