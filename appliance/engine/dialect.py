"""How the kinds of OpenAI-compatible servers differ: what they count with, what they say of their context. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from appliance.engine.request import GenerateRequest, Sampling
from appliance.errors import EngineError, EngineNotReadyError, UnsupportedRequestError

Json = dict[str, Any]

BYTES_PER_TOKEN = 3  # English has 4 to 5 bytes a token, German 3 to 4: see docs/howto-remote.md
_GROUNDED = "appliance"  # the other appliance's model that answers from its own documents


@dataclass(frozen=True, slots=True)
class Counting:
    """A route that counts tokens.

    Attributes:
        bodies: (texts, model) → request bodies.
        counts: reply → counts, of one body.
    """

    path: str
    bodies: Callable[[Sequence[str], str], list[Json]]
    counts: Callable[[Json], list[int]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One kind of server.

    Attributes:
        name: for people.
        sampling: our name → its name, of what OpenAI's API does not have.
        has_our_defaults: what is as we would have it need not be said.
        lacks: what of OpenAI's API it does not understand, by our names.
        about: a route that tells the context and whether the model is loaded; empty: there is none.
        n_ctx: that route's reply → tokens of context, 0 when it does not say.
            Raises EngineNotReadyError: the model is not loaded.
        health: a route that is cheap to ask; any answer but a server error means that it lives.
    """

    name: str
    sampling: Mapping[str, str] = field(default_factory=dict)
    lacks: frozenset[str] = frozenset()
    has_our_defaults: bool = False
    counting: Counting | None = None
    about: str = ""
    n_ctx: Callable[[Json], int] = lambda reply: 0
    health: str = "/health"


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """The model that is asked.

    Attributes:
        n_ctx: tokens of context as the list of models tells it, 0 when it does not.
    """

    name: str
    dialect: Dialect
    n_ctx: int


def _appliance_n_ctx(reply: Json) -> int:
    engine = reply["engine"]
    if engine["state"] != "ready":
        raise EngineNotReadyError(f"its engine is {engine['state']}: {engine['reason'] or 'loading'}")
    return int(engine["n_ctx"])


_LLAMA_SAMPLING = {name: name for name in ("top_k", "min_p", "repeat_penalty", "grammar")}
_DRY = {name: name for name in ("dry_multiplier", "dry_base", "dry_allowed_length")}

OPENAI = Dialect("OpenAI-compatible server")
APPLIANCE = Dialect(
    "appliance",
    sampling=_LLAMA_SAMPLING | _DRY,
    has_our_defaults=True,
    counting=Counting(
        "/api/tokenize",
        lambda texts, model: [{"texts": list(texts)}],
        lambda reply: [int(n) for n in reply["counts"]],
    ),
    about="/api/status",
    n_ctx=_appliance_n_ctx,
    health="",  # it serves while its engine is down: only `about` tells
)
LLAMA_CPP = Dialect(
    "llama.cpp server",
    sampling=_LLAMA_SAMPLING | _DRY,
    counting=Counting(
        "/tokenize",
        lambda texts, model: [{"content": t, "add_special": False, "parse_special": False} for t in texts],
        lambda reply: [len(reply["tokens"])],
    ),
    about="/props",  # of one slot; the list of models has what the model was trained for, often more
    n_ctx=lambda reply: int(reply["default_generation_settings"]["n_ctx"]),
)
# It serves one request at a time; a count would wait for the answer being made, or with `interrupt_requests` end it.
LLAMA_CPP_PYTHON = Dialect("llama_cpp.server", sampling=_LLAMA_SAMPLING, lacks=frozenset({"schema"}))
VLLM = Dialect(
    "vLLM",
    sampling={"top_k": "top_k", "min_p": "min_p", "repeat_penalty": "repetition_penalty"},
    counting=Counting(
        "/tokenize",
        lambda texts, model: [{"model": model, "prompt": t, "add_special_tokens": False} for t in texts],
        lambda reply: [int(reply["count"])],
    ),
)
_BY_OWNER = {"vllm": VLLM, "llamacpp": LLAMA_CPP, "me": LLAMA_CPP_PYTHON}  # `owned_by` in the list of models


def choose_model(listed: Json, wanted: str) -> RemoteModel:
    """Find the model to ask in a reply of GET /v1/models.

    Args:
        wanted: its name; empty: the first one.
    Raises:
        EngineError: the server does not have it.
    """
    entries = [entry for entry in listed["data"] if isinstance(entry, dict) and "id" in entry]
    is_appliance = any(e["id"] == _GROUNDED and e.get("owned_by") == "local" for e in entries)
    if is_appliance:
        entries = [entry for entry in entries if entry["id"] != _GROUNDED]
    names = [str(entry["id"]) for entry in entries]
    if not names or (wanted and wanted not in names):
        lacking = f"model {wanted!r}: set engine.remote_model to one of its own" if wanted else "model at all"
        raise EngineError(f"it has no {lacking}" + (f" ({', '.join(names)})" if names else ""))
    entry = entries[names.index(wanted) if wanted else 0]
    dialect = APPLIANCE if is_appliance else _BY_OWNER.get(str(entry.get("owned_by")), OPENAI)
    meta = entry.get("meta") or {}
    n_ctx = entry.get("max_model_len") or meta.get("n_ctx") or meta.get("n_ctx_train") or 0
    return RemoteModel(str(entry["id"]), dialect, int(n_ctx))


def chat_body(request: GenerateRequest, model: RemoteModel) -> Json:
    """Return the body of POST /v1/chat/completions.

    Raises:
        UnsupportedRequestError: the request asks for something that this kind of server does not understand.
    """
    return {
        "model": model.name,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "max_tokens": request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        **_sampling(request.sampling, model.dialect),
    }


_OPENAI_SAMPLING = ("temperature", "top_p", "seed", "frequency_penalty", "presence_penalty")
_ONLY_WHEN_RANDOM = ("top_k", "top_p", "min_p")
# What is no plain number: our field → how it is said.
_SAID: dict[str, Callable[[Any], Json]] = {
    "stop": lambda stop: {"stop": list(stop)},
    "logit_bias": lambda bias: {"logit_bias": {str(token): added for token, added in bias}},
    "logprobs": lambda n_top: {"logprobs": True, "top_logprobs": n_top},
    "schema": lambda schema: {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": json.loads(schema)},
        }
    },
}


def _sampling(sampling: Sampling, dialect: Dialect) -> Json:
    """Say how tokens are chosen; what the server cannot be told is refused, unless it is our default."""
    names = {name: name for name in _OPENAI_SAMPLING} | dict(dialect.sampling)
    body: Json = {}
    for each in fields(Sampling):
        value = getattr(sampling, each.name)
        if value in (None, "") or (each.name in _ONLY_WHEN_RANDOM and sampling.temperature == 0):
            continue
        if dialect.has_our_defaults and value == each.default:
            continue
        if each.name in names:
            body[names[each.name]] = value
        elif value == each.default:
            continue
        elif each.name in _SAID and each.name not in dialect.lacks:
            body |= _SAID[each.name](value)
        else:
            raise UnsupportedRequestError(f"{each.name}: the {dialect.name} behind this one does not take it")
    return body


def estimate(text: str) -> int:
    """Guess a text's tokens, rather too many than too few."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)
