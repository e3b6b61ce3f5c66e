"""The queue of requests that wait for room: fair between users, then first come, first served."""

from __future__ import annotations

from collections import deque
from typing import Generic, Protocol, TypeVar


class OfUser(Protocol):
    """What may wait: it belongs to a user."""

    @property
    def user(self) -> str:
        """Who takes turns with the others."""


T = TypeVar("T", bound=OfUser)


class Waiting(Generic[T]):
    """Users take turns; each user's own requests keep their order."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[T]] = {}  # insertion order is the order of turns
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def add(self, sequence: T) -> None:
        """Put a request at the end of its user's line; a user new to the queue comes after the others."""
        self._lines.setdefault(sequence.user, deque()).append(sequence)
        self._n += 1

    def first(self) -> T | None:
        """Return whose turn it is."""
        return next(iter(self._lines.values()))[0] if self._lines else None

    def pop(self) -> T:
        """Take the first request out; its user goes behind the others."""
        user, line = next(iter(self._lines.items()))
        del self._lines[user]
        sequence = line.popleft()
        if line:
            self._lines[user] = line
        self._n -= 1
        return sequence

    def remove(self, sequence: T) -> bool:
        """Take a request out of turn; False when it does not wait here."""
        line = self._lines.get(sequence.user, deque())
        if sequence not in line:
            return False
        line.remove(sequence)
        if not line:
            del self._lines[sequence.user]
        self._n -= 1
        return True

    def order(self) -> list[T]:
        """Return all requests in the order they will be served."""
        order: list[T] = []
        lines = [list(line) for line in self._lines.values()]
        for turn in range(max(map(len, lines), default=0)):
            order.extend(line[turn] for line in lines if turn < len(line))
        return order
