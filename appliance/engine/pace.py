"""What a step of so many tokens takes: learned while running, by batch size.

A step's price is no straight line: two tokens cost one and a half times as much as one, a hundred cost less than
fifty times two. So the price list has a knot at each power of two, and what lies between is interpolated. Prompt
tokens, decoded ones and drafts are rows of the same batch and cost the same.
"""

from __future__ import annotations

from math import log2

# Start values until the first steps are measured: 0.5 B, 2 cores (docs/measurements.md, Steps), from 1 to 8,192.
START_MS = (23, 34, 43, 73, 106, 177, 292, 550, 1097, 2269, 4540, 9080, 18160, 36320)
# One slow step says that prompts grow or that the box is busy: readers would wait, so it counts at once. One fast
# step may be luck.
WEIGHT_SLOWER = 0.5
WEIGHT_FASTER = 0.15
# Longer texts and busy neighbours slow all sizes: a step tells of the others, too, but less than of its own.
DRAG = 0.5
# The steepest step of any measured list is 8 → 16 tokens of the 135M, 2.15 times: a list that lies above that
# was measured in a bad moment.
MAX_RISE = 2.3
MIN_CHUNK = 8  # prompt tokens a step takes even when decoding alone breaks the target: newcomers must get on


class Pace:
    """The price list of steps, and how many tokens fit into one of the target's time."""

    def __init__(self, target_ms: float) -> None:
        self._target_ms = target_ms
        self._knots = [float(ms) for ms in START_MS]
        self._measured: set[int] = set()

    def step_ms(self, n_tokens: int) -> float:
        """Return what a step of `n_tokens` takes, decoded ones and prompt together."""
        low, high, share = self._between(n_tokens)
        return self._knots[low] + share * (self._knots[high] - self._knots[low])

    def n_prompt(self, n_decoding: int) -> int:
        """Return how many prompt tokens fit beside `n_decoding` decoded ones within the target."""
        low, high = 0, 1 << (len(self._knots) - 1)
        while low < high:
            middle = (low + high + 1) // 2
            if self.step_ms(middle) <= self._target_ms:
                low = middle
            else:
                high = middle - 1
        return max(MIN_CHUNK, low - n_decoding)

    def record(self, n_tokens: int, ms: float) -> None:
        """Learn from a step of `n_tokens` that took `ms`."""
        ratio = ms / self.step_ms(n_tokens)
        weight = WEIGHT_SLOWER if ratio > 1 else WEIGHT_FASTER
        low, high, share = self._between(n_tokens)
        near = {low: 1 - share, high: share}
        for at in range(len(self._knots)):
            self._knots[at] *= ratio ** self._pull(at, near.get(at, 0.0), weight)
        self._measured |= {at for at, part in near.items() if part > 0}
        self._straighten(low)

    def _pull(self, at: int, part: float, weight: float) -> float:
        """Return how far a knot follows a step that lay beside it to `part`: 0 not at all, 1 all the way."""
        if not self._measured:
            return 1.0  # another box is faster or slower by about the same at all sizes
        if at in self._measured:
            return weight * (part + (1 - part) * DRAG)
        return max(part, weight)

    def _straighten(self, start: int) -> None:
        """Keep the list rising, and not too steeply, outwards from a knot."""
        knots = self._knots
        for at in range(start + 1, len(knots)):
            knots[at] = min(max(knots[at], knots[at - 1]), MAX_RISE * knots[at - 1])
        for at in range(start - 1, -1, -1):
            knots[at] = min(max(knots[at], knots[at + 1] / MAX_RISE), knots[at + 1])

    def _between(self, n_tokens: int) -> tuple[int, int, float]:
        """Return the knots around a batch size, and how far it is from the first to the second."""
        low = min(int(log2(max(1, n_tokens))), len(self._knots) - 2)
        share = n_tokens / (1 << low) - 1
        return low, low + 1, min(1.0, max(0.0, share))
