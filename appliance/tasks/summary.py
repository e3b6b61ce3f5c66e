"""Summaries of documents of any length: of parts (map), and those joined until one is left (reduce)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from appliance.api.schema import QueuedEvent, TokenEvent
from appliance.api.schema_tasks import ProgressEvent, SummariseRequest, SummaryDone
from appliance.engine.request import Sampling
from appliance.errors import EngineError
from appliance.tasks.groups import Group, Piece, pack, place_of
from appliance.tasks.material import Material, Shelf
from appliance.tasks.stage import Stage
from appliance.tasks.statements import SourceText
from appliance.tasks.steps import Run, Step, Steps, Written
from appliance.text.guard import neutralise
from appliance.text.words import Words, sentence_spans

Event = QueuedEvent | ProgressEvent | TokenEvent | SummaryDone

_MAP = (
    "You summarise one part of a document. Write two to four short, complete sentences in the language of the text. "
    "Use only what the text says, with its exact names and figures. Do not add an introduction."
)
_REDUCE = (
    "You join the summaries of the parts of one document, in their order, into one summary of five to eight short, "
    "complete sentences in their language. Say something of each paragraph. Use only what they say, with their exact "
    "names and figures. Do not say that there are parts, and do not add an introduction."
)
_ONLY = (
    "You summarise a document. Write three to six short, complete sentences in the language of the text. Use only what "
    "the text says, with its exact names and figures. Do not add an introduction."
)
_MAX_PART = 160  # tokens
_MAX_WHOLE = 320
_MOST_FIRST = 8  # sentences
_KEPT_TO_ONE = "the model kept to one part: where it did, the first sentences of all parts stand instead"
# DRY: greedy small models fall into saying one sentence for ever; names and figures of a few tokens may come again.
_SAMPLING = Sampling(dry_multiplier=0.8, dry_allowed_length=6)


@dataclass(slots=True)
class _Work:
    """A summary on its way.

    Attributes:
        texts: what the last stage made, in the document's order.
    """

    material: Material
    run: Run
    texts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Summariser:
    """Summarises documents."""

    def __init__(self, shelf: Shelf, steps: Steps, words: Words) -> None:
        self._shelf = shelf
        self._steps = steps
        self._words = words

    async def summarise(self, request: SummariseRequest, run: Run) -> AsyncGenerator[Event, None]:
        """Summarise a document, event by event; closing the iterator cancels, and what is done is kept.

        Raises:
            NotFoundError, BadTaskError, NotReadableYetError: see `Shelf.open`.
            DocumentChangedError: it was changed meanwhile.
            EngineError: the model cannot answer now.
        """
        with self._steps.task():
            work = _Work(await asyncio.to_thread(self._shelf.open, request.document, run.viewer), run)
            groups = await self._groups(work.material)
            async with aclosing(self._map_and_reduce(work, groups)) as events:
                async for event in events:
                    yield event
            yield await asyncio.to_thread(self._done, work, groups)

    async def _groups(self, material: Material) -> list[Group]:
        pieces = [Piece(neutralise(chunk.text), chunk) for chunk in material.chunks]
        room = await self._steps.room(max(_MAP, _ONLY, key=len), self._steps.shortened(_MAX_WHOLE))
        return await pack(pieces, room, self._steps.count)

    async def _map_and_reduce(self, work: _Work, groups: Sequence[Group]) -> AsyncGenerator[Event, None]:
        alone = len(groups) == 1
        async with aclosing(
            self._stage(work, Stage("map", len(groups)), groups, _ONLY if alone else _MAP)
        ) as mapped:
            async for event in mapped:
                yield event
        while len(work.texts) > 1:
            room = await self._steps.room(_REDUCE, self._steps.shortened(_MAX_WHOLE))
            joined = await pack([Piece(text) for text in work.texts], room, self._steps.count)
            if len(joined) >= len(work.texts):  # a context so small that no two summaries fit it
                work.texts = ["\n".join(work.texts)]
                return
            async with aclosing(self._stage(work, Stage("reduce", len(joined)), joined, _REDUCE)) as reduced:
                async for event in reduced:
                    yield event
        if not work.texts:
            raise EngineError(
                f"{self._steps.model} wrote nothing about {work.material.path}: try a larger model"
            )

    async def _stage(
        self, work: _Work, stage: Stage, groups: Sequence[Group], system: str
    ) -> AsyncGenerator[Event, None]:
        texts: list[str] = []
        last = len(groups) == 1
        most = self._steps.shortened(_MAX_WHOLE if last else _MAX_PART)
        for group in groups:
            work.run.check_deadline()
            await asyncio.to_thread(self._shelf.check, work.material, work.run.viewer)
            yield stage.begin(place_of(group.chunks))
            text = f"Text:\n{group.text}\n\nSummary:"
            step = Step(system, text, most, _SAMPLING, work.material.document.sha256, shown=last)
            async with aclosing(self._steps.run(step, work.run)) as events:
                async for event in events:
                    if isinstance(event, Written):
                        stage.end(event)
                        texts.append(self._checked(work, whole_sentences(event), group, stage))
                    else:
                        yield event
        yield stage.finish()
        work.texts = [text for text in texts if text]

    def _checked(self, work: _Work, text: str, group: Group, stage: Stage) -> str:
        parts = [piece.text for piece in group.pieces]
        if stage.stage != "reduce" or not keeps_to_one(text, parts):
            return text
        if _KEPT_TO_ONE not in work.notes:
            work.notes.append(_KEPT_TO_ONE)
        return first_sentences(parts)

    def _done(self, work: _Work, groups: Sequence[Group]) -> SummaryDone:
        self._shelf.check(work.material, work.run.viewer)
        summary, document = work.texts[0], work.material.document
        return SummaryDone(
            summary=summary, statements=SourceText(groups, self._words).statements(summary),
            document_id=document.id, path=work.material.path, version=document.sha256, n_parts=len(groups),
            notes=[*self._steps.notes, *work.material.notes, *work.notes],
            timings=work.run.timings(), model=self._steps.model,
        )  # fmt: skip


def whole_sentences(written: Written) -> str:
    """Return what was written, without a last sentence that broke off, unless it is the only one."""
    text = written.text.strip()
    spans = list(sentence_spans(text))
    return text if written.complete or len(spans) < 2 else text[: spans[-2][1]]


def keeps_to_one(text: str, parts: Sequence[str]) -> bool:
    """Tell whether a summary of several parts is nothing but sentences of one of them, as a 0.5B's often is."""
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    return len(parts) > 1 and any(all(sentence in part for sentence in sentences) for part in parts)


def first_sentences(parts: Sequence[str]) -> str:
    """Return the first sentence of each part, or of as many, evenly spread, as make a summary."""
    n = min(len(parts), _MOST_FIRST)
    chosen = [parts[at * len(parts) // n] for at in range(n)]
    firsts = [part[slice(*next(sentence_spans(part), (0, 0)))] for part in chosen]
    return " ".join(dict.fromkeys(first for first in firsts if first))
