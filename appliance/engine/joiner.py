"""Passages whose cells were computed apart: which of a prompt's may be joined, and the joining itself.

Each is computed right behind the base, what stands before a first turn's first passage, so that its first token sees
what every prompt begins with. A kept passage is put into a spare slot, moved to its place and shared with the
prompt's slot. Whatever goes wrong with one costs its prefill and nothing else: it is computed in its place.
"""

from __future__ import annotations

from collections.abc import Sequence as Tokens

from appliance.engine.blocks import Blocks
from appliance.engine.model import Memory
from appliance.engine.request import Reuse
from appliance.engine.sequence import Encoding, Join, Sequence
from appliance.engine.slots import Slot, Slots
from appliance.engine.template import PromptTokens

MIN_JOINED = 16  # tokens; fewer are computed in the time that it takes to read and move them


class Joiner:
    """Between prompts, slots and the kept blocks. The main thread's, but for `joins` and `encodings`."""

    def __init__(self, slots: Slots, memory: Memory, blocks: Blocks) -> None:
        self._slots = slots
        self._memory = memory
        self._blocks = blocks

    def joins(self, prompt: PromptTokens, base: Tokens[int], reuse: Reuse) -> list[Join]:
        """Return what may be joined of a prompt, in its order."""
        if not reuse.joins or not base:
            return []
        n_fresh = reuse.n_fresh if reuse.mode == "blend" else 0
        found: list[Join] = []
        for span in prompt.spans:
            # Right behind its base a passage is what it would be if it were computed there.
            in_place = prompt.tokens[: span.start] == base
            at = span.start + (0 if in_place else n_fresh)
            end = min(span.end, len(prompt.tokens) - 1)  # the last token's logits are needed
            if end - at >= MIN_JOINED and end == span.end:
                name = self._blocks.name(base, prompt.tokens[span.start : span.end])
                found.append(Join(span.start, span.end, at, span.owner, name))
        return found

    def encodings(self, prompt: PromptTokens, base: Tokens[int], ordered: int) -> list[Encoding]:
        """Return what computes the passages of a prompt ahead of time."""
        sequence = Sequence(0, "", prompt.tokens, 0, base=base)
        return [_encoding(sequence, join, ordered) for join in self.joins(prompt, base, Reuse("blocks"))]

    def is_kept(self, passage: Join | Encoding) -> bool:
        """Return whether the cells of a passage need not be computed."""
        return self._blocks.has(passage.owner, passage.name)

    def plan(self, sequence: Sequence, running: Tokens[Sequence]) -> list[Encoding]:
        """Decide what of a placed sequence is joined; return what is to be computed for it, each with a slot."""
        found = {one.key: one for one in running if isinstance(one, Encoding)}
        started: list[Encoding] = []
        for join in list(sequence.joins):
            if join.end - sequence.n_done < MIN_JOINED:
                sequence.joins.remove(join)
            elif self.is_kept(join):
                continue
            elif (encoding := found.get(join.key)) or (encoding := self._start(sequence, join)):
                started += [] if join.key in found else [encoding]
                found[join.key] = encoding
                encoding.clients.append(sequence)
                sequence.encodings.append(encoding)
            else:
                sequence.joins.remove(join)
        return started

    def _start(self, sequence: Sequence, join: Join) -> Encoding | None:
        encoding = _encoding(sequence, join)
        return encoding if self.place(encoding) else None

    def place(self, encoding: Encoding) -> bool:
        """Take a slot for a passage; False when there is no room."""
        if sum(slot.is_idle for slot in self._slots.slots) < 2:  # one stays for what is joined
            return False
        slot = self._slots.place(encoding.prompt, encoding.n_reserved)
        if slot is None:
            return False
        encoding.slot = slot.index
        encoding.n_done = len(slot.tokens)
        return True

    def keep(self, encoding: Encoding, slot: Slot) -> bool:
        """Keep the cells of a passage that is computed; False when they cannot be kept: its clients have them yet."""
        if (spare := self._slots.spare()) is None:
            return False
        self._memory.seq_cp(slot.index, spare.index, encoding.n_prompt, len(encoding.base))
        state = self._memory.state(spare.index)
        self._memory.seq_rm(spare.index, -1, -1)
        if self._blocks.write(encoding.owner, encoding.name, state):
            return True
        encoding.state = state
        return False

    def join(self, sequence: Sequence, slot: Slot) -> int:
        """Join the next passage of a sequence that has come to it, if it is kept; return how many tokens that were."""
        join = sequence.joins.pop(0)
        state = self._state(sequence, join) if join.end > sequence.n_done else None
        if state is None or (spare := self._slots.spare()) is None:
            return 0
        n_base, at = len(sequence.base), max(join.at, sequence.n_done)
        moved_by = join.start - n_base
        n_last = n_base + join.end - join.start - 1
        n_joined = 0
        if self._memory.set_state(spare.index, state) and self._memory.seq_pos_max(spare.index) == n_last:
            if at > join.start:
                self._memory.seq_rm(spare.index, n_base, at - moved_by)
            if moved_by:
                self._memory.seq_add(spare.index, moved_by)
            self._memory.seq_cp(spare.index, slot.index, join.end, at)
            self._slots.graft(slot, sequence.prompt[at : join.end])
            n_joined = join.end - at
        self._memory.seq_rm(spare.index, -1, -1)
        return n_joined

    def _state(self, sequence: Sequence, join: Join) -> bytes | memoryview | None:
        unkept = (one.state for one in sequence.encodings if one.key == join.key and one.state is not None)
        return next(unkept, None) or self._blocks.read(join.owner, join.name)


def _encoding(sequence: Sequence, join: Join, ordered: int = 0) -> Encoding:
    prompt = [*sequence.base, *sequence.prompt[join.start : join.end]]
    return Encoding(
        id=0, user="", prompt=prompt, max_tokens=0, base=sequence.base, owner=join.owner, name=join.name,
        arrived=sequence.arrived, ordered=ordered,
    )  # fmt: skip
