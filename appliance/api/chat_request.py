"""The body of POST /v1/chat/completions, and what it means here. What is not offered is refused, never ignored."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from appliance.answer.assistant import Question
from appliance.answer.prompt import PastTurn
from appliance.engine.pieces import unmarked
from appliance.engine.request import GenerateRequest, Message, Sampling
from appliance.errors import UnsupportedRequestError
from ingest.access import Viewer

_DEFAULT_MAX_TOKENS = 1024
MAX_ANSWERS = 4
MAX_STOPS = 16
MAX_BIASES = 1024  # each is looked up for every token
_IGNORED = {"user", "metadata", "store", "service_tier", "parallel_tool_calls"}  # change nothing here


class TextPart(BaseModel):
    """A piece of a message's content."""

    type: Literal["text"]
    text: str


class ChatMessage(BaseModel):
    """One message; content is text."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[TextPart]

    @property
    def text(self) -> str:
        """The content as one string, without what marks passages."""
        content = self.content
        return unmarked(content if isinstance(content, str) else "".join(part.text for part in content))


class StreamOptions(BaseModel):
    """Options of a streamed reply."""

    include_usage: bool = False


class PlainFormat(BaseModel):
    """An answer of any form, or any JSON object."""

    type: Literal["text", "json_object"]


class NamedSchema(BaseModel):
    """A JSON schema; always followed to the letter, whatever `strict` says."""

    model_config = ConfigDict(extra="ignore")

    document: dict[str, Any] = Field(alias="schema")


class SchemaFormat(BaseModel):
    """An answer that follows a JSON schema."""

    type: Literal["json_schema"]
    json_schema: NamedSchema


Penalty = Annotated[float, Field(ge=-2, le=2)]
Bias = Annotated[float, Field(ge=-100, le=100)]


class ChatRequest(BaseModel):
    """A chat; see OpenAI's reference for the fields, llama.cpp's server for those that it does not have."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False)

    model: str
    messages: list[ChatMessage] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptions | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    deadline_s: float | None = Field(default=None, gt=0, le=86_400)  # ours; as in /api/ask
    temperature: float = Field(default=0.0, ge=0, le=2)
    top_k: int = Field(default=40, ge=0, le=1_000_000)
    top_p: float = Field(default=0.95, gt=0, le=1)
    min_p: float = Field(default=0.05, ge=0, le=1)
    repeat_penalty: float = Field(default=1.0, gt=0, le=10)
    frequency_penalty: Penalty = 0.0
    presence_penalty: Penalty = 0.0
    dry_multiplier: float = Field(default=0.0, ge=0, le=10)
    dry_base: float = Field(default=1.75, ge=1, le=10)
    dry_allowed_length: int = Field(default=2, ge=1, le=1000)
    seed: int | None = None
    stop: str | Annotated[list[str], Field(max_length=MAX_STOPS)] | None = None
    logit_bias: dict[int, Bias] = Field(default_factory=dict, max_length=MAX_BIASES)
    logprobs: bool = False
    top_logprobs: int = Field(default=0, ge=0, le=20)
    grammar: str = ""
    response_format: Annotated[PlainFormat | SchemaFormat, Field(discriminator="type")] = PlainFormat(
        type="text"
    )
    n: int = Field(default=1, ge=1, le=MAX_ANSWERS)

    @model_validator(mode="before")
    @classmethod
    def _null_is_not_given(cls, data: Any) -> Any:
        """OpenAI's clients may send null for what is not set."""
        return {k: v for k, v in data.items() if v is not None} if isinstance(data, dict) else data

    @property
    def most_tokens(self) -> int | None:
        """The longest answer that the caller wants."""
        return self.max_completion_tokens or self.max_tokens


def check_offered(body: ChatRequest, *, grounded: bool) -> None:
    """Refuse what would change the answer and is not offered here.

    Args:
        grounded: the answer is made from the documents.
    Raises:
        UnsupportedRequestError: names the parameter.
    """
    extra: dict[str, Any] = body.model_extra or {}
    for name, value in extra.items():
        if value not in (None, False, 0, [], {}, {"type": "text"}) and name not in _IGNORED:
            raise UnsupportedRequestError(f"{name}: not offered here; leave it out")
    if body.top_logprobs and not body.logprobs:
        raise UnsupportedRequestError("top_logprobs: only beside logprobs: true")
    if body.grammar and body.response_format.type != "text":
        raise UnsupportedRequestError("grammar: not beside response_format; leave one of them out")
    if grounded:
        _check_grounded(body)
    if body.messages[-1].role != "user":
        raise UnsupportedRequestError("messages: the last one must be the user's")


def _check_grounded(body: ChatRequest) -> None:
    reasons = {
        "response_format": "sentences with the numbers of their passages cannot follow a format"
        if body.response_format.type != "text" else "",
        "grammar": "sentences with the numbers of their passages cannot follow a grammar" if body.grammar else "",
        "logprobs": "the answer's marks are put in by us, not by the model" if body.logprobs else "",
        "n": f"one answer from documents at a time, {body.n} asked for" if body.n > 1 else "",
    }  # fmt: skip
    for name, reason in reasons.items():
        if reason:
            raise UnsupportedRequestError(f"{name}: {reason}; leave it out, or ask the loaded model itself")


def plain_requests(body: ChatRequest, caller: Viewer) -> list[GenerateRequest]:
    """Return the chat as the engine takes it: a request for each of the `n` answers, alike but for the seed."""
    messages = tuple(Message("system" if m.role == "developer" else m.role, m.text) for m in body.messages)
    sampling = _sampling(body)
    return [
        GenerateRequest(
            messages,
            body.most_tokens or _DEFAULT_MAX_TOKENS,
            sampling if sampling.seed is None else replace(sampling, seed=sampling.seed + at),
            str(caller.uid),
            deadline_s=body.deadline_s,
        )
        for at in range(body.n)
    ]


def grounded_question(body: ChatRequest, caller: Viewer) -> Question:
    """Return the chat's last message as a question to the documents, the ones before it as its history."""
    spoken = [m for m in body.messages if m.role in ("user", "assistant")]
    turns = [
        PastTurn(asked.text, answered.text, asked.text)
        for asked, answered in pairwise(spoken)
        if (asked.role, answered.role) == ("user", "assistant")
    ]
    has_system = any(m.role in ("system", "developer") for m in body.messages)
    return Question(
        spoken[-1].text, caller, max_tokens=body.most_tokens, deadline_s=body.deadline_s,
        sampling=_sampling(body), recalled=tuple(turns),
        keep=False,
        left_out=("the request's system message: answers from documents have their own",) if has_system else (),
    )  # fmt: skip


def _sampling(body: ChatRequest) -> Sampling:
    return Sampling(
        temperature=body.temperature,
        top_k=body.top_k,
        top_p=body.top_p,
        min_p=body.min_p,
        repeat_penalty=body.repeat_penalty,
        frequency_penalty=body.frequency_penalty,
        presence_penalty=body.presence_penalty,
        dry_multiplier=body.dry_multiplier,
        dry_base=body.dry_base,
        dry_allowed_length=body.dry_allowed_length,
        seed=body.seed,
        stop=(body.stop,) if isinstance(body.stop, str) else tuple(body.stop or ()),
        logit_bias=tuple(body.logit_bias.items()),
        grammar=body.grammar,
        schema=_schema(body.response_format),
        logprobs=body.top_logprobs if body.logprobs else None,
    )


def _schema(format: PlainFormat | SchemaFormat) -> str:
    match format:
        case SchemaFormat(json_schema=named):
            try:
                return json.dumps(named.document)
            except RecursionError:
                raise UnsupportedRequestError("response_format: the schema is nested too deeply") from None
        case PlainFormat(type="json_object"):
            return '{"type": "object"}'
        case _:
            return ""
