"""Between the slots and the prefixes on disk: which file fills a slot, which slots become files."""

from __future__ import annotations

from collections.abc import Sequence as Tokens
from functools import partial
from typing import Protocol

from appliance.engine.prefixes import Candidate, Prefixes
from appliance.engine.slots import Slot, Slots, common_prefix


class States(Protocol):
    """What of a model gives a slot's state."""

    def state(self, slot: int) -> bytes:
        """See `Memory`."""


class Recall:
    """Fills slots from what earlier processes saved; `prefixes` None: they saved nothing, nor does this one."""

    def __init__(self, slots: Slots, states: States, prefixes: Prefixes | None) -> None:
        self._slots = slots
        self._states = states
        self._prefixes = prefixes

    def fill(self, slot: Slot, prompt: Tokens[int]) -> None:
        """Put the saved beginning of a prompt into its slot, if one is known that is much longer than the slot's."""
        if self._prefixes is None or (saved := self._prefixes.longest(prompt, len(slot.tokens))) is None:
            return
        if not self._slots.has_room(slot, len(saved.tokens)):
            return
        if (state := self._prefixes.read(saved)) is None:
            return
        if not self._slots.fill(slot, saved.tokens, state):
            self._prefixes.forget(saved)
        self._slots.truncate(slot, min(common_prefix(saved.tokens, prompt), len(prompt) - 1))

    def save(self) -> None:
        """Write down the slots that others began with most, then those used last: what was computed in its place."""
        if self._prefixes is None:
            return
        for slot in self._slots.slots:
            self._slots.truncate(slot, slot.n_exact)
        doubtful = self._slots.disagreeing()
        hot = sorted(self._slots.slots, key=lambda slot: (-slot.n_hits, -slot.used))
        self._prefixes.save(
            Candidate(slot.tokens, partial(self._states.state, slot.index))
            for slot in hot
            if slot not in doubtful
        )
