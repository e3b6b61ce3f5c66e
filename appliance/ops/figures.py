"""The bench's figures: what each means, what it should be, and the statistics behind it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from statistics import median
from typing import Literal

Unit = Literal["ratio", "ms", "s", "MB", "chunks/s"]
MIN_LISTENED_S = 0.05  # a window shorter than this says nothing about a rate


@dataclass(frozen=True, slots=True)
class Target:
    """Where a figure should be: at least, or at most, `bound`."""

    bound: float
    at_least: bool

    def met(self, value: float) -> bool:
        """Tell whether a value is where it should be."""
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:.2f}"


def at_least(bound: float) -> Target:
    """Return a target that is a lower bound."""
    return Target(bound, True)


def at_most(bound: float) -> Target:
    """Return a target that is an upper bound."""
    return Target(bound, False)


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the bench.

    Attributes:
        small: target for a model too small to be worth its overheads (smollm2-135m); None: only reported.
        usual: target for every other one, set with qwen2.5-coder-0.5b.
        in_steps: the targets count `engine.step_target_ms`.
    """

    name: str
    meaning: str
    unit: Unit = "ratio"
    small: Target | None = None
    usual: Target | None = None
    in_steps: bool = False

    def target(self, model: str, step_target_ms: float) -> Target | None:
        """Return where this model's figure should be, in the figure's unit."""
        chosen = self.small if model.startswith("smollm2-135m") else self.usual
        if chosen is None or not self.in_steps:
            return chosen
        return Target(chosen.bound * step_target_ms, chosen.at_least)


FIGURES: tuple[Figure, ...] = (
    Figure(
        "decode_ratio", "tokens/s of one stream through the socket ÷ a bare llama_decode loop",
        small=at_least(0.90), usual=at_least(0.95),
    ),
    Figure("batch8_gain", "tokens/s of 8 streams ÷ 1 stream", small=at_least(1.7), usual=at_least(1.6)),
    Figure(
        "stall", "p99 inter-token time of a running stream while a 2,000-token prompt arrives", "ms",
        small=at_most(2), usual=at_most(2), in_steps=True,
    ),
    Figure(
        "followup_ttft", "TTFT of the second turn ÷ of the first (1,000-token first prompt)",
        small=at_most(0.12), usual=at_most(0.12),
    ),
    Figure(
        "shared_ttft", "TTFT of user B with user A's system prompt and passages ÷ A's",
        small=at_most(0.15), usual=at_most(0.15),
    ),
    Figure(
        "contended", "decode tokens/s with a busy process in another session ÷ idle",
        small=at_least(0.30), usual=at_least(0.30),
    ),
    Figure(
        "lookup_gain", "tokens/s with prompt lookup ÷ without, on answers that quote a passage", usual=at_least(1.20)
    ),
    Figure(
        "lookup_floor", "the same, the worse of quoting and free text", small=at_least(0.97), usual=at_least(0.97)
    ),
    Figure(
        "warm_start", "TTFT of the first question after a restart ÷ without saved prefixes",
        small=at_most(0.5), usual=at_most(0.5),
    ),
    Figure("restart_s", "engine killed → next token", "s"),
)  # fmt: skip
NAMES = tuple(figure.name for figure in FIGURES)


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of one figure.

    Attributes:
        runs: the figure in each run, a ratio taken within the run.
        parts: what it was made of, by name with its unit (`a_tps`), run by run.
        reason: why it is not available; empty when it is.
    """

    runs: Sequence[float] = ()
    parts: Mapping[str, Sequence[float]] = field(default_factory=dict)
    reason: str = ""

    @property
    def value(self) -> float | None:
        """The median of the runs; None where the figure is not available."""
        return median(self.runs) if self.runs else None


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Return the quotient of each run."""
    return [a / b for a, b in zip(above, below, strict=True)]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` of all values do not exceed (nearest rank).

    Args:
        values: at least one.
        share: 0 < share ≤ 1; 0.99 is p99.
    """
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def rate(n_tokens: int, times: Sequence[float]) -> float:
    """Return tokens per second of one stream, whose first token starts the clock.

    Args:
        times: when each piece of text arrived, in seconds; a piece may hold several tokens.
    """
    return (n_tokens - 1) / (times[-1] - times[0]) if len(times) > 1 and times[-1] > times[0] else 0.0


def rate_in_turn(streams: Sequence[tuple[int, Sequence[float]]]) -> float:
    """Return tokens per second over several streams, one after another; what lies between them does not count.

    Args:
        streams: (tokens, arrival times of its pieces) of each.
    """
    seconds = sum(times[-1] - times[0] for _, times in streams)
    return sum(n_tokens - 1 for n_tokens, _ in streams) / seconds if seconds > 0 else 0.0


def rate_together(streams: Sequence[tuple[int, Sequence[float]]]) -> float:
    """Return tokens per second of several streams in all, while all of them run.

    Args:
        streams: (tokens, arrival times of its pieces) of each.
    """
    start = max(times[0] for _, times in streams)
    end = min(times[-1] for _, times in streams)
    if end - start < MIN_LISTENED_S:
        return 0.0
    n = sum(sum(start < at <= end for at in times) * n_tokens / len(times) for n_tokens, times in streams)
    return n / (end - start)


def gaps_within(times: Sequence[float], start: float, end: float) -> list[float]:
    """Return the seconds between pieces that end after `start` and begin before `end`."""
    return [after - before for before, after in pairwise(times) if after > start and before < end]
