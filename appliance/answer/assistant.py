"""One question, start to end: recall, retrieve, decide, prompt, generate, attribute, keep."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field

from appliance.answer import prompt
from appliance.answer.citations import Attributor, Evidence
from appliance.answer.draft import Draft
from appliance.answer.guard import DOES_NOT_SAY, says_nothing
from appliance.answer.prompt import Counted, PastTurn, Prompt
from appliance.answer.retrieval import Retrieved, Retriever
from appliance.answer.words import Words, surface_words
from appliance.api.schema import (
    AskEvent,
    ContextBudget,
    DoneEvent,
    PassagesEvent,
    PrefillEvent,
    QueuedEvent,
    Timings,
    TokenEvent,
    Turn,
)
from appliance.conversations import Journal, KeptTurn
from appliance.engine.interface import Engine
from appliance.engine.request import Done, GenerateRequest, Prefill, Queued, Sampling, Token
from appliance.errors import JournalError, NotFoundError
from ingest.access import Viewer
from ingest.filter import EVERYTHING, Filter

log = logging.getLogger(__name__)

# A question with fewer content words than this leans on the one before it ("and how often?").
_LEANS_BELOW = 3


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """How much goes into an answer; see `appliance.config.AnswerSettings`."""

    n_passages: int
    max_tokens: int
    refuse_below: float


@dataclass(frozen=True, slots=True)
class Question:
    """One question of one caller.

    Attributes:
        conversation: id of an earlier conversation to go on with; None begins one.
        max_tokens: longest answer; None: the setting.
        deadline_s: seconds from now after which the answer is broken off; None: never.
        sampling: greedy where not given.
        recalled: earlier turns that the caller brings along itself (the OpenAI API does), instead of a conversation.
        earlier: the question before this one, for those turns.
        left_out: what the caller sent and the prompt does not hold, in plain words.
        only: documents that are searched.
        keep: whether the turn goes into the journal.
    """

    text: str
    viewer: Viewer
    conversation: str | None = None
    max_tokens: int | None = None
    deadline_s: float | None = None
    sampling: Sampling = field(default_factory=Sampling)
    recalled: tuple[PastTurn, ...] = ()
    earlier: str = ""
    left_out: tuple[str, ...] = ()
    only: Filter = EVERYTHING
    keep: bool = True


@dataclass(frozen=True, slots=True)
class _Case:
    """What is known of a question before it is answered. Times are monotonic seconds, `asked` is Unix time."""

    question: Question
    conversation: str
    history: tuple[PastTurn, ...]
    left_out: tuple[str, ...]
    found: Retrieved
    started: float
    asked: float


class Assistant:
    """Answers questions from the documents that the caller may read."""

    def __init__(
        self, retriever: Retriever, engine: Engine, journal: Journal, limits: AnswerLimits, words: Words
    ) -> None:
        self._retriever = retriever
        self._engine = engine
        self._journal = journal
        self._limits = limits
        self._words = words
        self._n_answering = 0

    @property
    def busy(self) -> bool:
        """Whether someone's answer is being made; ingest pauses meanwhile."""
        return self._n_answering > 0

    async def search(self, query: str, viewer: Viewer, n: int, only: Filter = EVERYTHING) -> Retrieved:
        """Return the passages nearest to `query` that the viewer may read, of the documents that `only` lets in.

        Raises:
            NotInLibraryError: `only` names what is not there.
        """
        return await asyncio.to_thread(self._retriever.search, query, viewer, n, only)

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
            weak = case.found.confidence < self._limits.refuse_below
            async with aclosing(self._refuse(case) if weak else self._compose(case)) as events:
                async for event in events:
                    yield event

    async def _open(self, question: Question) -> _Case:
        started, asked = time.monotonic(), time.time()
        history, left_out, earlier = question.recalled, question.left_out, question.earlier
        if question.conversation is not None:
            history, left_out, earlier = await asyncio.to_thread(self._recall, question)
        query = f"{earlier} {question.text}" if _leans(question.text) else question.text
        found = await self.search(query.strip(), question.viewer, self._limits.n_passages, question.only)
        conversation = question.conversation or self._journal.begin()
        return _Case(question, conversation, history, left_out, found, started, asked)

    def _recall(self, question: Question) -> tuple[tuple[PastTurn, ...], tuple[str, ...], str]:
        """Earlier turns whose evidence still exists and may be read; what had to go; the last question."""
        uid = question.viewer.uid
        turns = self._journal.turns(question.conversation or "", uid)
        if turns is None:
            raise NotFoundError(f"there is no conversation {question.conversation}")
        kept = [
            t
            for t in turns
            if self._retriever.still_there([p.chunk_id for p in t.turn.passages], question.viewer)
        ]
        n_gone = len(turns) - len(kept)
        left_out = (f"{n_gone} earlier turns whose documents have changed or gone",) if n_gone else ()
        earlier = turns[-1].turn.question if turns else ""
        return tuple(PastTurn(t.sent, t.raw_answer) for t in kept), left_out, earlier

    async def _refuse(self, case: _Case) -> AsyncGenerator[AskEvent, None]:
        """The evidence is too weak: say so at once, without asking the model."""
        timings = Timings(retrieval_s=case.found.seconds, ttft_s=time.monotonic() - case.started)
        yield TokenEvent(text=DOES_NOT_SAY)
        done = DoneEvent(
            finish_reason="stop", answer=DOES_NOT_SAY, answered=False, citations=[], model=self._engine.status().model,
            context=self._nothing_sent(case), timings=timings, conversation=case.conversation,
        )  # fmt: skip
        yield await self._kept(case, done, sent=prompt.render_question(case.question.text), raw=DOES_NOT_SAY)

    async def _compose(self, case: _Case) -> AsyncGenerator[AskEvent, None]:
        """The model answers; each sentence is attributed as soon as it is complete."""
        built = await self._prompt(case)
        draft = Draft(
            Attributor(case.question.text, [Evidence(p.number, p.text) for p in built.passages], self._words)
        )
        request = GenerateRequest(
            built.messages,
            built.budget.max_answer,
            case.question.sampling,
            user=str(case.question.viewer.uid),
            deadline_s=case.question.deadline_s,
        )
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
                        for shown in draft.feed(text):
                            yield shown
                    case Done():
                        finished = event
        for shown in draft.finish():
            yield shown
        assert finished is not None, "an engine's stream ends with Done or raises"
        done = self._done(case, built, draft, finished, first_token_s)
        yield await self._kept(case, done, sent=built.sent, raw=draft.raw)

    async def _prompt(self, case: _Case) -> Prompt:
        passages = case.found.passages
        pieces = [prompt.SYSTEM, prompt.render_question(case.question.text)]
        pieces += [prompt.render_passage(p) for p in passages]
        pieces += [prompt.render_turn(turn) for turn in case.history]
        system, question, *rest = await self._engine.count_tokens(pieces)
        counted = Counted(system, question, rest[: len(passages)], rest[len(passages) :])
        limits = (self._engine.status().n_ctx, case.question.max_tokens or self._limits.max_tokens)
        return prompt.build(case.question.text, passages, case.history, counted, limits, case.left_out)

    def _done(
        self, case: _Case, built: Prompt, draft: Draft, finished: Done, first_token_s: float
    ) -> DoneEvent:
        timings = Timings(
            retrieval_s=case.found.seconds, ttft_s=first_token_s, total_s=time.monotonic() - case.started,
            prefill_tps=finished.prefill_tps, decode_tps=finished.decode_tps, n_prompt=finished.n_prompt,
            n_reused=finished.n_reused, n_decoded=finished.n_decoded,
        )  # fmt: skip
        return DoneEvent(
            finish_reason=finished.finish_reason, answer=draft.answer, answered=not says_nothing(draft.answer),
            citations=draft.citations, context=built.budget, timings=timings, model=self._engine.status().model,
            conversation=case.conversation,
        )  # fmt: skip

    def _nothing_sent(self, case: _Case) -> ContextBudget:
        return ContextBudget(
            n_ctx=self._engine.status().n_ctx, n_system=0, n_history=0, n_passages=0, n_question=0, max_answer=0,
            left_out=list(case.left_out),
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


def _leans(question: str) -> bool:
    return len(surface_words(question)) < _LEANS_BELOW
