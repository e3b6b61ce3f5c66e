"""What the step loop makes of samplers: ends, logprobs, refusals; with a scripted model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from appliance.engine import wire
from appliance.engine.request import Done, GenerateRequest, Logprob, Message, Sampling, Token
from appliance.errors import PromptTooLongError, SamplingError
from tests.engine.scripted_model import ScriptedModel, saying
from tests.engine.test_worker import Parent, worker


def ask(parent: Parent, number: int, sampling: Sampling, **fields: Any) -> None:
    request = GenerateRequest((Message("user", "Hi"),), sampling=sampling, **{"max_tokens": 20} | fields)
    parent.send("generate", number, request=wire.request_to_json(request))


def test_logprobs_travel_with_their_text() -> None:
    with worker(ScriptedModel(saying("né STOP"))) as parent:
        ask(parent, 1, Sampling(logprobs=1, stop=("STOP",)))
        *events, done = parent.hear(1, Done)
    tokens = [event for event in events if isinstance(event, Token)]
    assert [(token.text, b"".join(each.piece for each in token.logprobs)) for token in tokens] == [
        ("n", b"n"), ("é", "é".encode()), (" ", b" "),
    ]  # fmt: skip
    assert tokens[0].logprobs == (Logprob(b"n", -0.5, (Logprob(b"a", -1.0),)),)
    assert done.finish_reason == "stop"


def test_half_a_character_at_the_end_has_its_logprob_too() -> None:
    with worker(ScriptedModel(saying("é"))) as parent:
        ask(parent, 1, Sampling(logprobs=0), max_tokens=1)
        *events, _ = parent.hear(1, Done)
    told = [each for event in events if isinstance(event, Token) for each in event.logprobs]
    assert told == [Logprob(b"\xc3", -0.5)]


def test_answer_ends_where_the_grammar_accepts_nothing() -> None:
    def dead_end(tokens: Sequence[int]) -> int | None:
        return ord("x") if tokens[-1] == ord("\n") else None

    model = ScriptedModel(dead_end)  # type: ignore[arg-type]
    with worker(model) as parent:
        ask(parent, 1, Sampling(grammar='root ::= "x"'))
        text, done = parent.answer(1)
    assert (text, done.finish_reason, done.n_decoded) == ("x", "stop", 1)
    assert model.n_open_samplers == 0


def test_refused_requests_leave_no_sampler_behind() -> None:
    model = ScriptedModel()
    with worker(model) as parent:
        ask(parent, 1, Sampling(grammar="root ::= ("))
        [error] = parent.hear(1, SamplingError)
        assert "line 1" in str(error)
        ask(parent, 2, Sampling(schema='{"type": "nope"}'))
        [error] = parent.hear(2, SamplingError)
        assert 'type "nope" is unknown' in str(error)
        ask(parent, 3, Sampling(grammar='root ::= "a"'), max_tokens=5000)
        parent.hear(3, PromptTooLongError)
    assert model.n_open_samplers == 0
