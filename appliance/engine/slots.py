"""Which slot of the KV cache holds which tokens, and where a new sequence finds its longest prefix.

A slot outlives its sequence: what it holds is there for the next one, until its cells are needed. Copies
share cells, so cells are counted by identity: each computed token gets a number, a copy the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Tokens
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Protocol

from appliance.engine.model import Memory


@dataclass(slots=True, eq=False)
class Slot:
    """One lane of the cache.

    Attributes:
        tokens: exactly what the cache holds, position by position.
        cells: the identity of the cell of each token.
        n_exact: tokens from the first that were computed behind just those before them; not so those of a block that
            was computed elsewhere, nor whatever comes behind it.
        n_reserved: cells that its running sequence may come to need; 0 when idle.
        used: when it was last in use, as a count of uses.
        n_hits: how often another sequence began with what it holds.
    """

    index: int
    tokens: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    n_exact: int = 0
    n_reserved: int = 0
    used: int = 0
    n_hits: int = 0

    @property
    def is_idle(self) -> bool:
        """Whether no sequence runs here."""
        return self.n_reserved == 0

    def usable(self, exact: bool) -> Tokens[int]:
        """Return the tokens that another sequence may take over: all, or only those computed in their place."""
        return self.tokens[: self.n_exact] if exact and self.n_exact < len(self.tokens) else self.tokens


class Placed(Protocol):
    """What has a slot while it runs."""

    @property
    def slot(self) -> int | None:
        """Its number."""


class Slots:
    """All slots of one cache of `n_cells` cells."""

    def __init__(self, n_slots: int, n_cells: int, memory: Memory, can_trim: bool = True) -> None:
        self._memory = memory
        self._n_cells = n_cells
        self._can_trim = can_trim
        self._names = count()
        self._uses = count(1)
        self.slots = [Slot(index) for index in range(n_slots)]

    @property
    def n_used(self) -> int:
        """Cells in use; shared ones count once."""
        return len(self._union(self.slots))

    def of(self, sequence: Placed) -> Slot:
        """Return the slot of a running sequence."""
        assert sequence.slot is not None, "running without a slot"
        return self.slots[sequence.slot]

    def place(self, prompt: Tokens[int], n_reserved: int, *, exact: bool = True) -> Slot | None:
        """Take a slot for a sequence, with as much of its prompt as is found in any slot.

        The slot's tokens are then a true prefix of the prompt, whose last token is always left to compute (its
        logits are needed). Idle slots are dropped, least recently used first, as far as cells are needed.

        Args:
            exact: only tokens that were computed in their place will do.
        Returns:
            None when running sequences leave no room; nothing has changed then.
        """
        idle = [slot for slot in self.slots if slot.is_idle]
        if not idle:
            return None
        source, n_shared = self._longest(prompt, self.slots, exact)
        busy = self._union(slot for slot in self.slots if not slot.is_idle)
        kept = len(busy | set(source.cells[:n_shared]))
        if kept + self._growth() + n_reserved - n_shared > self._n_cells:
            return None
        target = self._target(source, n_shared, idle)
        n_hits = source.n_hits + 1 if n_shared else 0
        if target is not source:
            self._copy(source, target, n_shared)
        self.truncate(target, n_shared)
        target.n_hits = n_hits
        if n_shared:
            source.n_hits = n_hits
        target.n_reserved = n_reserved
        target.used = next(self._uses)
        self._make_room()
        return target

    def catch_up(self, slot: Slot, prompt: Tokens[int], *, exact: bool = True) -> int:
        """Take over what another slot has come to hold of a prompt since; return how many tokens that was.

        Two that ask with the same passages at the same time find nothing when they are placed.
        """
        if not self._can_trim:
            return 0
        n_own = len(slot.tokens)
        ahead = [
            other
            for other in self.slots
            if other.tokens[n_own : n_own + 1] == list(prompt[n_own : n_own + 1])
        ]
        source, n_shared = self._longest(prompt, ahead, exact)
        if n_shared <= n_own:
            return 0
        self._copy(source, slot, n_shared)
        source.n_hits = slot.n_hits = source.n_hits + 1
        return n_shared - n_own

    def has_room(self, slot: Slot, n: int) -> bool:
        """Whether a placed slot may hold `n` tokens for a moment without anything being dropped."""
        others = self._union(other for other in self.slots if other is not slot)
        promised = self._growth() - max(0, slot.n_reserved - len(slot.tokens))
        return len(others) + promised + max(n, slot.n_reserved) <= self._n_cells

    def fill(self, slot: Slot, tokens: Tokens[int], state: bytes) -> bool:
        """Put a saved state of these tokens into a slot; False, and the slot is empty, when it does not fit."""
        self.truncate(slot, 0)
        if self._memory.set_state(slot.index, state):
            self.extend(slot, tokens)
        if self._memory.seq_pos_max(slot.index) == len(slot.tokens) - 1 and slot.tokens:
            return True
        self._memory.seq_rm(slot.index, -1, -1)
        slot.tokens.clear()
        slot.cells.clear()
        slot.n_exact = 0
        return False

    def spare(self) -> Slot | None:
        """Empty the idle slot whose loss is least and return it; None when none is idle."""
        idle = [slot for slot in self.slots if slot.is_idle]
        if not idle:
            return None
        spare = self._cheapest(idle)
        self.truncate(spare, 0)
        return spare

    def graft(self, slot: Slot, tokens: Tokens[int]) -> None:
        """Note tokens whose cells come from a file: computed elsewhere, and rounded."""
        n_exact = slot.n_exact
        self.extend(slot, tokens)
        slot.n_exact = n_exact

    def extend(self, slot: Slot, tokens: Tokens[int]) -> None:
        """Note tokens that a step put into the cache."""
        if slot.n_exact == len(slot.tokens):
            slot.n_exact += len(tokens)
        slot.tokens.extend(tokens)
        slot.cells.extend(islice(self._names, len(tokens)))

    def truncate(self, slot: Slot, n: int) -> None:
        """Keep the first `n` tokens; none where the model cannot remove a part."""
        if len(slot.tokens) <= n:
            return
        if not (n and self._memory.seq_rm(slot.index, n, -1)):
            self._memory.seq_rm(slot.index, -1, -1)
            n = slot.n_hits = 0
        del slot.tokens[n:], slot.cells[n:]
        slot.n_exact = min(slot.n_exact, n)

    def reread(self, slot: Slot, tokens: Tokens[int]) -> None:
        """Note how many of a broken-off step's tokens are in the cache, as the cache itself says."""
        n = self._memory.seq_pos_max(slot.index) + 1
        self.extend(slot, tokens[: max(0, n - len(slot.tokens))])
        self.truncate(slot, n)

    def release(self, slot: Slot) -> None:
        """Let the slot idle; its tokens stay for whoever needs them next."""
        slot.n_reserved = 0
        slot.used = next(self._uses)

    def disagreeing(self) -> list[Slot]:
        """Return the slots of which the cache itself says that they hold another number of tokens."""
        return [slot for slot in self.slots if self._memory.seq_pos_max(slot.index) != len(slot.tokens) - 1]

    def drop_oldest(self) -> bool:
        """Empty the least recently used idle slot; False when there is none to empty."""
        idle = [slot for slot in self.slots if slot.is_idle and slot.tokens]
        if not idle:
            return False
        self.truncate(min(idle, key=lambda slot: slot.used), 0)
        return True

    def _longest(self, prompt: Tokens[int], slots: list[Slot], exact: bool) -> tuple[Slot, int]:
        best, n_best = self.slots[0], 0
        for slot in slots:
            n = common_prefix(slot.usable(exact), prompt)
            n = min(n, len(prompt) - 1)
            if not self._can_trim and not (slot.is_idle and n == len(slot.tokens)):
                continue
            if n > n_best or (n == n_best > 0 and slot.is_idle and not best.is_idle):
                best, n_best = slot, n
        return best, n_best

    def _target(self, source: Slot, n_shared: int, idle: list[Slot]) -> Slot:
        """Choose the slot whose loss is least: the source's own end, or what the oldest idle slot holds."""
        cheapest = self._cheapest(idle)
        if n_shared and source.is_idle and len(source.tokens) - n_shared <= self._n_lost(cheapest):
            return source
        return cheapest

    def _cheapest(self, idle: list[Slot]) -> Slot:
        """Return the one that is missed least: an empty one, one whose cells others hold as well, the oldest."""
        return min(idle, key=lambda slot: (bool(slot.tokens), self._n_lost(slot) > 0, slot.used))

    def _n_lost(self, slot: Slot) -> int:
        """Return how many tokens would be gone with a slot: copies are of beginnings, so its last cell tells."""
        n = len(slot.cells)
        is_copy = any(other.cells[n - 1 : n] == slot.cells[-1:] for other in self.slots if other is not slot)
        return 0 if is_copy else n

    def _copy(self, source: Slot, target: Slot, n: int) -> None:
        self.truncate(target, 0)
        if n:
            self._memory.seq_cp(source.index, target.index, n)
            target.tokens[:] = source.tokens[:n]
            target.cells[:] = source.cells[:n]
            target.n_exact = min(source.n_exact, n)

    def _make_room(self) -> None:
        while self.n_used + self._growth() > self._n_cells and self.drop_oldest():
            pass

    def _growth(self) -> int:
        return sum(max(0, slot.n_reserved - len(slot.tokens)) for slot in self.slots if not slot.is_idle)

    @staticmethod
    def _union(slots: Iterable[Slot]) -> set[int]:
        return set[int]().union(*(slot.cells for slot in slots))


def common_prefix(a: Tokens[int], b: Tokens[int]) -> int:
    """Return how many tokens two sequences have in common from the start."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:  # a[:low] is common, a[:high] is not; slices are compared in C
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low
