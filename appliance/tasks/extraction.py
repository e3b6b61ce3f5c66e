"""Rows out of documents: part by part in a form that the grammar enforces, compared with the text, merged."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from appliance.api.schema import QueuedEvent
from appliance.api.schema_tasks import ExtractionDone, ExtractRequest, ProgressEvent, Row, RowEvent
from appliance.engine.request import Sampling
from appliance.errors import NotReadableYetError
from appliance.tasks import form
from appliance.tasks.form import Form
from appliance.tasks.groups import Group, Piece, pack, place_of
from appliance.tasks.material import Material, Shelf
from appliance.tasks.rows import EXAMPLE, EXAMPLE_ROWS, Part, Table, goes_round, read_rows
from appliance.tasks.stage import Stage
from appliance.tasks.steps import Run, Step, Steps, Written
from appliance.text.guard import neutralise
from ingest.stored import printable

Event = QueuedEvent | ProgressEvent | RowEvent | ExtractionDone

_SYSTEM = (
    "You take facts out of a text. Find each {row} in the text and write a JSON list of objects, one for each, with "
    "these keys:\n{described}\nCopy each value from the text, letter by letter, and no more than the value itself. "
    "Write null where the text does not say. Write [] if there is none.\n"
    'For example, the keys town and founded, of the text "{example}", give {example_rows}.'
)
_MAX_PART = 400  # tokens of text: a table's rows are as long again in JSON
_MAX_ANSWER = 512


@dataclass(slots=True)
class _Work:
    """An extraction on its way."""

    run: Run
    form: Form
    table: Table
    materials: list[Material]
    notes: list[str] = field(default_factory=list)
    n_parts: int = 0

    @property
    def system(self) -> str:
        return _SYSTEM.format(
            row=self.form.row, described=self.form.described, example=EXAMPLE, example_rows=EXAMPLE_ROWS
        )


class Extractor:
    """Extracts rows."""

    def __init__(self, shelf: Shelf, steps: Steps) -> None:
        self._shelf = shelf
        self._steps = steps

    async def extract(self, request: ExtractRequest, run: Run) -> AsyncGenerator[Event, None]:
        """Extract rows, event by event; closing the iterator cancels, and what is done is kept.

        Raises:
            NotFoundError, BadTaskError, NotReadableYetError: see `Shelf.open`; of several documents, those without
                text are passed over and named in the notes.
            BadTaskError, SamplingError: the columns or the schema cannot be meant, or cannot be followed.
            DocumentChangedError: a document was changed meanwhile.
            EngineError: the model cannot answer now.
        """
        with self._steps.task():
            work = await asyncio.to_thread(self._open, request, run)
            for material in work.materials:
                async with aclosing(self._document(work, material)) as events:
                    async for event in events:
                        yield event
            await asyncio.to_thread(self._check_all, work)
            yield self._done(work)

    def _open(self, request: ExtractRequest, run: Run) -> _Work:
        wanted = (
            form.of_columns(request.columns, request.row)
            if request.columns is not None
            else form.of_schema(request.json_schema or {}, request.row)
        )
        work = _Work(run, wanted, Table(wanted.columns, strict=request.strict), [])
        for name in dict.fromkeys(request.documents):
            try:
                work.materials.append(self._shelf.open(name, run.viewer))
            except NotReadableYetError as error:
                if len(request.documents) == 1:
                    raise
                work.notes.append(f"passed over: {error}")
        if not work.materials:
            raise NotReadableYetError("; ".join(work.notes))
        return work

    def _check_all(self, work: _Work) -> None:
        for material in work.materials:
            self._shelf.check(material, work.run.viewer)

    async def _document(self, work: _Work, material: Material) -> AsyncGenerator[Event, None]:
        pieces = [Piece(neutralise(chunk.text), chunk) for chunk in material.chunks]
        most = self._steps.shortened(_MAX_ANSWER)
        room = await self._steps.room(work.system, most)
        waiting = deque(await pack(pieces, min(_MAX_PART, room), self._steps.count))
        stage = Stage("extract", len(waiting))
        work.n_parts += len(waiting)
        while waiting:
            group = waiting.popleft()
            work.run.check_deadline()
            await asyncio.to_thread(self._shelf.check, material, work.run.viewer)
            yield stage.begin(_place(material, group))
            written: Written | None = None
            async with aclosing(self._steps.run(self._step(work, material, group, most), work.run)) as events:
                async for event in events:
                    if isinstance(event, Written):
                        written = event
                        stage.end(event)
                    elif isinstance(event, QueuedEvent):
                        yield event
            assert written is not None, "a step ends with what was written, or raises"
            if not written.complete and (halves := group.halves()) is not None:
                waiting.extendleft(reversed(halves))  # more rows than the answer holds
                stage.m += 2
                continue
            for row in await asyncio.to_thread(self._take, work, group, written):
                yield RowEvent(row=row)
        yield stage.finish()

    def _take(self, work: _Work, group: Group, written: Written) -> list[Row]:
        if not written.complete:
            [place] = {chunk.document.path for chunk in group.chunks}
            work.notes.append(
                f"there may be more rows than were found: {printable(place)}, {place_of(group.chunks)}"
            )
        return list(work.table.take(read_rows(written.text), Part(group)))

    def _step(self, work: _Work, material: Material, group: Group, most: int) -> Step:
        text = f"Text:\n{group.text}\n\nJSON list of each {work.form.row}:"
        sampling = Sampling(schema=work.form.schema)
        return Step(work.system, text, most, sampling, material.document.sha256, astray=goes_round)

    def _done(self, work: _Work) -> ExtractionDone:
        notes = [f"{m.path}: {note}" for m in work.materials for note in m.notes]
        return ExtractionDone(
            columns=list(work.form.columns), rows=work.table.rows, n_dropped=work.table.n_dropped,
            n_parts=work.n_parts, notes=[*self._steps.notes, *notes, *work.notes],
            timings=work.run.timings(), model=self._steps.model,
        )  # fmt: skip


def _place(material: Material, group: Group) -> str:
    place = place_of(group.chunks)
    return f"{material.path}, {place}" if place else material.path
