"""What a remote server's refusals mean here. Pure: status, headers and body in, one of our errors out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from appliance.errors import (
    ChatTemplateError,
    EngineBusyError,
    EngineError,
    EngineLostError,
    EngineNotReadyError,
    PromptTooLongError,
    SamplingError,
)

RETRY_S = 5.0  # where a busy server does not say
_MAX_WORDS = 300  # characters of a server's own words that are passed on

# Codes of another appliance whose errors come with words alone: appliance/api/errors.py.
_OURS: dict[str, type[EngineError]] = {
    "engine_lost": EngineLostError,
    "bad_sampling": SamplingError,
    "unsupported_request": SamplingError,
    "template_refuses": ChatTemplateError,
}

# Where the numbers stand in the words of each kind of server.
_TOO_LONG = [
    # OpenAI, llama_cpp.server, vLLM until 0.8
    r"maximum context length is (?P<n_ctx>\d+) tokens.*\((?P<n_prompt>\d+) in the messages",
    # vLLM
    r"maximum context length is (?P<n_ctx>\d+) tokens and your request has (?P<n_prompt>\d+) input tokens",
    r"passed (?P<n_prompt>\d+) input tokens and requested \d+ output tokens.*length is only (?P<n_ctx>\d+) tokens",
    # llama.cpp's server, which has them as fields too since the end of 2025
    r"request \((?P<n_prompt>\d+) tokens\) exceeds the available context size \((?P<n_ctx>\d+) tokens\)",
    # another appliance
    r"prompt (?P<n_prompt>\d+) tokens \+ answer \d+ tokens, context (?P<n_ctx>\d+)",
]


def error_of(
    status: int, headers: Mapping[str, str], body: bytes | dict[str, Any], max_tokens: int = 0
) -> EngineError:
    """Return the error that a reply stands for.

    Args:
        status: HTTP status; of an error inside a stream the one that it names.
        headers: names in lower case, or a mapping that does not mind.
        body: as it came, or parsed.
        max_tokens: of the request, for the numbers of a prompt that is too long.
    """
    details = _details(body)
    words = str(details.get("message") or "").strip()[:_MAX_WORDS] or f"HTTP {status}"
    if status in (401, 403):
        # Not its own words: some repeat the key.
        return EngineError(f"it refuses the key (HTTP {status}): put the right one into engine.key_file")
    if status == 429:
        return EngineBusyError(0, _retry_after(headers.get("retry-after")))
    if status in (400, 413, 422) and (numbers := _too_long(details, words)):
        return PromptTooLongError(numbers[0], max_tokens, numbers[1])
    if kind := _OURS.get(str(details.get("code"))):
        return kind(words)
    if status in (502, 503, 504):
        return EngineNotReadyError(words)
    return EngineError(words)


def _details(body: bytes | dict[str, Any]) -> dict[str, Any]:
    if isinstance(body, bytes):
        text = body.decode(errors="replace")
        try:
            parsed: Any = json.loads(text)
        except ValueError:
            return {"message": " ".join(re.sub(r"<[^>]*>", " ", text).split())}
        body = parsed if isinstance(parsed, dict) else {"message": text}
    error = body.get("error") or body.get("detail") or body
    return error if isinstance(error, dict) else {"message": str(error)}


def _too_long(details: dict[str, Any], words: str) -> tuple[int, int] | None:
    """Return (n_prompt, n_ctx) when that is what the refusal says."""
    if "n_prompt_tokens" in details and "n_ctx" in details:
        return int(details["n_prompt_tokens"]), int(details["n_ctx"])
    for pattern in _TOO_LONG:
        if found := re.search(pattern, words, re.DOTALL):
            return int(found["n_prompt"]), int(found["n_ctx"])
    return None


def _retry_after(value: str | None) -> float:
    """Return seconds; a date, which is allowed too, counts as not said."""
    if value is None or not value.strip().isdecimal():
        return RETRY_S
    return float(min(max(int(value), 1), 3600))
