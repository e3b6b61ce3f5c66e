"""How many requests a remote server gets at once, and who waits here for a place. One event loop; no threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from appliance.engine.scheduler import ANSWER_WEIGHT, START_ANSWER_S
from appliance.engine.waiting import Waiting
from appliance.errors import EngineBusyError


class Turn:
    """One request's way to a place. Leave it, whatever happens."""

    def __init__(self, places: Places, user: str) -> None:
        self.user = user
        self.runs = False
        self.moved = asyncio.Event()
        self._places = places

    async def positions(self) -> AsyncGenerator[int, None]:
        """Yield the position in the queue, from 1, each time it may have changed; ends with a place."""
        while not self.runs:
            self.moved.clear()
            yield self._places.position(self)
            await self.moved.wait()

    def leave(self) -> None:
        """Give the place, or the wait for it, up."""
        self._places.leave(self)


class Places:
    """`n_places` requests run; up to `max_waiting` wait, users taking turns."""

    def __init__(self, n_places: int, max_waiting: int) -> None:
        self._n_places = n_places
        self._max_waiting = max_waiting
        self._waiting: Waiting[Turn] = Waiting()
        self._answer_s = START_ANSWER_S
        self.n_running = 0

    @property
    def n_waiting(self) -> int:
        """Requests that have no place yet."""
        return len(self._waiting)

    def take(self, user: str) -> Turn:
        """Get in line.

        Raises:
            EngineBusyError: the queue is full.
        """
        if self.n_running >= self._n_places and self.n_waiting >= self._max_waiting:
            raise EngineBusyError(self.n_waiting, max(1.0, self.wait_s(self.n_waiting)))
        turn = Turn(self, user)
        self._waiting.add(turn)
        self._admit()
        return turn

    def position(self, turn: Turn) -> int:
        """Return where a waiting request stands, from 1."""
        return self._waiting.order().index(turn) + 1

    def wait_s(self, position: int) -> float:
        """Guess how long the request at `position` waits yet."""
        return self._answer_s * position / self._n_places

    def leave(self, turn: Turn) -> None:
        """Take a request out, wherever it is."""
        if turn.runs:
            turn.runs = False
            self.n_running -= 1
        else:
            self._waiting.remove(turn)
        self._admit()
        for waiting in self._waiting.order():
            waiting.moved.set()

    def record_answer(self, seconds: float) -> None:
        """Learn from the time an answer held its place."""
        self._answer_s += ANSWER_WEIGHT * (seconds - self._answer_s)

    def _admit(self) -> None:
        while self.n_waiting and self.n_running < self._n_places:
            turn = self._waiting.pop()
            turn.runs = True
            turn.moved.set()
            self.n_running += 1
