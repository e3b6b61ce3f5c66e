"""The listener's thread: takes the parent's messages, renders, tokenises and counts, so that none waits for a step."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from collections.abc import Sequence as Many

from appliance.engine import grammar, schema, wire
from appliance.engine.desk import Desk
from appliance.engine.joiner import Joiner
from appliance.engine.lookup import Lookup, can_verify
from appliance.engine.model import Model, Sampler
from appliance.engine.outbox import Outbox
from appliance.engine.pieces import pieces
from appliance.engine.replies import Replies
from appliance.engine.request import Message, Reuse, Sampling
from appliance.engine.sampling import chain
from appliance.engine.sequence import Sequence
from appliance.engine.template import ChatTemplate, PromptTokens, base_of, content_tokens, prompt_tokens
from appliance.engine.text import TextStream
from appliance.engine.trail import Trail
from appliance.errors import EngineError, SamplingError


class Listener:
    """Turns messages into sequences and puts them on the desk.

    Args:
        drafts: answers may be drafted.
        joiner: knows the passages that were computed apart; None: none may be.
        reuse: of those, where a request does not say.

    Raises:
        EngineError: the model's chat template cannot be used.
    """

    def __init__(
        self,
        model: Model,
        channel: wire.Channel,
        desk: Desk,
        replies: Replies,
        drafts: bool,
        joiner: Joiner | None,
        reuse: Reuse,
        clock: Callable[[], float],
    ) -> None:
        self._model = model
        self._channel = channel
        self._desk = desk
        self._replies = replies
        self._drafts = drafts
        self._joiner = joiner
        self._reuse = reuse
        self._clock = clock
        self._template = ChatTemplate(model.chat_template, model.bos_text, model.eos_text)

    def listen(self) -> None:
        """Take the parent's messages until it says stop or is gone."""
        try:
            while (message := self._channel.receive()) is not None and message["kind"] != "stop":
                self._answer(message)
        finally:
            self._desk.stop()

    def _answer(self, message: wire.WireMessage) -> None:
        try:
            self._take(message)
        except EngineError as error:
            self._refuse(message["id"], error)
        except Exception as error:
            traceback.print_exc()
            self._refuse(message["id"], EngineError(f"the engine failed on a request: {error}"))

    def _refuse(self, number: int, error: EngineError) -> None:
        outbox = Outbox(self._channel)
        outbox.fail(number, error)
        outbox.flush()

    def _take(self, message: wire.WireMessage) -> None:
        match message["kind"]:
            case "generate":
                self._generate(message["id"], message["request"])
            case "cancel":
                self._desk.cancel(message["id"])
            case "count":
                counts = [self._count(text) for text in message["texts"]]
                self._channel.send({"kind": "counts", "id": message["id"], "counts": counts})
            case "prepare":
                self._prepare(message["id"], [Message(**each) for each in message["messages"]])
            case "held":
                self._channel.send({"kind": "counts", "id": message["id"], "counts": self._desk.held()})
            case kind:
                raise EngineError(f"the engine knows no message {kind!r}")

    def _generate(self, number: int, data: wire.WireMessage) -> None:
        arrived = self._clock()
        request = wire.request_from_json(data)
        prompt = self._tokens(request.messages)
        sequence = Sequence(
            id=number,
            user=request.user,
            prompt=prompt.tokens,
            max_tokens=request.max_tokens,
            sampling=request.sampling,
            text=TextStream(request.sampling.stop),
            arrived=arrived,
            deadline_s=request.deadline_s,
        )
        reuse = request.reuse or self._reuse
        if self._joiner is not None and prompt.spans and reuse.joins:
            sequence.exact, sequence.base = False, self._base(request.messages)
            sequence.joins = self._joiner.joins(prompt, sequence.base, reuse)
        if request.sampling.logprobs is not None:
            sequence.trail = Trail()
        if self._drafts and can_verify(sequence.sampling):
            sequence.lookup = Lookup(sequence.prompt)
        sequence.sampler = self._sampler(request.sampling)
        try:
            self._desk.enter(sequence, Outbox(self._channel))
        except EngineError:
            sequence.sampler.close()
            raise

    def _tokens(self, messages: Many[Message]) -> PromptTokens:
        return prompt_tokens(self._template.parts(messages), self._model, self._replies)

    def _base(self, messages: Many[Message]) -> list[int]:
        """Return what passages of such prompts are computed behind; nothing where no user's turn holds one."""
        prompt = self._tokens(base_of(messages))
        return prompt.tokens[: prompt.spans[0].start] if prompt.spans else []

    def _count(self, text: str) -> int:
        return sum(len(content_tokens(piece.text, self._model)) for piece in pieces(text))

    def _prepare(self, number: int, messages: Many[Message]) -> None:
        if self._joiner is None:
            self._channel.send({"kind": "counts", "id": number, "counts": 0})
            return
        prompt = self._tokens(messages)
        wanted = self._joiner.encodings(prompt, self._base(messages), number) if prompt.spans else []
        self._desk.prepare(number, wanted)

    def _sampler(self, sampling: Sampling) -> Sampler:
        text = sampling.grammar
        if sampling.schema:
            text = self._model.grammar_of(schema.plain(sampling.schema))
            try:
                grammar.check(text)
            except SamplingError as error:
                raise SamplingError(f"schema, as a {error}") from error
        elif text:
            grammar.check(text)
        return self._model.sampler(chain(sampling), text)
