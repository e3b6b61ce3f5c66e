"""What `appliance bench blocks` compares, what it found, and which mode it would take. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from appliance.engine.request import Reuse
from appliance.ops.errors import BenchError
from appliance.ops.evaluate_answers import Answered, AnswerScores
from appliance.ops.figures import Figure, Measured, at_least, at_most, percentile, ratios

MAX_LOST = 0.02  # of `contained` against exact: two points
# A mode that spares less is not worth asking whether its answers stand: exact's never change.
WORTH = 0.9
LARGE = "qwen2.5-coder-1.5b-instruct"  # its target is sharper: a long prefill has more to be spared


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to ask.

    Attributes:
        cold: asked while nothing is kept of its passages.
    """

    name: str
    reuse: Reuse
    cold: bool = False


EXACT = Mode("exact", Reuse())
COLD = Mode("blocks_cold", Reuse("blocks"), cold=True)
BLOCKS = Mode("blocks", Reuse("blocks"))


def modes(fresh: Sequence[int]) -> tuple[Mode, ...]:
    """Return all modes in the order in which a question is asked: what the cold one keeps, the later ones find."""
    return (EXACT, COLD, BLOCKS, *(Mode(f"blend_{n}", Reuse("blend", n)) for n in sorted(set(fresh))))


@dataclass(frozen=True, slots=True)
class Reply:
    """A question's answer in one mode.

    Attributes:
        ttft_s: from the question to the first token; `read_s`: without what retrieval took of it.
        block_bytes, block_tokens: what a cold mode kept of the prompt's passages, and the tokens they have.
    """

    answered: Answered
    ttft_s: float
    read_s: float
    n_prompt: int
    n_reused: int
    block_bytes: int = 0
    block_tokens: int = 0


@dataclass(frozen=True)
class Comparison:
    """The same questions in every mode.

    Args:
        replies: mode → a reply for each question, in the same order.
    Raises:
        BenchError: the model worded no answer, so that nothing can be compared.
    """

    replies: Mapping[Mode, Sequence[Reply]]

    def __post_init__(self) -> None:
        if not self._worded:
            n = len(self.replies[EXACT])
            raise BenchError(
                f"the model worded none of {n} answers: their evidence is refused, or the documents are others"
            )

    @cached_property
    def picked(self) -> Mode:
        """The fastest mode whose answers stand; exact where none is worth it, or no passage was kept at all."""
        if not self.bytes_per_token:
            return EXACT
        fitting = [mode for mode in self.replies if not mode.cold and mode != EXACT and self._stands(mode)]
        return min(fitting, key=lambda mode: median(self.ttft_ratios(mode)), default=EXACT)

    def ttft_ratios(self, mode: Mode) -> list[float]:
        """Return TTFT ÷ the same question's in exact, of the questions that the model answered in every mode."""
        return ratios(*([each[n].ttft_s for n in self._worded] for each in self._beside(mode)))

    def quality_delta(self, mode: Mode) -> float:
        """Return `contained` minus exact's."""
        mine, exact = (fmean(each.answered.contained for each in replies) for replies in self._beside(mode))
        return mine - exact

    def row(self, mode: Mode) -> dict[str, float]:
        """Return a mode's figures by name."""
        replies, exact = self._beside(mode)
        found = AnswerScores("", [each.answered for each in replies]).figures()
        reading = [replies[n].read_s for n in self._worded]
        kept = (
            "contained",
            "f1",
            "citation_precision",
            "wrongly_refused",
            "quoted",
            "ttft_p50_s",
            "ttft_p95_s",
        )
        row = {name: found[name] for name in kept} | {
            "read_p50_s": percentile(reading, 0.5), "read_p95_s": percentile(reading, 0.95),
            "ttft_ratio": median(self.ttft_ratios(mode)),
            "read_ratio": median(ratios(reading, [exact[n].read_s for n in self._worded])),
            "contained_delta": self.quality_delta(mode),
            "won": sum(_holds(one) > _holds(other) for one, other in zip(replies, exact, strict=True)),
            "lost": sum(_holds(one) < _holds(other) for one, other in zip(replies, exact, strict=True)),
            "reused": fmean(replies[n].n_reused / replies[n].n_prompt for n in self._worded),
        }  # fmt: skip
        return {name: round(value, 4) + 0.0 for name, value in row.items()}

    @property
    def bytes_per_token(self) -> float:
        """Bytes on the disk for each token of a kept passage; 0 where nothing was kept."""
        n_tokens = sum(each.block_tokens for each in self.replies[COLD])
        return sum(each.block_bytes for each in self.replies[COLD]) / n_tokens if n_tokens else 0.0

    def results(self) -> dict[str, Measured]:
        """Return the bench's figures; a run is a question."""
        parts = {
            f"{mode.name}_ttft_s": [replies[n].ttft_s for n in self._worded]
            for mode, replies in self.replies.items()
        }
        cold = COLD if self.picked != EXACT else EXACT
        return {
            "warm_ttft_ratio": Measured(self.ttft_ratios(self.picked), parts),
            "cold_ttft_ratio": Measured(self.ttft_ratios(cold)),
            "quality_delta": Measured([self.quality_delta(self.picked) + 0.0]),
        }

    @cached_property
    def _worded(self) -> list[int]:
        n_questions = len(self.replies[EXACT])
        return [
            n
            for n in range(n_questions)
            if all(
                not of_mode[n].answered.by_evidence and of_mode[n].ttft_s > 0
                for of_mode in self.replies.values()
            )
        ]

    def _beside(self, mode: Mode) -> tuple[Sequence[Reply], Sequence[Reply]]:
        return self.replies[mode], self.replies[EXACT]

    def _stands(self, mode: Mode) -> bool:
        worse = -self.quality_delta(mode) > MAX_LOST + 1e-9
        return not worse and median(self.ttft_ratios(mode)) <= WORTH


def _holds(reply: Reply) -> bool:
    return reply.answered.contained


def figures_of(model: str) -> tuple[Figure, ...]:
    """Return the bench's figures with the targets of a model."""
    warm = at_most(0.15 if model.startswith(LARGE) else 0.25)
    return (
        Figure(
            "warm_ttft_ratio", "TTFT with all passages kept, in the picked mode ÷ exact", small=warm, usual=warm
        ),
        Figure(
            "cold_ttft_ratio", "TTFT with no passage kept yet ÷ exact", small=at_most(1.1), usual=at_most(1.1)
        ),
        Figure(
            "quality_delta", "answers that hold the golden one, in the picked mode − exact", small=at_least(-MAX_LOST),
            usual=at_least(-MAX_LOST),
        ),
    )  # fmt: skip
