"""The step loop around a model, and the listener beside it.

The main thread computes steps. A second thread listens to the parent, renders and tokenises, so that a new
question, a cancel or a count never waits behind a step. Queue and scheduler are shared under one lock, which
is never held while the model computes; the cache is the main thread's alone.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from threading import Condition
from time import perf_counter

from appliance.engine import wire
from appliance.engine.model import Chunk, Model, Outcome
from appliance.engine.replies import Replies
from appliance.engine.request import Event, FinishReason, Prefill, Queued, Token
from appliance.engine.sampling import chain
from appliance.engine.scheduler import Limits, Scheduler, Work
from appliance.engine.sequence import Sequence
from appliance.engine.slots import Slot, Slots
from appliance.engine.template import ChatTemplate, content_tokens, prompt_tokens
from appliance.engine.text import TextStream
from appliance.errors import EngineError


class Worker:
    """The step loop around a model, and the listener beside it.

    Raises:
        EngineError: the model's chat template cannot be used.
    """

    def __init__(
        self, model: Model, channel: wire.Channel, limits: Limits, clock: Callable[[], float] = perf_counter
    ) -> None:
        self._model = model
        self._channel = channel
        self._clock = clock
        self._scheduler = Scheduler(limits)
        self._slots = Slots(model.n_slots, model.n_ctx, model, model.can_trim)
        self._template = ChatTemplate(model.chat_template, model.bos_text, model.eos_text)
        self._replies = Replies()
        self._sequences: dict[int, Sequence] = {}
        self._computing: list[Sequence] = []
        self._changed = Condition()
        self._stopping = False
        self._outbox: list[wire.WireMessage] = []

    # --- the listener's thread ---

    def listen(self) -> None:
        """Take the parent's messages until it says stop or is gone."""
        try:
            while (message := self._channel.receive()) is not None and message["kind"] != "stop":
                self._answer(message)
        finally:
            with self._changed:
                self._stopping = True
                self._model.abort()
                self._changed.notify()

    def _answer(self, message: wire.WireMessage) -> None:
        try:
            self._take(message)
        except EngineError as error:
            self._channel.send(_error(message["id"], error))
        except Exception as error:
            traceback.print_exc()
            self._channel.send(_error(message["id"], EngineError(f"the engine failed on a request: {error}")))

    def _take(self, message: wire.WireMessage) -> None:
        match message["kind"]:
            case "generate":
                self._generate(message["id"], message["request"])
            case "cancel":
                self._cancel(message["id"])
            case "count":
                counts = [len(content_tokens(text, self._model)) for text in message["texts"]]
                self._channel.send({"kind": "counts", "id": message["id"], "counts": counts})
            case kind:
                raise EngineError(f"the engine knows no message {kind!r}")

    def _generate(self, number: int, data: wire.WireMessage) -> None:
        arrived = self._clock()
        request = wire.request_from_json(data)
        parts = self._template.parts(request.messages)
        sequence = Sequence(
            id=number,
            user=request.user,
            prompt=prompt_tokens(parts, self._model, self._replies),
            max_tokens=request.max_tokens,
            sampling=request.sampling,
            text=TextStream(request.sampling.stop),
            arrived=arrived,
        )
        with self._changed:
            self._scheduler.add(sequence)
            self._sequences[number] = sequence
            if self._scheduler.n_free <= 0:  # the main thread may be busy for a while: say so at once
                self._channel.send(*self._queue_events())
            self._changed.notify()

    def _cancel(self, number: int) -> None:
        with self._changed:
            if (sequence := self._sequences.get(number)) is None:
                return
            sequence.cancelled = True
            # A step that someone else needs is short enough to wait for; one that nobody needs is broken off.
            if self._computing and all(other.cancelled for other in self._computing):
                self._model.abort()
            self._changed.notify()

    # --- the main thread ---

    def run(self) -> None:
        """Compute steps until told to stop.

        Raises:
            FatalDecodeError: the model's state is lost.
        """
        while (work := self._decide()) is not None:
            started = self._clock()
            outcome = self._model.decode([self._chunk(item) for item in work])
            with self._changed:
                self._computing = []
                if outcome is Outcome.DONE:
                    self._scheduler.record(work, self._clock() - started)
                self._record(work, outcome)
            self._flush()

    def _decide(self) -> list[Work] | None:
        """Return the next step, waiting for one if need be; None: stop."""
        with self._changed:
            while not self._stopping:
                self._drop_cancelled()
                for sequence in self._scheduler.admit(self._place):
                    self._say(sequence, Prefill(sequence.n_done, sequence.n_prompt))
                self._outbox += self._queue_events()
                self._flush()
                if work := self._scheduler.schedule():
                    self._computing = [item.sequence for item in work]
                    self._model.clear_abort()
                    return work
                self._changed.wait()
        return None

    def _place(self, sequence: Sequence) -> bool:
        slot = self._slots.place(sequence.prompt, sequence.n_reserved)
        if slot is None:
            return False
        sequence.slot = slot.index
        sequence.n_done = sequence.n_reused = len(slot.tokens)
        sequence.admitted = self._clock()
        sequence.sampler = self._model.sampler(chain(sequence.sampling))
        return True

    def _chunk(self, work: Work) -> Chunk:
        sequence = work.sequence
        tokens = sequence.next_tokens(work.n_tokens)
        ends_prompt = work.n_tokens == sequence.n_prompt_left
        return Chunk(self._slot(sequence).index, sequence.n_done, tokens, work.is_decode or ends_prompt)

    def _slot(self, sequence: Sequence) -> Slot:
        assert sequence.slot is not None, "running without a slot"
        return self._slots.slots[sequence.slot]

    def _record(self, work: list[Work], outcome: Outcome) -> None:
        match outcome:
            case Outcome.DONE:
                self._advance(work)
            case Outcome.ABORTED:
                self._reread(work)
            case Outcome.NO_ROOM if not self._slots.drop_oldest():
                # Only a fragmented or over-promised cache gets here: the last one in gives its cells back.
                sequence = self._scheduler.running[-1]
                self._end(sequence)
                self._outbox.append(
                    _error(sequence.id, EngineError("no room left in the KV cache: ask again"))
                )

    def _advance(self, work: list[Work]) -> None:
        position = -1
        for item in work:
            sequence = item.sequence
            position += item.n_tokens
            self._slots.extend(self._slot(sequence), sequence.next_tokens(item.n_tokens))
            sequence.n_done += item.n_tokens
            if not item.is_decode:
                self._say(sequence, Prefill(sequence.n_done, sequence.n_prompt))
            if sequence.is_decoding and not sequence.cancelled:
                assert sequence.sampler is not None, "running without a sampler"
                self._choose(sequence, sequence.sampler.sample(position))

    def _choose(self, sequence: Sequence, token: int) -> None:
        sequence.mark(self._clock())
        if token in self._model.eog:
            self._finish(sequence, "stop")
            return
        sequence.reply.append(token)
        self._show(sequence, sequence.text.push(self._model.piece(token)))
        if sequence.text.stopped:
            self._finish(sequence, "stop")
        elif len(sequence.reply) >= sequence.max_tokens:
            self._finish(sequence, "length")

    def _reread(self, work: list[Work]) -> None:
        """Note what a broken-off step left in the cache. Nobody goes on from there: all were cancelled."""
        for item in work:
            slot = self._slot(item.sequence)
            self._slots.reread(slot, item.sequence.next_tokens(item.n_tokens))
            item.sequence.n_done = len(slot.tokens)

    def _drop_cancelled(self) -> None:
        for sequence in [s for s in self._sequences.values() if s.cancelled]:
            self._finish(sequence, "cancelled")

    def _finish(self, sequence: Sequence, reason: FinishReason) -> None:
        self._show(sequence, sequence.text.finish())
        if sequence.text.text.encode() == b"".join(map(self._model.piece, sequence.reply)):
            self._replies.remember(sequence.text.text, sequence.reply)
        if sequence.slot is not None:
            self._scheduler.record_answer(self._clock() - sequence.admitted)
        self._say(sequence, sequence.done(reason))
        self._end(sequence)

    def _end(self, sequence: Sequence) -> None:
        """Give back what a sequence held; its tokens stay in the slot."""
        self._scheduler.remove(sequence)
        del self._sequences[sequence.id]
        if sequence.slot is not None:
            self._slots.release(self._slot(sequence))
        if sequence.sampler is not None:
            sequence.sampler.close()

    # --- what the parent hears ---

    def _show(self, sequence: Sequence, text: str) -> None:
        if text:
            self._say(sequence, Token(text))

    def _say(self, sequence: Sequence, event: Event) -> None:
        self._outbox.append(_event(sequence, event))

    def _queue_events(self) -> list[wire.WireMessage]:
        return [_event(sequence, Queued(position)) for sequence, position in self._scheduler.moved()]

    def _flush(self) -> None:
        outbox, self._outbox = self._outbox, []
        self._channel.send(*outbox)


def _event(sequence: Sequence, event: Event) -> wire.WireMessage:
    return {"kind": "event", "id": sequence.id, **wire.event_to_json(event)}


def _error(number: int, error: EngineError) -> wire.WireMessage:
    return {"kind": "error", "id": number, **wire.error_to_json(error)}
