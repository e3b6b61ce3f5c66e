"""Translations, piece by piece as they are made; the numbers of each piece are compared with its source's.

Whether the words are right is not checked here: nothing on this machine could.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from appliance.api.schema import QueuedEvent, TokenEvent
from appliance.api.schema_tasks import (
    NumberDifference,
    ProgressEvent,
    TaskSource,
    TranslateRequest,
    TranslationDone,
)
from appliance.engine.request import Sampling
from appliance.errors import BadTaskError
from appliance.tasks.groups import Group, Piece, pack, place_of
from appliance.tasks.material import Material, Shelf, source_of
from appliance.tasks.number_check import Numbers
from appliance.tasks.stage import Stage
from appliance.tasks.steps import Run, Step, Steps, Written
from appliance.text.guard import neutralise

Event = QueuedEvent | ProgressEvent | TokenEvent | TranslationDone

_SYSTEM = (
    "You are a translator. Translate the text that the user sends into {language}. Keep numbers, names, units and line "
    "breaks as they are. Reply with the translation alone."
)
_MAX_PIECE = 256  # tokens of source: small models lose sentences of longer ones
_GROWTH = (
    3  # tokens of a translation for one of its source: scripts that the model's vocabulary knows little of
)
_SAMPLING = Sampling(dry_multiplier=0.8, dry_allowed_length=12)
_MIN_WORDS = 4  # in a piece that came back as it was: fewer may be names
_PARAGRAPHS = re.compile(r"\n[ \t]*\n+")


@dataclass(slots=True)
class _Work:
    """A translation on its way; `material` where it is of a document."""

    request: TranslateRequest
    run: Run
    material: Material | None = None
    texts: list[str] = field(default_factory=list)
    differences: list[NumberDifference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def take(self, source: str, written: Written) -> None:
        """Take the translation of the next piece, and compare it."""
        text = written.text.strip()
        self.texts.append(text)
        n = len(self.texts)
        missing, added = Numbers([text]).missing(source), Numbers([source]).missing(text)
        if missing or added:
            self.differences.append(NumberDifference(piece=n, missing=missing, added=added))
        if not written.complete:
            self.notes.append(f"part {n} broke off: its translation is longer than expected")
        if text == source.strip() and len(source.split()) >= _MIN_WORDS:
            self.notes.append(f"part {n} came back as it was: the model may not know the language")


class Translator:
    """Translates texts, passages and documents."""

    def __init__(self, shelf: Shelf, steps: Steps) -> None:
        self._shelf = shelf
        self._steps = steps

    async def translate(self, request: TranslateRequest, run: Run) -> AsyncGenerator[Event, None]:
        """Translate, event by event; closing the iterator cancels, and what is done of a document is kept.

        Raises:
            NotFoundError, BadTaskError, NotReadableYetError: see `Shelf.open`; or there is no such page, or no text.
            DocumentChangedError: it was changed meanwhile.
            EngineError: the model cannot answer now.
        """
        with self._steps.task():
            work = _Work(request, run, await asyncio.to_thread(self._open, request, run))
            groups = await self._groups(work)
            async with aclosing(self._pieces(work, groups)) as events:
                async for event in events:
                    yield event
            yield self._done(work, groups)

    def _open(self, request: TranslateRequest, run: Run) -> Material | None:
        if request.chunk_id is not None:
            return self._shelf.passage(request.chunk_id, run.viewer)
        if request.document is None:
            return None
        material = self._shelf.open(request.document, run.viewer)
        if request.page is None:
            return material
        chunks = tuple(c for c in material.chunks if request.page in (c.locator.page, c.locator.slide))
        if not chunks:
            raise BadTaskError(
                f"{material.path} has no text on page {request.page}: leave the page out, or try another"
            )
        return replace(material, chunks=chunks)

    async def _groups(self, work: _Work) -> list[Group]:
        if work.material is None:
            parts = _PARAGRAPHS.split(work.request.text or "")
            pieces = [Piece(part.strip("\n")) for part in parts if part.strip()]
        else:
            pieces = [Piece(neutralise(chunk.text), chunk) for chunk in work.material.chunks]
        if not pieces:
            raise BadTaskError("text: there is nothing in it to translate")
        room = await self._steps.room(self._system(work), self._steps.shortened(_MAX_PIECE))
        return await pack(pieces, min(_MAX_PIECE, room // (1 + _GROWTH // 2)), self._steps.count)

    async def _pieces(self, work: _Work, groups: Sequence[Group]) -> AsyncGenerator[Event, None]:
        stage = Stage("translate", len(groups))
        version = work.material.document.sha256 if work.material else ""
        for group in groups:
            work.run.check_deadline()
            if work.material:
                await asyncio.to_thread(self._shelf.check, work.material, work.run.viewer)
            yield stage.begin(place_of(group.chunks))
            if work.texts:
                yield TokenEvent(text="\n\n")
            most = max(48, _GROWTH * group.n_tokens)
            step = Step(self._system(work), group.text, most, _SAMPLING, version, shown=True)
            async with aclosing(self._steps.run(step, work.run)) as events:
                async for event in events:
                    if isinstance(event, Written):
                        stage.end(event)
                        work.take(group.text, event)
                    else:
                        yield event
        yield stage.finish()

    def _system(self, work: _Work) -> str:
        return _SYSTEM.format(language=work.request.to.strip())

    def _done(self, work: _Work, groups: Sequence[Group]) -> TranslationDone:
        material = work.material
        return TranslationDone(
            translation="\n\n".join(work.texts), language=work.request.to.strip(), differences=work.differences,
            sources=_sources(groups), n_parts=len(groups),
            notes=[*self._steps.notes, *(material.notes if material else ()), *work.notes],
            timings=work.run.timings(), model=self._steps.model,
        )  # fmt: skip


def _sources(groups: Sequence[Group]) -> list[TaskSource]:
    return [source_of(group.chunks[0], place_of(group.chunks)) for group in groups if group.chunks]
