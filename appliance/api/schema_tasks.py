"""What travels over the socket about tasks over whole documents: summaries, translations, extracted rows."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from appliance.api.schema import ErrorEvent, QueuedEvent, TokenEvent, Wire

MAX_TEXT = (
    400_000  # characters to be translated: a book; the socket would take more, nobody would wait for it
)


class TaskSource(Wire):
    """A place that a part of a result comes from.

    Attributes:
        version: SHA-256 of the file as it was read.
        locator: the place as people read it: "page 3, Storage", "pages 3–7".
        chunk_id: of its first passage, for `/api/chunks/…/around`.
    """

    document_id: int
    path: str
    version: str
    locator: str
    chunk_id: int


class Statement(Wire):
    """One sentence of a summary, compared with the document.

    Attributes:
        start, end: character offsets in the summary.
        sources: where the document says it, best first; none where it says nothing like it.
        unknown_numbers: numbers of the sentence that stand nowhere in the document.
    """

    start: int
    end: int
    sources: list[TaskSource] = Field(default_factory=list)
    unknown_numbers: list[str] = Field(default_factory=list)


class Row(Wire):
    """One extracted row.

    Attributes:
        number: from 1; a row that comes again under its number has been completed from a later part.
        values: column → value, null where the document does not say.
        verified: column → whether the value stands in the source's text; nulls are not in it.
        sources: where it was found, first place first.
    """

    number: int
    values: dict[str, Any]
    verified: dict[str, bool]
    sources: list[TaskSource]


class NumberDifference(Wire):
    """Numbers that source and translation do not share; `piece` counts from 1."""

    piece: int
    missing: list[str]
    added: list[str]


class TaskTimings(Wire):
    """What a task took; counts are over all of the model's answers, those found in the cache are not counted."""

    total_s: float
    n_steps: int
    n_cached: int
    n_prompt: int
    n_reused: int
    n_decoded: int


# --- Events: (queued | progress | token | row)* then done or error ---


class ProgressEvent(Wire):
    """Part `n` of `m` of a stage begins, or, where `n` is `m`, the stage ends.

    Attributes:
        stage: map: parts of a document are read; reduce: their summaries are joined; translate; extract.
        place: what is being read now.
        n_cached: parts that were done before and are not done again.
        eta_s: seconds until the stage ends; None while nobody can tell.
    """

    event: Literal["progress"] = "progress"
    stage: Literal["map", "reduce", "translate", "extract"]
    n: int
    m: int
    place: str = ""
    n_cached: int = 0
    eta_s: float | None = None


class RowEvent(Wire):
    """A row was found, or completed."""

    event: Literal["row"] = "row"
    row: Row


class SummaryDone(Wire):
    """The summary is complete.

    Attributes:
        notes: plain sentences: what was left out, what to be careful about.
    """

    event: Literal["done"] = "done"
    summary: str
    statements: list[Statement]
    document_id: int
    path: str
    version: str
    n_parts: int
    notes: list[str] = Field(default_factory=list)
    timings: TaskTimings
    model: str


class TranslationDone(Wire):
    """The translation is complete."""

    event: Literal["done"] = "done"
    translation: str
    language: str
    differences: list[NumberDifference]
    sources: list[TaskSource] = Field(default_factory=list)
    n_parts: int
    notes: list[str] = Field(default_factory=list)
    timings: TaskTimings
    model: str


class ExtractionDone(Wire):
    """All rows.

    Attributes:
        n_dropped: rows that were not kept, since no value of theirs stands in the document.
    """

    event: Literal["done"] = "done"
    columns: list[str]
    rows: list[Row]
    n_dropped: int
    n_parts: int
    notes: list[str] = Field(default_factory=list)
    timings: TaskTimings
    model: str


SummariseEvent = QueuedEvent | ProgressEvent | TokenEvent | SummaryDone | ErrorEvent
TranslateEvent = QueuedEvent | ProgressEvent | TokenEvent | TranslationDone | ErrorEvent
ExtractEvent = QueuedEvent | ProgressEvent | RowEvent | ExtractionDone | ErrorEvent


# --- Requests ---


class TaskRequest(Wire):
    """What all tasks may be told.

    Attributes:
        deadline_s: seconds from its arrival after which it is broken off; what is done by then is kept.
        fresh: do every step again, whatever was kept of an earlier run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    deadline_s: float | None = Field(default=None, gt=0, le=604_800)
    fresh: bool = False


class SummariseRequest(TaskRequest):
    """A document to be summarised: its id, or its path, or the end of its path."""

    document: int | str


class TranslateRequest(TaskRequest):
    """What is to be translated: a text, a passage, or (a page of) a document.

    Attributes:
        to: the language, as people call it.
        chunk_id: of a passage.
        page: only this page, or slide, of `document`.
    """

    to: str = Field(pattern=r"^[^\W\d_][\w ()\-,.']{1,59}$")
    text: str | None = Field(default=None, min_length=1, max_length=MAX_TEXT)
    chunk_id: int | None = None
    document: int | str | None = None
    page: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _one_source(self) -> TranslateRequest:
        if sum(source is not None for source in (self.text, self.chunk_id, self.document)) != 1:
            raise ValueError("give one of text, chunk_id and document")
        if self.page is not None and self.document is None:
            raise ValueError("page: only beside document")
        return self


class ExtractRequest(TaskRequest):
    """Documents, and what is to be taken out of them: columns, or the JSON schema of one row (or of a list of rows).

    Attributes:
        row: what one row is ("an invoice"), in a few words.
        strict: values that do not stand in the source become null.
    """

    documents: list[int | str] = Field(min_length=1, max_length=1000)
    columns: list[str] | None = Field(default=None, min_length=1, max_length=40)
    json_schema: dict[str, Any] | None = None
    row: str = Field(default="", max_length=200)
    strict: bool = False

    @model_validator(mode="after")
    def _one_form(self) -> ExtractRequest:
        if (self.columns is None) == (self.json_schema is None):
            raise ValueError("give either columns or json_schema")
        return self
