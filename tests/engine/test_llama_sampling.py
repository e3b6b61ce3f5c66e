"""Grammars and schemas in the real engine: what comes out, and that nothing that goes in ends the process."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from appliance.engine.process import EngineProcess
from appliance.engine.request import Done, GenerateRequest, Message, Sampling, Token
from appliance.engine.spec import EngineSpec
from appliance.errors import EngineLostError, SamplingError


@pytest.fixture
async def engine(models_folder: Path) -> AsyncIterator[EngineProcess]:
    [model] = (models_folder / "smollm2-135m-instruct").glob("*.gguf")
    engine = EngineProcess(EngineSpec(model, "smollm2-135m-instruct", 2048, 2, 2, 256, 150, 0, 1000, 0))
    await engine.start()
    await engine.ready(60)
    yield engine
    await engine.stop()


async def answer(engine: EngineProcess, sampling: Sampling, max_tokens: int = 120) -> tuple[str, Done]:
    request = GenerateRequest((Message("user", "Describe Bob, who is 30."),), max_tokens, sampling)
    events = [event async for event in engine.generate(request)]
    assert isinstance(events[-1], Done)
    return "".join(event.text for event in events if isinstance(event, Token)), events[-1]


async def test_answers_are_in_the_language_of_their_grammar(engine: EngineProcess) -> None:
    for grammar, expected in [
        ('root ::= "é😀" [0-9]{3} "!"', r"é😀\d{3}!"),
        ('root ::= ("ab" | "abc") "d"?', r"abc?d?"),
        ('root ::= "<|im_start|>"', r"<\|im_start\|>"),  # spelled out: the control token is no text
        ("root ::=", ""),
    ]:
        for sampling in (Sampling(grammar=grammar), Sampling(temperature=1.5, seed=2, grammar=grammar)):
            text, done = await answer(engine, sampling)
            assert re.fullmatch(expected, text), text
            assert done.finish_reason == "stop"


async def test_recursive_and_quoted_schemas_are_followed(engine: EngineProcess) -> None:
    node = {
        "type": "object",
        "properties": {
            "string": {
                "enum": ['a "quoted" one', "back\\slash\n"]
            },  # a name and values that the converter trips on
            "next_one": {"anyOf": [{"$ref": "#/$defs/list_node"}, {"type": "null"}]},
        },
        "required": ["string", "next_one"],
    }
    schema = json.dumps({"$ref": "#/$defs/list_node", "$defs": {"list_node": node}})
    finished = 0
    for seed in range(3):
        text, done = await answer(engine, Sampling(temperature=1.0, seed=seed, schema=schema), max_tokens=60)
        if done.finish_reason == "stop":
            finished += 1
            said = json.loads(text)
            assert set(said) == {"string", "next_one"}
            assert said["string"] in node["properties"]["string"]["enum"]  # type: ignore[index]
    assert finished


async def test_refused_grammars_leave_the_process_alone(engine: EngineProcess) -> None:
    pid = engine.status().pid
    for sampling in [
        Sampling(grammar="root ::= " + "(" * 100_000),
        Sampling(grammar='root ::= "a"{5,2}'),
        Sampling(grammar='root ::= ("a"{0,100}){100}'),  # past our reader; llama.cpp refuses it
        Sampling(schema="[" * 100_000),
        Sampling(schema=json.dumps({"type": "string", "maxLength": 100_000})),
        Sampling(logit_bias=((-1, 1.0),)),
    ]:
        with pytest.raises(SamplingError):
            await answer(engine, sampling)
    assert (await answer(engine, Sampling(), max_tokens=2))[1].n_decoded == 2
    assert engine.status().pid == pid


async def test_grammar_that_would_take_for_ever_costs_the_process_and_not_the_service(
    engine: EngineProcess,
) -> None:
    ambiguous = 'root ::= "-" root "b" | "-" root "c" | "-"'  # each character doubles the ways to read it
    with pytest.raises((EngineLostError, SamplingError)):
        await answer(engine, Sampling(grammar=ambiguous))
    await engine.ready(60)
    assert (await answer(engine, Sampling(), max_tokens=2))[1].n_decoded == 2
