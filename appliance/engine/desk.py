"""What the threads of the engine's process share, under one lock: the queue, the requests, the running step.

The lock is never held while the model computes.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Many
from math import inf
from threading import Condition

from appliance.engine.outbox import Outbox
from appliance.engine.preparing import Preparing
from appliance.engine.scheduler import Limits, Scheduler
from appliance.engine.sequence import Encoding, Sequence
from appliance.engine.slots import Slots


class Desk:
    """Requests on their way.

    Attributes:
        changed: the lock of all the rest; told of whatever may give the main thread work.
        sequences: by number, from their arrival to their end.
        computing: those in the running step.
        preparing: passages that are computed when nobody asks.

    Args:
        abort: ends the running step early.
    """

    def __init__(
        self, limits: Limits, slots: Slots, abort: Callable[[], None], clock: Callable[[], float]
    ) -> None:
        self._slots = slots
        self._abort = abort
        self._clock = clock
        self.scheduler = Scheduler(limits)
        self.sequences: dict[int, Sequence] = {}
        self.computing: list[Sequence] = []
        self.preparing = Preparing()
        self.changed = Condition()
        self.stopping = False

    def enter(self, sequence: Sequence, outbox: Outbox) -> None:
        """Put a request into the queue.

        Raises:
            PromptTooLongError, EngineBusyError: see `Scheduler.add`.
        """
        with self.changed:
            self.scheduler.add(sequence)
            self.sequences[sequence.id] = sequence
            if self.computing and not any(one.is_wanted for one in self.computing):
                self._abort()  # what is done ahead of time waits for whoever asks
            if self.scheduler.n_free <= 0:  # the main thread may be busy for a while: say so at once
                outbox.tell_waiting(self.scheduler)
                outbox.flush()
            self.changed.notify_all()

    def prepare(self, number: int, encodings: Many[Encoding]) -> None:
        """Put passages behind those that are to be computed when nobody asks."""
        with self.changed:
            self.preparing.add(number, encodings)
            self.changed.notify_all()

    def cancel(self, number: int) -> None:
        """End a request soon; an unknown one has ended already."""
        with self.changed:
            self.preparing.cancel(number)
            if (sequence := self.sequences.get(number)) is not None:
                sequence.cancelled = True
                self._break_off()
                self.changed.notify_all()

    def stop(self) -> None:
        """End everything."""
        with self.changed:
            self.stopping = True
            self._abort()
            self.changed.notify_all()

    def held(self) -> dict[str, int]:
        """Count what is held now, for whoever looks for leaks."""
        with self.changed:
            return {
                "n_sequences": len(self.sequences),
                "n_running": len(self.scheduler.running),
                "n_waiting": len(self.scheduler.waiting),
                "n_preparing": len(self.preparing),
                "n_busy_slots": sum(not slot.is_idle for slot in self._slots.slots),
                "n_cells": self._slots.n_used,
            }

    def mind_deadlines(self) -> None:
        """Break off steps whose sequences have all run out of time, until told to stop. A thread's whole life."""
        with self.changed:
            while not self.stopping:
                self._break_off()
                now = self._clock()
                coming = [one.deadline - now for one in self.sequences.values() if now < one.deadline < inf]
                self.changed.wait(min(coming, default=None))

    def _break_off(self) -> None:
        """End the running step if nobody needs it; one that someone needs is short enough to wait for."""
        now = self._clock()
        if self.computing and all(sequence.is_over(now) for sequence in self.computing):
            self._abort()
