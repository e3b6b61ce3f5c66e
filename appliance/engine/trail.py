"""Logprobs of an answer's tokens, kept back as long as their text is."""

from __future__ import annotations

from collections import deque

from appliance.engine.request import Logprob


class Trail:
    """Tokens on their way to the reader; places are counted in characters of the answer.

    A token comes out with its last character. One that ends inside a stop string never does, and nor does half
    a character of one.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, int, Logprob]] = deque()

    def add(self, start: int, end: int, logprob: Logprob) -> None:
        """Note a token whose characters are [start, end); a part of a character, or none, has start == end."""
        self._waiting.append((start, end, logprob))

    def shown(self, n: int) -> tuple[Logprob, ...]:
        """Return the tokens that come out now that `n` characters are shown."""
        out: list[Logprob] = []
        while self._waiting and self._waiting[0][0] < n and self._waiting[0][1] <= n:
            out.append(self._waiting.popleft()[2])
        return tuple(out)

    def rest(self) -> tuple[Logprob, ...]:
        """Return what is left: the answer ended, and no stop string ended it."""
        out = tuple(logprob for _, _, logprob in self._waiting)
        self._waiting.clear()
        return out
