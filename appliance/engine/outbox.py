"""What the parent hears: events and errors, kept until a step's are all there and sent in one piece."""

from __future__ import annotations

from appliance.engine import wire
from appliance.engine.request import Event, Queued, Token
from appliance.engine.scheduler import Scheduler
from appliance.engine.sequence import Sequence
from appliance.errors import EngineError


class Outbox:
    """Messages on their way to the parent. One thread uses it."""

    def __init__(self, channel: wire.Channel) -> None:
        self._channel = channel
        self._messages: list[wire.WireMessage] = []

    def say(self, sequence: Sequence, event: Event) -> None:
        """Pass on what happened to a sequence."""
        self._messages.append({"kind": "event", "id": sequence.id, **wire.event_to_json(event)})

    def show(self, sequence: Sequence, text: str) -> None:
        """Pass on a piece of the answer, if there is one."""
        logprobs = sequence.trail.shown(len(sequence.text.text)) if sequence.trail else ()
        if text or logprobs:
            self.say(sequence, Token(text, logprobs))

    def fail(self, number: int, error: EngineError) -> None:
        """Say that a request came to nothing."""
        self._messages.append({"kind": "error", "id": number, **wire.error_to_json(error)})

    def tell_waiting(self, scheduler: Scheduler) -> None:
        """Tell those that have moved in the queue."""
        for sequence, position in scheduler.moved():
            self.say(sequence, Queued(position, round(scheduler.wait_s(position), 1)))

    def tell(self, message: wire.WireMessage) -> None:
        """Pass on what is no event of a request."""
        self._messages.append(message)

    def flush(self) -> None:
        """Send it all."""
        messages, self._messages = self._messages, []
        self._channel.send(*messages)
