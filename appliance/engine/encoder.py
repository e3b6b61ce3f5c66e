"""Passages computed apart: for those who wait for them at once, ahead of time when nobody asks.

An encoding is a sequence like others, so it shares steps and prefixes with them; what is special is how it begins and
ends. All of it is the main thread's, under the desk's lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from appliance.engine import wire
from appliance.engine.blocks import Blocks
from appliance.engine.desk import Desk
from appliance.engine.joiner import Joiner
from appliance.engine.request import Reuse
from appliance.engine.sequence import Encoding, Sequence
from appliance.engine.slots import Slot, Slots


class Encoder:
    """The passages' side of the step loop."""

    def __init__(self, desk: Desk, slots: Slots, joiner: Joiner, blocks: Blocks) -> None:
        self._desk = desk
        self._slots = slots
        self._blocks = blocks
        self.joiner = joiner
        self._told: tuple[int, ...] = ()
        self._kept: list[tuple[Slot, int]] = []

    def begin(self, sequence: Sequence) -> None:
        """Start what a placed sequence needs that is not kept yet."""
        if sequence.joins:
            self._desk.scheduler.running += self.joiner.plan(sequence, self._desk.scheduler.running)

    def join(self) -> Iterator[Sequence]:
        """Join whatever has been come to and is kept; return the sequences that got on."""
        running = self._desk.scheduler.running
        computing = {one.key for one in running if isinstance(one, Encoding)}
        for sequence in running:
            n_before = sequence.n_done
            while sequence.joins and sequence.n_done >= sequence.joins[0].at:
                join = sequence.joins[0]
                if join.key in computing and join.end > sequence.n_done:
                    break
                n = self.joiner.join(sequence, self._slots.of(sequence))
                sequence.n_done += n
                sequence.n_reused += n if all(one.key != join.key for one in sequence.encodings) else 0
            if sequence.n_done > n_before:
                yield sequence
        self._clear()

    def _clear(self) -> None:
        """Leave the cells of what is kept to conversations, which are not; who stood right behind its base has them."""
        for slot, n_base in self._kept:
            if slot.is_idle:
                self._slots.truncate(slot, n_base)
        self._kept.clear()

    def finish(self, encoding: Encoding) -> None:
        """Keep what has been computed."""
        slot = self._slots.of(encoding)
        kept = self.joiner.keep(encoding, slot)
        self._desk.preparing.done(encoding, kept=kept)
        self._leave(encoding)
        if kept:
            self._kept.append((slot, len(encoding.base)))

    def give_up(self, encoding: Encoding) -> None:
        """End one for which there is no room: it is computed in its place, for those who need it now."""
        self._desk.preparing.done(encoding, kept=False)
        self._leave(encoding)

    def forsake(self, sequence: Sequence) -> None:
        """End what was computed for a sequence alone."""
        for encoding in sequence.encodings:
            encoding.clients.remove(sequence)
            if not encoding.clients and encoding in self._desk.scheduler.running:
                self._leave(encoding)
                if encoding.ordered:
                    self._desk.preparing.put_back(encoding)
        sequence.encodings.clear()

    def make_way(self) -> bool:
        """Leave what was asked for ahead of time; return whether there was anything to leave."""
        ahead = [
            one for one in self._desk.scheduler.running if isinstance(one, Encoding) and not one.is_wanted
        ]
        for one in ahead:
            self._leave(one)
            self._desk.preparing.put_back(one)
        return bool(ahead)

    def work_ahead(self) -> None:
        """When nobody asks, go on with what was asked for ahead of time; when someone does, leave it."""
        running, preparing = self._desk.scheduler.running, self._desk.preparing
        if len(self._desk.scheduler.waiting) or any(one.is_wanted for one in running):
            self.make_way()
            return
        while not running and (encoding := preparing.next()) is not None:
            if self.joiner.is_kept(encoding):
                preparing.done(encoding, kept=True)
            elif self.joiner.place(encoding):
                running.append(encoding)
            else:
                preparing.done(encoding, kept=False)

    def news(self, reuse: Reuse) -> Iterator[wire.WireMessage]:
        """Return what the parent should hear: orders that are done, and how much is kept where that has changed."""
        preparing, blocks = self._desk.preparing, self._blocks
        for ordered, n_kept in preparing.finished().items():
            yield {"kind": "counts", "id": ordered, "counts": n_kept}
        now = (blocks.n_blocks, blocks.n_bytes, blocks.max_bytes, len(preparing))
        if now != self._told:
            self._told = now
            names = ("n_blocks", "block_bytes", "max_block_bytes", "n_preparing")
            yield {"kind": "blocks", "reuse": asdict(reuse), **dict(zip(names, now, strict=True))}

    def _leave(self, encoding: Encoding) -> None:
        """Take an encoding out of the steps; its tokens stay in the slot, for whoever goes on."""
        self._desk.scheduler.remove(encoding)
        self._slots.release(self._slots.of(encoding))
        encoding.slot = None
