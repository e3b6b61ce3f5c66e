"""One question, start to end: recall, retrieve, decide, prompt, generate, attribute, keep."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field

from appliance.answer import prompt
from appliance.answer.composition import Composition
from appliance.answer.followup import context
from appliance.answer.prompt import PastTurn, Prompt
from appliance.answer.prompter import Asked, Prompter
from appliance.answer.quotation import Quotation, quote
from appliance.answer.recall import Recalled, recall
from appliance.api.schema import (
    AskEvent,
    CitationEvent,
    ContextBudget,
    DoneEvent,
    PassagesEvent,
    PrefillEvent,
    QueuedEvent,
    Timings,
    TokenEvent,
    Turn,
)
from appliance.checks.citations import Attribute
from appliance.conversations import Journal, KeptTurn
from appliance.engine.interface import Engine
from appliance.engine.request import Done, GenerateRequest, Prefill, Queued, Reuse, Sampling, Token
from appliance.errors import JournalError
from appliance.retrieval.query import Context
from appliance.retrieval.retriever import Retrieved, Retriever
from appliance.text.language import detect
from appliance.text.words import Words
from ingest.access import Viewer
from ingest.filter import EVERYTHING, Filter

log = logging.getLogger(__name__)

# Passages whose cells are joined: each that was computed apart from the others draws attention away from the best one.
# The 1.5 B had the golden answer in 0.767 of 150 answers with four, 0.780 with three (0.793 with four read in place).
MAX_JOINED = 3


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """How much goes into an answer; see `appliance.config.AnswerSettings`."""

    n_passages: int
    max_tokens: int
    refuse_below: float
    quote_above: float
    ttft_target_s: float
    compose: bool


@dataclass(frozen=True, slots=True)
class Question:
    """One question of one caller.

    Attributes:
        conversation: id of an earlier conversation to go on with; None begins one.
        max_tokens: longest answer; None: the setting.
        deadline_s: seconds from now after which the answer is broken off; None: never.
        sampling: greedy where not given.
        recalled: earlier turns that the caller brings along itself (the OpenAI API does), instead of a conversation.
        left_out: what the caller sent and the prompt does not hold, in plain words.
        only: documents that are searched.
        keep: whether the turn goes into the journal.
        reuse: see `GenerateRequest`.
    """

    text: str
    viewer: Viewer
    conversation: str | None = None
    max_tokens: int | None = None
    deadline_s: float | None = None
    sampling: Sampling = field(default_factory=Sampling)
    recalled: tuple[PastTurn, ...] = ()
    left_out: tuple[str, ...] = ()
    only: Filter = EVERYTHING
    keep: bool = True
    reuse: Reuse | None = None


@dataclass(frozen=True, slots=True)
class _Case:
    """What is known of a question before it is answered. Times are monotonic seconds, `asked` is Unix time."""

    question: Question
    conversation: str
    recalled: Recalled
    found: Retrieved
    started: float
    asked: float


class Assistant:
    """Answers questions from the documents that the caller may read."""

    def __init__(
        self,
        retriever: Retriever,
        engine: Engine,
        journal: Journal,
        limits: AnswerLimits,
        attribute: Attribute,
    ) -> None:
        self._retriever = retriever
        self._engine = engine
        self._journal = journal
        self._limits = limits
        self._attribute = attribute
        self._prompter = Prompter(engine, Words(), limits.ttft_target_s)
        self._n_answering = 0

    @property
    def busy(self) -> bool:
        """Whether someone's answer is being made; ingest pauses meanwhile."""
        return self._n_answering > 0

    async def search(
        self, query: str, viewer: Viewer, n: int, only: Filter = EVERYTHING, context: Context | None = None
    ) -> Retrieved:
        """Return the passages nearest to `query` that the viewer may read, of the documents that `only` lets in.

        Raises:
            NotInLibraryError: `only` names what is not there.
        """
        return await asyncio.to_thread(self._retriever.search, query, viewer, n, only, context)

    async def ask(self, question: Question) -> AsyncGenerator[AskEvent, None]:
        """Answer, event by event; closing the iterator cancels within one engine step.

        Raises:
            NotFoundError: the caller has no such conversation.
            NotInLibraryError: `only` names what is not there.
            EngineError: the model cannot answer now; the passages that were shown stand.
        """
        with self._answering():
            case = await self._open(question)
            yield PassagesEvent(passages=list(case.found.passages))
            async with aclosing(self._answer(case)) as events:
                async for event in events:
                    yield event

    def _answer(self, case: _Case) -> AsyncGenerator[AskEvent, None]:
        if case.found.confidence < self._limits.refuse_below:
            return self._at_once(case, None)
        if self._limits.compose:
            return self._compose(case)
        return self._at_once(case, quote(case.found.passages[0]) if case.found.passages else None)

    async def _open(self, question: Question) -> _Case:
        started, asked = time.monotonic(), time.time()
        recalled = Recalled(question.recalled, question.left_out)
        if question.conversation is not None:
            recalled = await asyncio.to_thread(
                recall, self._journal, self._retriever, question.conversation, question.viewer
            )
        reuse = question.reuse or self._engine.status().reuse
        n = min(self._limits.n_passages, MAX_JOINED) if reuse.joins else self._limits.n_passages
        found = await self.search(
            question.text, question.viewer, n, question.only, context(question.text, recalled.turns),
        )  # fmt: skip
        conversation = question.conversation or self._journal.begin()
        return _Case(question, conversation, recalled, found, started, asked)

    async def _at_once(self, case: _Case, quotation: Quotation | None) -> AsyncGenerator[AskEvent, None]:
        """Answer without asking the model: by a sentence of a document, or that they do not say."""
        timings = Timings(retrieval_s=case.found.seconds, ttft_s=time.monotonic() - case.started)
        answer = quotation.text if quotation else detect(case.question.text).does_not_say
        yield TokenEvent(text=answer)
        if quotation:
            yield CitationEvent(citation=quotation.citation)
        done = DoneEvent(
            finish_reason="stop", answer=answer, answered=quotation is not None,
            origin="quotation" if quotation else "evidence", citations=[quotation.citation] if quotation else [],
            model=self._engine.status().model, context=self._nothing_sent(case), timings=timings,
            conversation=case.conversation,
        )  # fmt: skip
        yield await self._kept(case, done, sent=prompt.render_question(case.question.text), raw=answer)

    async def _compose(self, case: _Case) -> AsyncGenerator[AskEvent, None]:
        """The model answers; each sentence is compared with the passages as soon as it is complete."""
        clear = case.found.confidence >= self._limits.quote_above
        built = await self._prompt(case, may_refuse=not clear)
        # As people see them, whole: the prompt may hold them shortened.
        read = case.found.passages[: len(built.passages)]
        # Who sets a stop sequence wants no word behind it.
        may_quote = clear and not case.question.sampling.stop
        composition = Composition(
            self._attribute(case.question.text, read), read, built.labels, may_quote=may_quote
        )
        request = GenerateRequest(
            built.messages, built.budget.max_answer, case.question.sampling, user=str(case.question.viewer.uid),
            deadline_s=case.question.deadline_s, reuse=case.question.reuse,
        )  # fmt: skip
        finished: Done | None = None
        first_token_s = 0.0
        async with aclosing(self._engine.generate(request)) as events:
            async for event in events:
                match event:
                    case Queued(position=position, wait_s=wait_s):
                        yield QueuedEvent(position=position, wait_s=wait_s)
                    case Prefill(n_done=n_done, n_prompt=n_prompt):
                        yield PrefillEvent(n_done=n_done, n_prompt=n_prompt)
                    case Token(text=text):
                        first_token_s = first_token_s or time.monotonic() - case.started
                        for shown in await _off_loop(composition.feed(text)):
                            yield shown
                    case Done():
                        finished = event
        for shown in await _off_loop(composition.finish()):
            yield shown
        assert finished is not None, "an engine's stream ends with Done or raises"
        self._prompter.learn(finished)
        done = self._done(case, built, composition, finished, first_token_s)
        yield await self._kept(case, done, sent=built.sent, raw=composition.raw)

    async def _prompt(self, case: _Case, *, may_refuse: bool) -> Prompt:
        return await self._prompter.build(
            Asked(
                case.question.text, case.found.passages, case.recalled.turns,
                case.question.max_tokens or self._limits.max_tokens, may_refuse, case.recalled.left_out,
                case.question.reuse,
            )
        )  # fmt: skip

    def _done(
        self, case: _Case, built: Prompt, composition: Composition, finished: Done, first_token_s: float
    ) -> DoneEvent:
        timings = Timings(
            retrieval_s=case.found.seconds, ttft_s=first_token_s, total_s=time.monotonic() - case.started,
            prefill_tps=finished.prefill_tps, decode_tps=finished.decode_tps, n_prompt=finished.n_prompt,
            n_reused=finished.n_reused, n_decoded=finished.n_decoded,
        )  # fmt: skip
        return DoneEvent(
            finish_reason=finished.finish_reason, answer=composition.answer, answered=composition.answered,
            origin=composition.origin, citations=composition.citations, context=built.budget, timings=timings,
            model=self._engine.status().model, conversation=case.conversation,
        )  # fmt: skip

    def _nothing_sent(self, case: _Case) -> ContextBudget:
        return ContextBudget(
            n_ctx=self._engine.status().n_ctx, n_system=0, n_history=0, n_passages=0, n_question=0, max_answer=0,
            left_out=list(case.recalled.left_out),
        )  # fmt: skip

    async def _kept(self, case: _Case, done: DoneEvent, *, sent: str, raw: str) -> DoneEvent:
        """Keep the turn; return the last event, which names no conversation that is not there."""
        if not case.question.keep:
            return done
        turn = Turn(
            question=case.question.text, answer=done.answer, answered=done.answered, citations=done.citations,
            passages=list(case.found.passages), asked=case.asked,
        )  # fmt: skip
        kept = KeptTurn(turn, sent, raw)
        try:
            await asyncio.to_thread(self._journal.add, case.conversation, case.question.viewer.uid, kept)
        except JournalError as error:  # a full disk: the answer stands
            log.warning("an answer is not kept: %s", error)
            return done.model_copy(update={"conversation": case.question.conversation or ""})
        return done

    @contextmanager
    def _answering(self) -> Iterator[None]:
        self._n_answering += 1
        try:
            yield
        finally:
            self._n_answering -= 1


async def _off_loop(events: Iterator[AskEvent]) -> list[AskEvent]:
    """Comparing a sentence with the passages may embed some of theirs: tens of milliseconds."""
    return await asyncio.to_thread(list, events)
