"""A remote answer as its chunks come in: text, usage, times. Where the server gives no figures, ours stand in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from appliance.engine.dialect import Json, estimate
from appliance.engine.request import Done, FinishReason, GenerateRequest, Logprob, Token

_FINISH_REASONS: dict[str, FinishReason] = {
    "length": "length",
    "cancelled": "cancelled",
    "abort": "cancelled",
}


class RemoteAnswer:
    """What is known of an answer so far.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, request: GenerateRequest, clock: Callable[[], float]) -> None:
        self._request = request
        self._clock = clock
        self._usage: Json = {}
        self._timings: Json = {}
        self._first = self._last = 0.0
        self.arrived = self.sent = clock()
        self.n_pieces = 0
        self.finish_reason: FinishReason | None = None

    @property
    def seconds(self) -> float:
        """Since the request went out."""
        return self._clock() - self.sent

    @property
    def n_estimated(self) -> int:
        """Tokens of prompt and answer together, by our estimate."""
        return self._n_prompt + self._request.max_tokens

    @property
    def _n_prompt(self) -> int:
        return sum(estimate(message.content) for message in self._request.messages)

    def start(self) -> None:
        """The request goes out now."""
        self.sent = self._clock()

    def take(self, chunk: Json) -> Token | None:
        """Take a chunk; return its text, None when it has none."""
        self._usage = chunk.get("usage") or self._usage
        self._timings = chunk.get("timings") or self._timings  # llama.cpp's server
        text, logprobs = "", list[Logprob]()
        for choice in chunk.get("choices") or ():
            text += (choice.get("delta") or {}).get("content") or ""
            logprobs += map(_logprob, (choice.get("logprobs") or {}).get("content") or ())
            if reason := choice.get("finish_reason"):
                self.finish_reason = _FINISH_REASONS.get(reason, "stop")
        if not text:
            return None
        self._last = self._clock()
        self._first = self._first or self._last
        self.n_pieces += 1
        return Token(text, tuple(logprobs))

    def done(self) -> Done:
        """Return the end of the answer, with its account.

        A server that sends no usage leaves the prompt to our estimate, and a piece counts as a token.
        """
        assert self.finish_reason is not None, "only a finished answer has an account"
        n_prompt = _whole(self._usage.get("prompt_tokens")) or self._n_prompt
        n_decoded = _whole(self._usage.get("completion_tokens")) or self.n_pieces
        details = self._usage.get("prompt_tokens_details") or {}
        n_reused = _whole(details.get("cached_tokens")) or _whole(self._timings.get("cache_n"))
        first = self._first or self._clock()
        return Done(
            finish_reason=self.finish_reason,
            n_prompt=n_prompt,
            n_reused=n_reused,
            n_decoded=n_decoded,
            ttft_s=first - self.arrived,
            prefill_tps=_rate(n_prompt - n_reused, first - self.sent),
            decode_tps=_rate(n_decoded - 1, self._last - first),
        )


def _logprob(told: Json) -> Logprob:
    piece = told.get("bytes")
    return Logprob(
        bytes(piece) if piece is not None else str(told["token"]).encode(),
        float(told["logprob"]),
        tuple(_logprob(other) for other in told.get("top_logprobs") or ()),
    )


def _whole(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _rate(n: int, seconds: float) -> float:
    return n / seconds if n > 0 and seconds > 0 else 0.0
