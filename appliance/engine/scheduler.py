"""Decides what each step computes. Counters only: it sees neither a token nor the model.

Running decodes come first, prompt chunks fill the rest of the step; the queue decides who is admitted next.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Many
from dataclasses import dataclass

from appliance.engine.pace import Pace
from appliance.engine.sequence import Sequence
from appliance.engine.waiting import Waiting
from appliance.errors import EngineBusyError, PromptTooLongError

START_ANSWER_S = 5.0  # guess of one answer's time until one has been measured
ANSWER_WEIGHT = 0.2


@dataclass(frozen=True, slots=True)
class Limits:
    """What may run and wait.

    Attributes:
        max_context: most tokens of one sequence, prompt and answer.
        n_batch: most tokens of a step.
        step_target_ms: longest step while someone reads.
    """

    max_sequences: int
    max_waiting: int
    max_context: int
    n_batch: int
    step_target_ms: float


@dataclass(frozen=True, slots=True)
class Work:
    """One sequence's share of a step: `n_tokens` prompt tokens, or 1 decoded one."""

    sequence: Sequence
    n_tokens: int
    is_decode: bool


class Scheduler:
    """The queue, the running sequences and the budget of a step."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pace = Pace(limits.step_target_ms)
        self._answer_s = START_ANSWER_S
        self._announced: dict[int, int] = {}
        self.waiting = Waiting()
        self.running: list[Sequence] = []

    @property
    def n_free(self) -> int:
        """Sequences that could be admitted now if there were cells."""
        return self._limits.max_sequences - len(self.running)

    def add(self, sequence: Sequence) -> None:
        """Put a request into the queue.

        Raises:
            PromptTooLongError: it can never fit.
            EngineBusyError: the queue is full.
        """
        if sequence.n_reserved > self._limits.max_context:
            raise PromptTooLongError(sequence.n_prompt, sequence.max_tokens, self._limits.max_context)
        # Those that only wait for the step to end do not count as waiting.
        if len(self.waiting) >= self._limits.max_waiting + self.n_free:
            raise EngineBusyError(len(self.waiting), self._wait_s())
        self.waiting.add(sequence)

    def admit(self, place: Callable[[Sequence], bool]) -> list[Sequence]:
        """Start waiting requests, in order, until one does not fit: none overtakes it, so none starves.

        Args:
            place: finds room in the KV cache; False when there is not enough.
        """
        admitted: list[Sequence] = []
        while self.n_free > 0 and (first := self.waiting.first()) is not None and place(first):
            sequence = self.waiting.pop()
            self.running.append(sequence)
            admitted.append(sequence)
        return admitted

    def remove(self, sequence: Sequence) -> None:
        """Forget a request, wherever it is."""
        self._announced.pop(sequence.id, None)
        if not self.waiting.remove(sequence) and sequence in self.running:
            self.running.remove(sequence)

    def moved(self) -> list[tuple[Sequence, int]]:
        """Return (request, position from 1) of each waiting one that has moved since last asked."""
        positions = [(sequence, at) for at, sequence in enumerate(self.waiting.order(), 1)]
        moved = [(sequence, at) for sequence, at in positions if self._announced.get(sequence.id) != at]
        self._announced = {sequence.id: at for sequence, at in positions}
        return moved

    def schedule(self) -> list[Work]:
        """Return the next step: every running decode, then prompt chunks in order of admission."""
        work = [Work(sequence, 1, True) for sequence in self.running if sequence.is_decoding]
        budget = self._limits.n_batch - len(work)
        if work:
            budget = min(budget, self._pace.n_prompt(len(work)))
        for sequence in self.running:
            n = min(budget, sequence.n_prompt_left)
            if n > 0:
                work.append(Work(sequence, n, False))
                budget -= n
        return work

    def record(self, work: Many[Work], seconds: float) -> None:
        """Learn from a step's time."""
        n_decoding = sum(item.is_decode for item in work)
        n_prompt = sum(item.n_tokens for item in work if not item.is_decode)
        self._pace.record(n_decoding, n_prompt, seconds * 1000)

    def record_answer(self, seconds: float) -> None:
        """Learn from the time a whole answer ran."""
        self._answer_s += ANSWER_WEIGHT * (seconds - self._answer_s)

    def _wait_s(self) -> float:
        return max(1.0, self._answer_s * len(self.waiting) / self._limits.max_sequences)
