"""Prompt lookup: drafts an answer's next tokens from where the prompt, or the answer itself, said the same before.

Pure: it sees tokens and prices, no model. A draft costs nothing to make but a larger step to verify, so the gate
asks each time whether the tokens it would win are worth the step. It learns what drafts are worth from every token
that is chosen, whether or not it was drafted: watching costs nothing, so a closed gate need not try to find out.
"""

from __future__ import annotations

from collections.abc import Sequence as Tokens
from dataclasses import asdict
from itertools import accumulate
from operator import mul

from appliance.engine.request import Sampling

MIN_MATCH = 4  # tokens that must be the same before; with three, drafts were wrong too often to pay
LONG_MATCH = 8  # from here on it is a quotation, below it may be a phrase
MAX_DRAFT = (
    7  # a step of eight is the largest that the small models win with (docs/measurements.md, Prompt lookup)
)
MAX_DRAFTING = 2  # readers at once for whom drafts are tried: with more, the batch is large as it is
MARGIN = 1.1  # what a drafted step must promise above a plain one: prices and chances are guesses
MEMORY = 0.85  # of the chances, a token: a quotation that has ended is forgotten within a few tokens
START = {False: (1.0, 2.0), True: (1.6, 2.0)}  # is the match long: (right, seen) before anything was seen


def can_verify(sampling: Sampling) -> bool:
    """Return whether the next token depends on the text alone: nothing that a wrong draft would spoil, no chance."""
    without_effect = {"temperature", "top_k", "top_p", "min_p", "seed", "stop"}
    plain = {name: value for name, value in asdict(Sampling()).items() if name not in without_effect}
    return sampling.temperature <= 0 and asdict(sampling).items() >= plain.items()


class Lookup:
    """The tokens of one sequence, where they were said before, and how often that told the next one."""

    def __init__(self, prompt: Tokens[int]) -> None:
        self._tokens: list[int] = []
        self._after: dict[tuple[int, ...], int] = {}
        self._source: int | None = None
        self._n_match = 0
        self._right = {is_long: right for is_long, (right, _) in START.items()}
        self._seen = {is_long: seen for is_long, (_, seen) in START.items()}
        for token in prompt:
            self._append(token)
        self._find()

    def push(self, token: int) -> None:
        """Note the token that was chosen, and whether the draft had it."""
        found = False
        if self._source is not None:
            found = self._tokens[self._source] == token
            self._note(self._n_match >= LONG_MATCH, found)
        self._append(token)
        if found:
            assert self._source is not None, "found somewhere"
            self._source += 1
            self._n_match += 1
        else:
            self._find()

    def draft(self, n: int) -> Tokens[int]:
        """Return up to `n` tokens that may come next."""
        return [] if self._source is None else self._tokens[self._source : self._source + max(0, n)]

    def n_draft(self, costs: Tokens[float], n_yield: float = 1.0, most: int = MAX_DRAFT) -> int:
        """Return how many tokens to draft: as many as promise the most tokens for the time; 0: none pays.

        Args:
            costs: what the step takes without a draft, with one drafted token, with two and so on, in any unit.
            n_yield: tokens that the step yields without a draft of ours.
            most: drafted tokens that there is room for.
        """
        best, best_rate = 0, MARGIN * n_yield / costs[0]
        for n, won in enumerate(self.promises(min(most, len(costs) - 1)), 1):
            if (rate := (n_yield + won) / costs[n]) > best_rate:
                best, best_rate = n, rate
        return best

    def promises(self, n: int) -> list[float]:
        """Return how many drafted tokens are likely right, of one drafted, of two, up to `n`."""
        likely = [self._chance(self._n_match + at) for at in range(len(self.draft(n)))]
        return list(accumulate(accumulate(likely, mul)))

    def _chance(self, n_match: int) -> float:
        is_long = n_match >= LONG_MATCH
        return self._right[is_long] / self._seen[is_long]

    def _append(self, token: int) -> None:
        self._tokens.append(token)
        # The newest end is entered one token late: it must not find itself.
        if len(self._tokens) > MIN_MATCH:
            self._after[tuple(self._tokens[-MIN_MATCH - 1 : -1])] = len(self._tokens) - 1

    def _find(self) -> None:
        self._source = self._after.get(tuple(self._tokens[-MIN_MATCH:]))
        self._n_match = 0 if self._source is None else self._common(self._source)

    def _common(self, source: int) -> int:
        """Return how far back the text before `source` is the newest text, up to `LONG_MATCH`."""
        n = MIN_MATCH
        while n < LONG_MATCH and source > n and self._tokens[source - n - 1] == self._tokens[-n - 1]:
            n += 1
        return n

    def _note(self, is_long: bool, right: bool) -> None:
        self._right[is_long] = self._right[is_long] * MEMORY + right
        self._seen[is_long] = self._seen[is_long] * MEMORY + 1
