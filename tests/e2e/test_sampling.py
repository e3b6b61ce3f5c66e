"""Every sampling parameter of the OpenAI API, by the official client, against a real daemon and model."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from tests.e2e.daemon_process import DaemonProcess

MODEL = "smollm2-135m-instruct"
STORY = "Write a story about a lighthouse keeper."
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"type": "integer"},
        "mood": {"enum": ['so "so"', "back\\slash", "two\nlines", "größer 😀"]},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 8}, "minItems": 1, "maxItems": 2},
    },
    "required": ["name", "age", "mood", "tags"],
    "additionalProperties": False,
}


@pytest.fixture
async def client(daemon: DaemonProcess) -> AsyncIterator[openai.AsyncOpenAI]:
    transport = httpx.AsyncHTTPTransport(uds=str(daemon.socket))
    async with openai.AsyncOpenAI(
        base_url="http://appliance/v1",
        api_key="none",
        max_retries=0,
        http_client=httpx.AsyncClient(transport=transport, timeout=120),
    ) as client:
        yield client


async def chat(client: openai.AsyncOpenAI, question: str = STORY, **parameters: Any) -> ChatCompletion:
    given: dict[str, Any] = {"model": MODEL, "max_tokens": 16, **parameters}
    reply = await client.chat.completions.create(messages=[{"role": "user", "content": question}], **given)
    assert isinstance(reply, ChatCompletion)
    return reply


def text_of(reply: ChatCompletion) -> str:
    assert reply.choices[0].message.content is not None
    return reply.choices[0].message.content


def schema_format(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


async def test_a_seed_repeats_a_warm_answer_and_another_changes_it(client: openai.AsyncOpenAI) -> None:
    """Rounding may tip one answer of a seed (docs/api.md), but drawn freely no two of them would be equal."""
    texts = [text_of(await chat(client, temperature=1.3, top_p=1.0, seed=7)) for _ in range(5)]
    assert len(set(texts)) <= 3
    assert text_of(await chat(client, temperature=1.3, top_p=1.0, seed=8)) not in texts


async def test_one_choice_left_is_the_greedy_answer_however_warm(client: openai.AsyncOpenAI) -> None:
    await chat(
        client, max_tokens=1
    )  # the three find the prompt read alike: how it is cut moves the last digits
    greedy = text_of(await chat(client))
    assert text_of(await chat(client, temperature=2.0, extra_body={"top_k": 1})) == greedy
    assert text_of(await chat(client, temperature=0.7, extra_body={"min_p": 1.0})) == greedy


async def test_penalties_and_dry_end_a_repetition(client: openai.AsyncOpenAI) -> None:
    async def n_words(**parameters: Any) -> int:
        question = "Repeat after me: one two one two one two one two"
        return len(text_of(await chat(client, question, max_tokens=80, **parameters)).split())

    assert await n_words() > 60  # it says "two" over and over
    assert await n_words(frequency_penalty=1.5) < 40
    assert await n_words(extra_body={"repeat_penalty": 1.3}) < 40
    assert await n_words(extra_body={"dry_multiplier": 2.0}) < 40
    plain = text_of(await chat(client, "Say hello.", max_tokens=40))
    assert text_of(await chat(client, "Say hello.", max_tokens=40, presence_penalty=1.5)) != plain


async def test_a_bias_forces_a_token_or_bars_it(client: openai.AsyncOpenAI) -> None:
    async def said(**biases: float) -> str:
        return text_of(await chat(client, max_tokens=2, logit_bias={k[1:]: v for k, v in biases.items()}))

    first, second = await said(t1000=100), await said(t1001=100)
    assert first != second
    assert await said(t1000=100, t1001=60) == first
    assert await said(t1000=-100, t1001=60) == second


async def test_logprobs_cover_the_text_and_name_the_best(client: openai.AsyncOpenAI) -> None:
    reply = await chat(client, logprobs=True, top_logprobs=3)
    content = reply.choices[0].logprobs.content if reply.choices[0].logprobs else None
    assert content is not None
    assert b"".join(bytes(each.bytes or []) for each in content).decode() == text_of(reply)
    for each in content:
        assert len(each.top_logprobs) == 3
        assert each.top_logprobs[0].token == each.token  # it was greedy
        assert each.top_logprobs[0].logprob == each.logprob <= 0
        assert sorted((top.logprob for top in each.top_logprobs), reverse=True) == [
            top.logprob for top in each.top_logprobs
        ]
    assert (await chat(client)).choices[0].logprobs is None


async def test_logprobs_show_no_token_of_a_stop_string(client: openai.AsyncOpenAI) -> None:
    whole = text_of(await chat(client, max_tokens=24))
    stop = whole[20:26]  # within words: it begins and ends inside tokens
    stream = await client.chat.completions.create(
        model=MODEL, max_tokens=24, stop=[stop], logprobs=True, stream=True,
        messages=[{"role": "user", "content": STORY}],
    )  # fmt: skip
    chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == whole[: whole.index(stop)]
    parts = [c for chunk in chunks if (p := chunk.choices[0].logprobs) for c in p.content or []]
    told = b"".join(bytes(each.bytes or []) for each in parts).decode()
    assert text.startswith(told)
    assert len(text) - len(told) < 12  # what is missing is the token that the stop string begins in
    assert chunks[-1].choices[0].finish_reason == "stop"


@pytest.mark.parametrize(
    "schema",
    [
        PERSON,
        {
            "type": "array",
            "items": {"$ref": "#/$defs/n"},
            "minItems": 2,
            "maxItems": 2,
            "$defs": {"n": {"type": ["integer", "null"]}},
        },
    ],
)
async def test_an_answer_follows_its_schema(client: openai.AsyncOpenAI, schema: dict[str, Any]) -> None:
    for temperature in (0.0, 1.0):
        reply = await chat(
            client, "Describe Bob, who is 30.", max_tokens=200, temperature=temperature, seed=3,
            response_format=schema_format(schema),
        )  # fmt: skip
        assert reply.choices[0].finish_reason == "stop"
        said = json.loads(text_of(reply))
        if schema is PERSON:
            assert list(said) == ["name", "age", "mood", "tags"]
            assert isinstance(said["age"], int)
            assert said["mood"] in PERSON["properties"]["mood"]["enum"]  # type: ignore[index]
            assert 1 <= len(said["tags"]) <= 2
            assert len(said["name"]) <= 20
        else:
            assert len(said) == 2


async def test_json_mode_gives_an_object(client: openai.AsyncOpenAI) -> None:
    finished = []
    for seed in range(
        6
    ):  # a grammar allows one more key each time, and this model does not always find an end
        reply = await chat(
            client, "Describe Bob, who is 30, as JSON.", max_tokens=120, response_format={"type": "json_object"},
            temperature=1.0, seed=seed,
        )  # fmt: skip
        assert text_of(reply).startswith("{")
        if reply.choices[0].finish_reason == "stop":
            finished.append(json.loads(text_of(reply)))
    assert finished
    assert all(isinstance(each, dict) for each in finished)


async def test_a_grammar_is_followed_and_ends_the_answer(client: openai.AsyncOpenAI) -> None:
    reply = await chat(client, "Is water wet?", extra_body={"grammar": 'root ::= ("yes" | "no") " €"'})
    assert text_of(reply) in ("yes €", "no €")
    assert reply.choices[0].finish_reason == "stop"


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"extra_body": {"grammar": "root ::= ("}}, "grammar, line 1"),
        ({"extra_body": {"grammar": 'root ::= root "a"'}}, "left recursion"),
        ({"extra_body": {"grammar": 'root ::= "a"{5,2}'}}, "n not below m"),
        ({"extra_body": {"grammar": "root ::= " + "(" * 5000 + '"a"' + ")" * 5000}}, "nested more than 64"),
        (
            {"response_format": schema_format({"type": "integer", "minimum": 3})},
            "`minimum` cannot be promised",
        ),
        ({"response_format": schema_format({"$ref": "https://example.org/s"})}, "only places of this schema"),
        ({"response_format": schema_format({"$ref": "#"})}, "can begin with itself"),
        ({"response_format": schema_format({"enum": ["x" * 70_000]})}, "65536 are the most"),
        ({"logit_bias": {"4000000": 1}}, "token 4000000"),
        ({"logit_bias": {"x": 1}}, "logit_bias"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"top_logprobs": 2}, "only beside logprobs"),
        ({"n": 5}, "n: "),
        ({"temperature": 3}, "temperature"),
        ({"frequency_penalty": 9}, "frequency_penalty"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools: not offered"),
        ({"model": "appliance", "response_format": {"type": "json_object"}}, "cannot follow a format"),
        ({"model": "appliance", "n": 2}, "one answer from documents"),
        ({"model": "appliance", "logprobs": True}, "marks are put in by us"),
    ],
)
async def test_what_cannot_be_followed_is_a_400_and_the_engine_lives(
    client: openai.AsyncOpenAI, daemon: DaemonProcess, parameters: dict[str, Any], reason: str
) -> None:
    before = (await daemon.status()).engine
    with pytest.raises(openai.BadRequestError, match=reason):
        await chat(client, **parameters)
    after = (await daemon.status()).engine
    assert (after.pid, after.n_restarts, after.n_running) == (before.pid, before.n_restarts, 0)


async def test_several_answers_differ_and_pay_for_the_prompt_once(client: openai.AsyncOpenAI) -> None:
    long = "The keeper counts the ships. " * 60 + STORY
    reply = await chat(client, long, n=4, temperature=1.2, seed=11)
    assert [choice.index for choice in reply.choices] == [0, 1, 2, 3]
    texts = {choice.message.content for choice in reply.choices}
    assert len(texts) == 4
    assert reply.usage is not None
    assert reply.usage.completion_tokens == 64
    assert 300 < reply.usage.prompt_tokens < 600


async def test_several_answers_stream_beside_one_another(client: openai.AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model=MODEL, n=3, temperature=1.0, seed=5, max_tokens=8, stream=True, stream_options={"include_usage": True},
        messages=[{"role": "user", "content": STORY}],
    )  # fmt: skip
    chunks: list[ChatCompletionChunk] = [chunk async for chunk in stream]
    texts: dict[int, str] = {}
    ends: dict[int, str | None] = {}
    for choice in (choice for chunk in chunks for choice in chunk.choices):
        assert (choice.delta.role == "assistant") == (choice.index not in texts)
        texts[choice.index] = texts.get(choice.index, "") + (choice.delta.content or "")
        ends[choice.index] = choice.finish_reason
    assert sorted(texts) == [0, 1, 2]
    assert len(set(texts.values())) == 3
    assert set(ends.values()) <= {"stop", "length"}
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens <= 24


async def test_grounded_answers_take_what_makes_sense(client: openai.AsyncOpenAI) -> None:
    question = "At what pressure does the safety valve of the boiler open?"
    plain = text_of(await chat(client, question, model="appliance", max_tokens=40))
    stop = plain[5:9]
    cut = text_of(
        await chat(client, question, model="appliance", max_tokens=40, stop=stop, presence_penalty=0)
    )
    assert stop not in cut
