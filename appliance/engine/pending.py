"""What the child has been asked and has not answered yet, by number: the parent's side of its replies."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

from appliance.engine.request import Done, Event, Queued
from appliance.errors import EngineError


class Pending:
    """Answers that are being made (many events each), and questions with one reply."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._requests: dict[int, asyncio.Queue[Event | EngineError]] = {}
        self._questions: dict[int, asyncio.Future[Any]] = {}
        self._waiting: set[int] = set()

    @property
    def n_running(self) -> int:
        """Requests that the child works on."""
        return len(self._requests) - len(self._waiting)

    @property
    def n_waiting(self) -> int:
        """Requests that wait in the child's queue."""
        return len(self._waiting)

    @property
    def is_empty(self) -> bool:
        """Whether nobody waits for anything."""
        return not self._requests and not self._questions

    def open(self) -> tuple[int, asyncio.Queue[Event | EngineError]]:
        """Begin a request; return its number, and where its events arrive."""
        number = next(self._numbers)
        self._requests[number] = asyncio.Queue()
        return number, self._requests[number]

    def close(self, number: int) -> bool:
        """End a request; return whether the child still works on it."""
        self._waiting.discard(number)
        return self._requests.pop(number, None) is not None

    def ask(self) -> tuple[int, asyncio.Future[Any]]:
        """Begin a question; return its number, and its reply to come."""
        number = next(self._numbers)
        self._questions[number] = asyncio.get_running_loop().create_future()
        return number, self._questions[number]

    def drop(self, number: int) -> None:
        """End a question."""
        self._questions.pop(number, None)

    def answer(self, number: int, reply: Any) -> None:
        """Hand a reply to whoever asked."""
        if (question := self._questions.get(number)) and not question.done():
            question.set_result(reply)

    def pass_on(self, number: int, event: Event | EngineError) -> None:
        """Hand an event to whoever began the request, or an error to whoever asked."""
        if (
            (question := self._questions.get(number))
            and isinstance(event, EngineError)
            and not question.done()
        ):
            question.set_exception(event)
        if (events := self._requests.get(number)) is None:
            return
        events.put_nowait(event)
        if isinstance(event, Queued):
            self._waiting.add(number)
            return
        self._waiting.discard(number)
        if isinstance(event, Done | EngineError):
            self.close(number)

    def fail_all(self, error: EngineError) -> None:
        """Tell everyone that there will be no answer."""
        for number in [*self._requests, *self._questions]:
            self.pass_on(number, error)
