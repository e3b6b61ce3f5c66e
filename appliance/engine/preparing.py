"""Passages that are to be computed ahead of time, in the order they were asked for, and who asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from appliance.engine.sequence import Encoding


class Preparing:
    """A queue. An order is done when each of its passages is kept, or cannot be."""

    def __init__(self) -> None:
        self._waiting: deque[Encoding] = deque()
        self._left: dict[int, int] = {}
        self._kept: dict[int, int] = {}

    def __len__(self) -> int:
        return sum(self._left.values())

    def add(self, ordered: int, encodings: Iterable[Encoding]) -> None:
        """Put an order behind the others."""
        found = list(encodings)
        self._waiting.extend(found)
        self._left[ordered], self._kept[ordered] = len(found), 0

    def next(self) -> Encoding | None:
        """Take out the first one."""
        return self._waiting.popleft() if self._waiting else None

    def put_back(self, encoding: Encoding) -> None:
        """Let one be the first again."""
        if encoding.ordered in self._left:
            self._waiting.appendleft(encoding)

    def done(self, encoding: Encoding, *, kept: bool) -> None:
        """Note what became of one."""
        if encoding.ordered in self._left:
            self._left[encoding.ordered] -= 1
            self._kept[encoding.ordered] += kept

    def finished(self) -> dict[int, int]:
        """Return the orders that are done since last asked, and how many of their passages are kept."""
        over = [ordered for ordered, n_left in self._left.items() if not n_left]
        for ordered in over:
            del self._left[ordered]
        return {ordered: self._kept.pop(ordered) for ordered in over}

    def cancel(self, ordered: int) -> None:
        """Drop what is left of an order."""
        if ordered in self._left:
            del self._left[ordered], self._kept[ordered]
            self._waiting = deque(one for one in self._waiting if one.ordered != ordered)
