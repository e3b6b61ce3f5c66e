"""Decides what each step computes. Counters only: it sees neither a token nor the model.

Running decodes come first, prompt chunks fill the rest of the step; the queue decides who is admitted next.
Of several prompts the one that is done soonest comes first: a short question does not wait behind a long one. The
oldest has a share of its own, so that it gets on however many short ones come.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Many
from dataclasses import dataclass
from math import ceil

from appliance.engine.lookup import MAX_DRAFT, MAX_DRAFTING
from appliance.engine.pace import Pace
from appliance.engine.sequence import Sequence
from appliance.engine.waiting import Waiting
from appliance.errors import EngineBusyError, PromptTooLongError

START_ANSWER_S = 5.0  # guess of one answer's time until one has been measured
ANSWER_WEIGHT = 0.2
OLDEST_SHARE = 0.25  # of the prompt tokens of a step


@dataclass(frozen=True, slots=True)
class Limits:
    """What may run and wait.

    Attributes:
        max_context: most tokens of one sequence, prompt and answer.
        n_batch: most tokens of a step.
        step_target_ms: longest step while someone reads.
        prompt_lookup: drafts from the prompt may be tried.
    """

    max_sequences: int
    max_waiting: int
    max_context: int
    n_batch: int
    step_target_ms: float
    prompt_lookup: bool = True


@dataclass(frozen=True, slots=True)
class Work:
    """One sequence's share of a step: `n_tokens` prompt tokens, or 1 decoded one and those drafted behind it."""

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
        self.waiting: Waiting[Sequence] = Waiting()
        self.running: list[Sequence] = []

    @property
    def n_free(self) -> int:
        """Sequences that could be admitted now if there were cells."""
        return self._limits.max_sequences - sum(one.is_answer for one in self.running)

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
            raise EngineBusyError(len(self.waiting), self.wait_s(len(self.waiting)))
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
        """Return the next step: every running decode, then prompt chunks; or drafts, where nobody's prompt waits."""
        reading = [sequence for sequence in self.running if sequence.is_decoding]
        prompts = [one for one in self.running if not one.is_decoding and not one.is_held]
        if not prompts and len(reading) <= MAX_DRAFTING:
            return self._drafted(reading)
        work = [Work(sequence, 1, True) for sequence in reading]
        budget = self._limits.n_batch - len(work)
        if work:
            budget = min(budget, self._pace.n_prompt(len(work)))
        return work + self._chunks(prompts, budget)

    def record(self, work: Many[Work], seconds: float) -> None:
        """Learn from a step's time."""
        self._pace.record(sum(item.n_tokens for item in work), seconds * 1000)

    def _chunks(self, prompts: list[Sequence], budget: int) -> list[Work]:
        """Split a step's prompt tokens: a share for the oldest, the rest to the shortest first."""
        shares = dict.fromkeys(prompts, 0)
        if prompts:
            shares[prompts[0]] = min(ceil(budget * OLDEST_SHARE), prompts[0].n_prompt_left)
        left = budget - sum(shares.values())
        for sequence in sorted(prompts, key=lambda one: one.n_prompt_left):
            more = min(left, sequence.n_prompt_left - shares[sequence])
            shares[sequence] += more
            left -= more
        return [Work(sequence, n, False) for sequence, n in shares.items() if n > 0]

    def _drafted(self, reading: list[Sequence]) -> list[Work]:
        """Return the decodes, each with as many drafted tokens as pay."""
        work: list[Work] = []
        n_drafted, n_yield = 0, float(len(reading))
        for sequence in reading:
            n = 0
            if (lookup := sequence.lookup) is not None:
                rows = len(reading) + n_drafted
                costs = [self._pace.step_ms(rows + n) for n in range(MAX_DRAFT + 1)]
                n = lookup.n_draft(costs, n_yield, sequence.n_reserved - sequence.n_done - 1)
                n_yield += lookup.promises(n)[-1] if n else 0.0
                n_drafted += n
            work.append(Work(sequence, 1 + n, True))
        return work

    def record_answer(self, seconds: float) -> None:
        """Learn from the time a whole answer ran."""
        self._answer_s += ANSWER_WEIGHT * (seconds - self._answer_s)

    def wait_s(self, position: int) -> float:
        """Guess how long the one at `position` (from 1) of the queue will wait."""
        return max(1.0, self._answer_s * position / self._limits.max_sequences)
