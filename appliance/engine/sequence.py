"""One request on its way through the engine: counters for the scheduler, text and times for the answer."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Tokens
from dataclasses import dataclass, field
from math import inf

from appliance.engine.lookup import Lookup
from appliance.engine.model import Sampler
from appliance.engine.request import Done, FinishReason, Sampling
from appliance.engine.slots import common_prefix
from appliance.engine.text import TextStream
from appliance.engine.trail import Trail

MIN_COMMON = 32  # tokens that are worth waiting for: fewer are computed in a step of one's own


@dataclass(frozen=True, slots=True)
class Join:
    """A passage in a prompt whose cells may be had without computing them in their place.

    Attributes:
        start, end: its tokens.
        at: the first token of it that need not be computed in its place.
        owner, name: where its cells are kept; see `appliance.engine.blocks`.
    """

    start: int
    end: int
    at: int
    owner: str
    name: str

    @property
    def key(self) -> tuple[str, str]:
        """What names its cells; the same words may stand in two documents."""
        return self.owner, self.name


@dataclass(slots=True, eq=False)
class Sequence:
    """One request.

    Attributes:
        n_done: tokens of prompt and reply that are in the KV cache.
        reply: tokens chosen so far; the last one is not in the KV cache yet while it runs.
        slot: where its tokens are; None while it waits.
        lookup: drafts its next tokens; None where drafts may not be.
        trail: the reply's logprobs; None where nobody asked for them.
        base: what passages are computed behind when they are computed apart.
        exact: only cells that were computed in their place may be taken over.
        joins: passages that are still to be joined, in their order.
        encodings: those that compute what is not kept yet of them.
        leader, n_common: the sequence that is computing the first `n_common` tokens of this prompt just now.
        arrived, admitted, first_token, last_token: seconds of the worker's clock.
        deadline_s: seconds from its arrival in which it must be done.
    """

    id: int
    user: str
    prompt: Tokens[int]
    max_tokens: int
    sampling: Sampling = field(default_factory=Sampling)
    arrived: float = 0.0
    deadline_s: float | None = None
    n_done: int = 0
    n_reused: int = 0
    n_drafted: int = 0
    reply: list[int] = field(default_factory=list)
    slot: int | None = None
    sampler: Sampler | None = None
    lookup: Lookup | None = None
    base: Tokens[int] = ()
    exact: bool = True
    joins: list[Join] = field(default_factory=list)
    encodings: list[Encoding] = field(default_factory=list)
    leader: Sequence | None = None
    n_common: int = 0
    text: TextStream = field(default_factory=TextStream)
    trail: Trail | None = None
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
        """Prompt tokens still to be computed before cells are joined, or else before the answer begins."""
        return max(0, (self.joins[0].at if self.joins else self.n_prompt) - self.n_done)

    @property
    def n_prefilled(self) -> int:
        """Prompt tokens that are computed, wherever they stand by now."""
        encoded = {one.key: one.n_encoded for one in self.encodings}
        ahead = (encoded.get(join.key, 0) - max(0, self.n_done - join.start) for join in self.joins)
        return min(self.n_done + sum(max(0, n) for n in ahead), self.n_prompt)

    @property
    def is_answer(self) -> bool:
        """Whether someone is told what comes of it."""
        return True

    @property
    def is_wanted(self) -> bool:
        """Whether someone waits for it."""
        return True

    @property
    def is_held(self) -> bool:
        """Whether it waits for others: what comes next of its prompt is being computed for them, or apart."""
        return self.follows() or bool(self.joins and self.n_done >= self.joins[0].at)

    @property
    def is_decoding(self) -> bool:
        """Whether its prompt is done, so that someone reads along."""
        return self.n_done >= self.n_prompt

    @property
    def deadline(self) -> float:
        """When it must be done, in seconds of the worker's clock."""
        return inf if self.deadline_s is None else self.arrived + self.deadline_s

    def is_over(self, now: float) -> bool:
        """Whether nobody waits for it any more."""
        return self.cancelled or now >= self.deadline

    def next_tokens(self, n: int) -> Tokens[int]:
        """Return the next `n` tokens to compute: of the prompt, or the one chosen last and drafted ones."""
        if not self.is_decoding:
            return self.prompt[self.n_done : self.n_done + n]
        drafted = self.lookup.draft(n - 1) if self.lookup else ()
        return [*self.reply[-1:], *drafted]

    def n_computed_for(self, end: int) -> int:
        """Return how many of the tokens from `n_done` to `end` are of passages that are computed for it."""
        ours = {one.key for one in self.encodings}
        found = (min(end, join.end) - max(self.n_done, join.start) for join in self.joins if join.key in ours)
        return sum(max(0, n) for n in found)

    def follow(self, others: Iterable[Sequence]) -> None:
        """Wait for the one of these, all in mid-prefill, that is about to compute most of this prompt."""
        commons = [(min(common_prefix(one.prompt, self.prompt), self.n_prompt - 1), one) for one in others]
        n, leader = max(commons, key=lambda common: common[0], default=(0, None))
        if n - self.n_done >= MIN_COMMON:
            self.leader, self.n_common = leader, n

    def follows(self) -> bool:
        """Whether what comes next of its prompt is being computed for another sequence."""
        leader = self.leader
        return (
            leader is not None
            and leader.slot is not None
            and leader.n_done < self.n_common
            and self.n_done < self.n_common
        )

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
            n_drafted=self.n_drafted,
        )


@dataclass(slots=True, eq=False, kw_only=True)
class Encoding(Sequence):
    """A passage that is computed apart, right behind its base, to be kept.

    Attributes:
        owner, name: see `Join`.
        clients: whose prompts it is in; empty: it is done ahead of time, when nobody asks.
        ordered: number of the message that asked for it ahead of time.
        state: its cells once they are computed, where they could not be kept: for its clients alone.
    """

    owner: str
    name: str
    clients: list[Sequence] = field(default_factory=list)
    ordered: int = 0
    state: bytes | None = None

    @property
    def key(self) -> tuple[str, str]:
        """See `Join`."""
        return self.owner, self.name

    @property
    def n_encoded(self) -> int:
        """Tokens of the passage itself that are computed."""
        return max(0, self.n_done - len(self.base))

    @property
    def is_answer(self) -> bool:
        """Nobody is told of it."""
        return False

    @property
    def is_wanted(self) -> bool:
        """Whether someone waits for it."""
        return bool(self.clients)

    def is_over(self, now: float) -> bool:
        """Whether nobody waits for it any more."""
        return bool(self.clients) and all(client.is_over(now) for client in self.clients)


def _rate(n: int, seconds: float) -> float:
    return n / seconds if n > 0 and seconds > 0 else 0.0
