"""The step loop around a model.

The main thread computes steps. A second one listens to the parent, so that a new question, a cancel or a count never
waits behind a step; a third minds the deadlines. What they share lies on the desk; the cache is the main thread's
alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from collections.abc import Sequence as Tokens
from time import perf_counter, thread_time

from appliance.engine import wire
from appliance.engine.blocks import Blocks
from appliance.engine.desk import Desk
from appliance.engine.encoder import Encoder
from appliance.engine.joiner import Joiner
from appliance.engine.listener import Listener
from appliance.engine.model import Chunk, Model, Outcome
from appliance.engine.outbox import Outbox
from appliance.engine.prefixes import Prefixes
from appliance.engine.recall import Recall
from appliance.engine.replies import Replies
from appliance.engine.request import FinishReason, Prefill, Reuse, Token
from appliance.engine.scheduler import Limits, Work
from appliance.engine.sequence import Encoding, Sequence
from appliance.engine.slots import Slot, Slots
from appliance.errors import DeadlineError, EngineError, SamplingError

# A grammar that can be read in many ways doubles its time with each character: this ends it while it still can be.
# Seconds of this thread's own time: a busy neighbour does not count.
MAX_CHOICE_S = 1.0


class Worker:
    """The step loop around a model, and what its other two threads do.

    Args:
        prefixes: what earlier processes saved; None: nothing is.
        blocks: passages that were computed apart; None, or a model whose cells cannot be moved: none are.
        reuse: of those, where a request does not say.

    Raises:
        EngineError: the model's chat template cannot be used.
    """

    def __init__(
        self,
        model: Model,
        channel: wire.Channel,
        limits: Limits,
        prefixes: Prefixes | None = None,
        blocks: Blocks | None = None,
        reuse: Reuse | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._model = model
        self._clock = clock
        self._slots = Slots(model.n_slots, model.n_ctx, model, model.can_trim)
        self._desk = Desk(limits, self._slots, model.abort, clock)
        self._scheduler = self._desk.scheduler
        self._recall = Recall(self._slots, model, prefixes if model.can_trim else None)
        self._replies = Replies()
        drafts = limits.prompt_lookup and model.can_trim
        self._encoder = None
        if blocks is not None and model.can_shift:
            self._encoder = Encoder(self._desk, self._slots, Joiner(self._slots, model, blocks), blocks)
        joiner = self._encoder.joiner if self._encoder else None
        self._reuse = reuse if reuse and joiner else Reuse()
        self._listener = Listener(
            model, channel, self._desk, self._replies, drafts, joiner, self._reuse, clock
        )
        self._outbox = Outbox(channel)

    def news(self) -> list[wire.WireMessage]:
        """Return what the parent should hear of passages: from the main thread, or before there are others."""
        return [] if self._encoder is None else list(self._encoder.news(self._reuse))

    def listen(self) -> None:
        """Take the parent's messages until it says stop or is gone. The second thread's whole life."""
        self._listener.listen()

    def mind_deadlines(self) -> None:
        """Break off steps that have become useless until told to stop. The third thread's whole life."""
        self._desk.mind_deadlines()

    def run(self) -> None:
        """Compute steps until told to stop.

        Raises:
            FatalDecodeError: the model's state is lost.
        """
        while (work := self._decide()) is not None:
            started = self._clock()
            outcome = self._model.decode([self._chunk(item) for item in work])
            with self._desk.changed:
                self._desk.computing = []
                if outcome is Outcome.DONE:
                    self._scheduler.record(work, self._clock() - started)
                self._record(work, outcome)
            self._outbox.flush()

    def _decide(self) -> list[Work] | None:
        """Return the next step, waiting for one if need be; None: stop."""
        with self._desk.changed:
            while not self._desk.stopping:
                self._drop_over()
                for sequence in self._scheduler.admit(self._place):
                    self._say_prefill(sequence)
                self._share()
                self._use_passages()
                self._outbox.tell_waiting(self._scheduler)
                self._outbox.flush()
                if work := self._scheduler.schedule():
                    self._desk.computing = [item.sequence for item in work]
                    self._model.clear_abort()
                    return work
                self._settle()
                self._desk.changed.wait()
        return None

    def _share(self) -> None:
        """Let sequences in mid-prefill have what others of the same beginning have computed by now."""
        prefilling = [sequence for sequence in self._scheduler.running if not sequence.is_decoding]
        for at, sequence in enumerate(prefilling):
            if n := self._slots.catch_up(self._slots.of(sequence), sequence.prompt, exact=sequence.exact):
                sequence.n_reused += n - sequence.n_computed_for(sequence.n_done + n)
                sequence.n_done += n
                self._say_prefill(sequence)
            if not sequence.follows():
                sequence.follow(one for one in prefilling[:at] if one.exact == sequence.exact)

    def _use_passages(self) -> None:
        """Join what was computed apart, and see to what is to be."""
        if self._encoder is None:
            return
        self._encoder.work_ahead()
        for sequence in self._encoder.join():
            self._say_prefill(sequence)
        for message in self.news():
            self._outbox.tell(message)

    def _say_prefill(self, sequence: Sequence) -> None:
        clients = sequence.clients if isinstance(sequence, Encoding) else [sequence]
        for client in clients:
            self._outbox.say(client, Prefill(client.n_prefilled, client.n_prompt))

    def leftovers(self) -> list[Slot]:
        """Return the slots that are busy though nothing runs, or hold what the cache itself does not know of."""
        busy = [slot for slot in self._slots.slots if not slot.is_idle and not self._scheduler.running]
        return busy + [slot for slot in self._slots.disagreeing() if slot not in busy]

    def _settle(self) -> None:
        """Compare our books with the cache, now that nothing runs: what differs is a bug, and is dropped."""
        for slot in self.leftovers():
            print(f"slot {slot.index} is not what it should be: dropped", file=sys.stderr, flush=True)
            self._slots.truncate(slot, 0)
            self._slots.release(slot)

    def _place(self, sequence: Sequence) -> bool:
        slot = self._slots.place(sequence.prompt, sequence.n_reserved, exact=sequence.exact)
        if slot is None and self._encoder is not None and self._encoder.make_way():
            slot = self._slots.place(sequence.prompt, sequence.n_reserved, exact=sequence.exact)
        if slot is None:
            return False
        self._recall.fill(slot, sequence.prompt)
        sequence.slot = slot.index
        sequence.n_done = sequence.n_reused = len(slot.tokens)
        sequence.admitted = self._clock()
        if self._encoder is not None:
            self._encoder.begin(sequence)
        return True

    def save(self) -> None:
        """Write down the prefixes that were used most, for the next process. Call it after `run`."""
        self._recall.save()

    def _chunk(self, work: Work) -> Chunk:
        sequence = work.sequence
        tokens = sequence.next_tokens(work.n_tokens)
        ends_prompt = sequence.n_done + work.n_tokens == sequence.n_prompt and sequence.is_answer
        return Chunk(
            self._slots.of(sequence).index,
            sequence.n_done,
            tokens,
            wants_logits=work.is_decode or ends_prompt,
            is_drafted=work.is_decode and work.n_tokens > 1,
        )

    def _record(self, work: list[Work], outcome: Outcome) -> None:
        match outcome:
            case Outcome.DONE:
                self._advance(work)
            case Outcome.ABORTED:
                self._reread(work)
            case Outcome.NO_ROOM if not self._slots.drop_oldest():
                # Only a fragmented or over-promised cache gets here: the last one in gives its cells back.
                self._give_up(self._scheduler.running[-1])

    def _advance(self, work: list[Work]) -> None:
        position = 0
        for item in work:
            sequence = item.sequence
            computed = sequence.next_tokens(item.n_tokens)
            self._slots.extend(self._slots.of(sequence), computed)
            sequence.n_done += item.n_tokens
            position += item.n_tokens
            if not item.is_decode:
                self._say_prefill(sequence)
            if isinstance(sequence, Encoding):
                self._finish_encoding(sequence)
            elif sequence.is_decoding and not sequence.cancelled:
                drafted = computed[1:] if item.is_decode else ()
                self._verify(sequence, drafted, position - 1 - len(drafted))

    def _finish_encoding(self, encoding: Encoding) -> None:
        if encoding.is_decoding and self._encoder is not None:
            self._encoder.finish(encoding)

    def _verify(self, sequence: Sequence, drafted: Tokens[int], position: int) -> None:
        """Choose the token after batch position `position`, and on as long as it is the one that was drafted."""
        slot, n_done = self._slots.of(sequence), sequence.n_done
        for n_right in range(len(drafted) + 1):
            self._choose(sequence, position + n_right)
            if sequence.slot is None or drafted[n_right : n_right + 1] != sequence.reply[-1:]:
                break
            sequence.n_drafted += 1
        if n_wrong := len(drafted) - n_right:
            sequence.n_done = n_done - n_wrong
            self._slots.truncate(slot, sequence.n_done)

    def _choose(self, sequence: Sequence, index: int) -> None:
        assert sequence.sampler is not None, "running without a sampler"
        started = thread_time()
        token = sequence.sampler.sample(index)
        seconds = thread_time() - started
        sequence.mark(self._clock())
        if token is None or token in self._model.eog:
            self._finish(sequence, "stop")
            return
        if seconds > MAX_CHOICE_S:
            ways = f"grammar: {seconds:.1f} s for one token: the answer can be read in too many ways"
            self._fail(sequence, SamplingError(ways))
            return
        sequence.reply.append(token)
        if sequence.lookup is not None:
            sequence.lookup.push(token)
        start = sequence.text.n_read
        shown = sequence.text.push(self._model.piece(token))
        if sequence.trail is not None:
            logprob = self._model.logprob(index, token, sequence.sampling.logprobs or 0)
            sequence.trail.add(start, sequence.text.n_read, logprob)
        self._outbox.show(sequence, shown)
        if sequence.text.stopped:
            self._finish(sequence, "stop")
        elif len(sequence.reply) >= sequence.max_tokens:
            self._finish(sequence, "length")

    def _reread(self, work: list[Work]) -> None:
        """Note what a broken-off step left in the cache, so that whoever is not over goes on from there."""
        for item in work:
            sequence, slot = item.sequence, self._slots.of(item.sequence)
            self._slots.reread(slot, sequence.next_tokens(item.n_tokens))
            # Logits of the last prompt token, or of the last chosen one, are still needed.
            self._slots.truncate(slot, sequence.n_done if item.is_decode else sequence.n_prompt - 1)
            sequence.n_done = len(slot.tokens)

    def _drop_over(self) -> None:
        now = self._clock()
        for sequence in [one for one in self._desk.sequences.values() if one.is_over(now)]:
            if sequence.cancelled:
                self._finish(sequence, "cancelled")
            else:
                self._fail(sequence, DeadlineError(sequence.deadline_s or 0.0, len(sequence.reply)))

    def _give_up(self, sequence: Sequence) -> None:
        if isinstance(sequence, Encoding) and self._encoder is not None:
            self._encoder.give_up(sequence)
        else:
            self._fail(sequence, EngineError("no room left in the KV cache: ask again"))

    def _fail(self, sequence: Sequence, error: EngineError) -> None:
        self._end(sequence)
        self._outbox.fail(sequence.id, error)

    def _finish(self, sequence: Sequence, reason: FinishReason) -> None:
        self._outbox.show(sequence, sequence.text.finish())
        if sequence.trail is not None and not sequence.text.stopped and (rest := sequence.trail.rest()):
            self._outbox.say(sequence, Token("", rest))
        if sequence.text.text.encode() == b"".join(map(self._model.piece, sequence.reply)):
            self._replies.remember(sequence.text.text, sequence.reply)
        if sequence.slot is not None:
            self._scheduler.record_answer(self._clock() - sequence.admitted)
        self._outbox.say(sequence, sequence.done(reason))
        self._end(sequence)

    def _end(self, sequence: Sequence) -> None:
        """Give back what a sequence held; its tokens stay in the slot."""
        self._scheduler.remove(sequence)
        if self._encoder is not None:
            self._encoder.forsake(sequence)
        del self._desk.sequences[sequence.id]
        if sequence.slot is not None:
            self._slots.release(self._slots.of(sequence))
            sequence.slot = None
        if sequence.sampler is not None:
            sequence.sampler.close()
