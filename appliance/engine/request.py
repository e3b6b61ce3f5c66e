"""What goes into the engine and what comes out of it. Plain data; both sides of the wire use it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

FinishReason = Literal["stop", "length", "cancelled"]


@dataclass(frozen=True, slots=True)
class Reuse:
    """What becomes of passages whose KV cells were computed before, apart from each other.

    Attributes:
        mode: "exact": all is computed in its place; "blocks": their cells are joined; "blend": all but their
            beginnings.
        n_fresh: with "blend", tokens of each passage's beginning that are computed in their place.
    """

    mode: Literal["exact", "blocks", "blend"] = "exact"
    n_fresh: int = 0

    @property
    def joins(self) -> bool:
        """Whether cells are joined at all."""
        return self.mode != "exact"

    def __str__(self) -> str:
        return f"blend, {self.n_fresh} tokens" if self.mode == "blend" else self.mode


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat. Content is data: control tokens inside it are never obeyed.

    Passages in it may be marked as blocks; see `appliance.engine.pieces`.
    """

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen; at `temperature` 0 it is greedy, and top_k, top_p, min_p and seed do nothing.

    Penalties and DRY look back on the answer alone: what the prompt says may be said again.

    Attributes:
        frequency_penalty, presence_penalty: taken off a token's logit, for each time it came and once.
        dry_multiplier: weight of the penalty on repeating whole phrases; 0: off.
        dry_allowed_length: tokens that may be repeated before it counts.
        logit_bias: (token, what is added to its logit).
        grammar: GBNF that the answer must follow; empty: none.
        schema: JSON schema that the answer must follow, as JSON text; not beside a grammar.
        logprobs: how many alternatives to tell for each token; None: tell no probabilities.
    """

    temperature: float = 0.0
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    dry_multiplier: float = 0.0
    dry_base: float = 1.75
    dry_allowed_length: int = 2
    seed: int | None = None
    stop: tuple[str, ...] = ()
    logit_bias: tuple[tuple[int, float], ...] = ()
    grammar: str = ""
    schema: str = ""
    logprobs: int | None = None


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One answer to be generated.

    Attributes:
        max_tokens: most tokens to decode; admission reserves KV cells for prompt + max_tokens.
        user: for fairness in the queue (round robin by user), not for access.
        deadline_s: seconds from arrival, waiting included, after which it fails; None: it may take its time.
        reuse: of passages' cells; None: as the engine is set.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    sampling: Sampling = field(default_factory=Sampling)
    user: str = ""
    deadline_s: float | None = None
    reuse: Reuse | None = None


@dataclass(frozen=True, slots=True)
class Queued:
    """The request waits; `position` counts from 1, `wait_s` is a guess of how long yet."""

    position: int
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Prefill:
    """`n_done` of `n_prompt` prompt tokens are in the KV cache (reused ones included)."""

    n_done: int
    n_prompt: int


@dataclass(frozen=True, slots=True)
class Logprob:
    """How probable a token was, before penalties, temperature and grammar.

    Attributes:
        piece: its bytes, maybe a part of a character.
        logprob: natural logarithm of its probability.
        top: the most probable ones at this place, best first; the chosen one need not be among them.
    """

    piece: bytes
    logprob: float
    top: tuple[Logprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer: whole UTF-8 characters, one or more tokens; `logprobs` of those tokens if asked."""

    text: str
    logprobs: tuple[Logprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """The answer is complete.

    Attributes:
        n_reused: prompt tokens found in the KV cache.
        n_drafted: tokens of the answer that a draft had right, so that they cost no step of their own.
        ttft_s: seconds from arrival in the engine to the first token, waiting included.
        prefill_tps, decode_tps: tokens per second; 0.0 when nothing was computed.
    """

    finish_reason: FinishReason
    n_prompt: int
    n_reused: int
    n_decoded: int
    ttft_s: float
    prefill_tps: float
    decode_tps: float
    n_drafted: int = 0


Event = Queued | Prefill | Token | Done


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """Where the engine stands.

    Attributes:
        state: `starting` (process up, model loading), `ready`, `restarting` (it died), `failed` (gave up).
        model: name of the loaded model; empty until known.
        device: "CPU, 2 threads" or "GPU, 24/28 layers": for people.
        reason: why it is not ready; empty when it is.
        note: why it last died or moved to another device; kept once it is ready again.
        decode_tps, prefill_tps: of the most recent answer.
        reuse: of passages' cells.
        n_blocks, block_bytes, max_block_bytes: passages whose cells are kept, on disk, and the limit.
        n_preparing: passages that are to be computed when nobody asks.
    """

    state: Literal["starting", "ready", "restarting", "failed"]
    model: str = ""
    device: str = ""
    reason: str = ""
    note: str = ""
    pid: int | None = None
    n_ctx: int = 0
    n_running: int = 0
    n_waiting: int = 0
    n_restarts: int = 0
    prefill_tps: float = 0.0
    decode_tps: float = 0.0
    reuse: Reuse = field(default_factory=Reuse)
    n_blocks: int = 0
    block_bytes: int = 0
    max_block_bytes: int = 0
    n_preparing: int = 0
