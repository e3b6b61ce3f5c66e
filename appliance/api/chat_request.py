"""The body of POST /v1/chat/completions, and what it means here. What is not offered is refused, never ignored."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from appliance.answer.assistant import Question
from appliance.answer.prompt import PastTurn
from appliance.engine.request import GenerateRequest, Message, Sampling
from appliance.errors import UnsupportedRequestError
from ingest.access import Viewer

_DEFAULT_MAX_TOKENS = 1024
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
        """The content as one string."""
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    """Options of a streamed reply."""

    include_usage: bool = False


class ChatRequest(BaseModel):
    """A chat; see OpenAI's reference for the fields."""

    model_config = ConfigDict(extra="allow")

    model: str
    messages: list[ChatMessage] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptions | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    temperature: float = Field(default=0.0, ge=0, le=2)
    top_p: float = Field(default=0.95, gt=0, le=1)
    seed: int | None = None
    stop: str | list[str] | None = None
    n: int = 1

    @property
    def most_tokens(self) -> int | None:
        """The longest answer that the caller wants."""
        return self.max_completion_tokens or self.max_tokens


def check_offered(body: ChatRequest) -> None:
    """Refuse what would change the answer and is not offered here.

    Raises:
        UnsupportedRequestError: names the parameter.
    """
    extra: dict[str, Any] = body.model_extra or {}
    for name, value in extra.items():
        if value not in (None, False, 0, [], {}, {"type": "text"}) and name not in _IGNORED:
            raise UnsupportedRequestError(f"{name}: not offered here; leave it out")
    if body.n != 1:
        raise UnsupportedRequestError(f"n: one answer at a time here, {body.n} asked for")
    if body.messages[-1].role != "user":
        raise UnsupportedRequestError("messages: the last one must be the user's")


def plain_request(body: ChatRequest, caller: Viewer) -> GenerateRequest:
    """Return the chat as the engine takes it."""
    messages = tuple(Message("system" if m.role == "developer" else m.role, m.text) for m in body.messages)
    return GenerateRequest(
        messages, body.most_tokens or _DEFAULT_MAX_TOKENS, _sampling(body), str(caller.uid)
    )


def grounded_question(body: ChatRequest, caller: Viewer) -> Question:
    """Return the chat's last message as a question to the documents, the ones before it as its history."""
    spoken = [m for m in body.messages if m.role in ("user", "assistant")]
    turns = [
        PastTurn(asked.text, answered.text)
        for asked, answered in pairwise(spoken)
        if (asked.role, answered.role) == ("user", "assistant")
    ]
    has_system = any(m.role in ("system", "developer") for m in body.messages)
    return Question(
        spoken[-1].text, caller, max_tokens=body.most_tokens, sampling=_sampling(body), recalled=tuple(turns),
        earlier=turns[-1].sent if turns else "", keep=False,
        left_out=("the request's system message: answers from documents have their own",) if has_system else (),
    )  # fmt: skip


def _sampling(body: ChatRequest) -> Sampling:
    stop = (body.stop,) if isinstance(body.stop, str) else tuple(body.stop or ())
    return Sampling(temperature=body.temperature, top_p=body.top_p, seed=body.seed, stop=stop)
