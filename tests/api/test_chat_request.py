from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from appliance.api.chat_request import ChatRequest, check_offered, grounded_question, plain_requests
from appliance.engine.pieces import block
from appliance.engine.request import Message, Sampling
from appliance.errors import UnsupportedRequestError
from ingest.access import Viewer

ME = Viewer(1000, frozenset())


def body(**fields: Any) -> ChatRequest:
    return ChatRequest.model_validate(
        {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **fields}
    )


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, Sampling()),
        ({"temperature": None, "logit_bias": None, "n": None, "response_format": None}, Sampling()),
        ({"stop": "x"}, Sampling(stop=("x",))),
        ({"stop": ["x", "y"], "seed": -3, "min_p": 0}, Sampling(stop=("x", "y"), seed=-3, min_p=0)),
        ({"logit_bias": {"7": -100, "9": 2.5}}, Sampling(logit_bias=((7, -100.0), (9, 2.5)))),
        ({"temperature": 1, "top_k": 5, "top_p": 0.5}, Sampling(temperature=1, top_k=5, top_p=0.5)),
        ({"frequency_penalty": 1, "presence_penalty": -1, "repeat_penalty": 1.1},
         Sampling(frequency_penalty=1, presence_penalty=-1, repeat_penalty=1.1)),
        ({"dry_multiplier": 0.8, "dry_base": 2, "dry_allowed_length": 3},
         Sampling(dry_multiplier=0.8, dry_base=2, dry_allowed_length=3)),
        ({"logprobs": True}, Sampling(logprobs=0)),
        ({"logprobs": True, "top_logprobs": 5}, Sampling(logprobs=5)),
        ({"grammar": 'root ::= "a"'}, Sampling(grammar='root ::= "a"')),
        ({"response_format": {"type": "text"}}, Sampling()),
        ({"response_format": {"type": "json_object"}}, Sampling(schema='{"type": "object"}')),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "null"}}}},
         Sampling(schema='{"type": "null"}')),
    ],
)  # fmt: skip
def test_parameters_reach_the_engine(fields: dict[str, Any], expected: Sampling) -> None:
    asked = body(**fields)
    check_offered(asked, grounded=False)
    [request] = plain_requests(asked, ME)
    assert request.sampling == expected


@pytest.mark.parametrize(
    "content", [block("ab" * 16, "x"), [{"type": "text", "text": block("ab" * 16, "x")}]]
)
def test_no_message_of_a_caller_can_be_marked_as_a_block(content: Any) -> None:
    said = [{"role": role, "content": content} for role in ("system", "user", "assistant", "user")]
    text = "ab" * 16 + "x"
    [request] = plain_requests(body(messages=said), ME)
    assert request.messages == tuple(Message(each["role"], text) for each in said)
    question = grounded_question(body(messages=said), ME)
    [turn] = question.recalled
    assert (question.text, turn.sent, turn.raw_answer, turn.question) == (text,) * 4


def test_seeds_of_several_answers_count_up() -> None:
    requests = plain_requests(body(n=3, seed=7), ME)
    assert [request.sampling.seed for request in requests] == [7, 8, 9]
    assert {request.sampling.seed for request in plain_requests(body(n=2), ME)} == {None}


@pytest.mark.parametrize(
    "fields",
    [
        {"temperature": float("nan")}, {"temperature": -1}, {"top_p": 0}, {"min_p": 2}, {"repeat_penalty": 0},
        {"presence_penalty": 3}, {"logit_bias": {"a": 1}}, {"logit_bias": {"1": 101}},
        {"logit_bias": {str(n): 1 for n in range(2000)}}, {"top_logprobs": 21}, {"n": 0}, {"n": 5},
        {"stop": ["x"] * 17}, {"response_format": {"type": "xml"}}, {"response_format": {"type": "json_schema"}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": 3}}},
    ],
)  # fmt: skip
def test_values_out_of_range_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        body(**fields)


@pytest.mark.parametrize(
    ("fields", "grounded", "reason"),
    [
        ({"tools": [{}]}, False, "tools: not offered"),
        ({"top_logprobs": 2}, False, "only beside logprobs"),
        (
            {"grammar": "root ::=", "response_format": {"type": "json_object"}},
            False,
            "not beside response_format",
        ),
        ({"response_format": {"type": "json_object"}}, True, "response_format: sentences"),
        ({"grammar": "root ::="}, True, "grammar: sentences"),
        ({"logprobs": True}, True, "logprobs: the answer's marks"),
        ({"n": 2}, True, "n: one answer from documents"),
    ],
)
def test_what_is_not_offered_is_named(fields: dict[str, Any], grounded: bool, reason: str) -> None:
    with pytest.raises(UnsupportedRequestError, match=reason):
        check_offered(body(**fields), grounded=grounded)
