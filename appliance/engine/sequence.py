"""One request on its way through the engine: counters for the scheduler, text and times for the answer."""

from __future__ import annotations

from collections.abc import Sequence as Tokens
from dataclasses import dataclass, field

from appliance.engine.model import Sampler
from appliance.engine.request import Done, FinishReason, Sampling
from appliance.engine.text import TextStream


@dataclass(slots=True, eq=False)
class Sequence:
    """One request.

    Attributes:
        n_done: tokens of prompt and reply that are in the KV cache.
        reply: tokens chosen so far; the last one is not in the KV cache yet while it runs.
        slot: where its tokens are; None while it waits.
        arrived, admitted, first_token, last_token: seconds of the worker's clock.
    """

    id: int
    user: str
    prompt: Tokens[int]
    max_tokens: int
    sampling: Sampling = field(default_factory=Sampling)
    arrived: float = 0.0
    n_done: int = 0
    n_reused: int = 0
    reply: list[int] = field(default_factory=list)
    slot: int | None = None
    sampler: Sampler | None = None
    text: TextStream = field(default_factory=TextStream)
    cancelled: bool = False
    admitted: float = 0.0
    first_token: float = 0.0
    last_token: float = 0.0

    @property
    def n_prompt(self) -> int:
        """Tokens of the prompt."""
        return len(self.prompt)

    @property
    def n_reserved(self) -> int:
        """KV cells that it may come to need."""
        return self.n_prompt + self.max_tokens

    @property
    def n_prompt_left(self) -> int:
        """Prompt tokens still to be computed."""
        return max(0, self.n_prompt - self.n_done)

    @property
    def is_decoding(self) -> bool:
        """Whether its prompt is done, so that someone reads along."""
        return self.n_done >= self.n_prompt

    def next_tokens(self, n: int) -> Tokens[int]:
        """Return the next `n` tokens to compute: of the prompt, or the one chosen last."""
        return self.reply[-1:] if self.is_decoding else self.prompt[self.n_done : self.n_done + n]

    def mark(self, now: float) -> None:
        """Note the time of a token, an ending one included."""
        self.last_token = now
        self.first_token = self.first_token or now

    def done(self, reason: FinishReason) -> Done:
        """Return the closing event."""
        return Done(
            finish_reason=reason,
            n_prompt=self.n_prompt,
            n_reused=self.n_reused,
            n_decoded=len(self.reply),
            ttft_s=max(0.0, self.first_token - self.arrived) if self.first_token else 0.0,
            prefill_tps=_rate(self.n_prompt - self.n_reused, self.first_token - self.admitted),
            decode_tps=_rate(len(self.reply) - 1, self.last_token - self.first_token),
        )


def _rate(n: int, seconds: float) -> float:
    return n / seconds if n > 0 and seconds > 0 else 0.0
