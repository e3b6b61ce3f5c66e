"""What travels over the socket, both ways. The API answers with these; the client, the CLI and the TUI read them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Wire(BaseModel):
    """A frozen message; unknown keys are ignored, so that a newer daemon can talk to an older client."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Passage(Wire):
    """A retrieved piece of a document, with its citation number.

    Attributes:
        number: citation number, from 1, best first.
        locator: the place as people read it ("page 3, Storage").
        place: the same place as data (`ingest.locator.Locator.to_json`).
        best: (start, end) offsets in `text` of the sentence nearest to the question; None when none stands out.
        score: fused retrieval score, 0 to 1, higher is better.
        flags: what to be warned of: "hidden", "instruction-like", "ocr" (`ingest.unit`).
        also: paths of other documents that hold the same text.
    """

    number: int
    chunk_id: int
    document_id: int
    path: str
    title: str
    locator: str
    place: dict[str, Any]
    text: str
    best: tuple[int, int] | None = None
    score: float
    flags: list[str] = Field(default_factory=list)
    also: list[str] = Field(default_factory=list)


class Citation(Wire):
    """A sentence of the answer and the passages that support it.

    Attributes:
        start, end: character offsets of the sentence in the answer.
        numbers: citation numbers, best first; empty: nothing in the passages supports the sentence.
        quote: the passage's sentence that supports it best.
    """

    start: int
    end: int
    numbers: list[int]
    quote: str = ""


class ContextBudget(Wire):
    """Tokens of the context window: who got what, and what was left out.

    Attributes:
        left_out: plain sentences ("passage 5, handbook.docx, page 3", "2 earlier turns").
    """

    n_ctx: int
    n_system: int
    n_history: int
    n_passages: int
    n_question: int
    max_answer: int
    left_out: list[str] = Field(default_factory=list)

    @property
    def n_prompt(self) -> int:
        """Tokens of the whole prompt."""
        return self.n_system + self.n_history + self.n_passages + self.n_question


class Timings(Wire):
    """Seconds and rates of one answer; `ttft_s` from the question's arrival to the first token."""

    retrieval_s: float = 0.0
    ttft_s: float = 0.0
    total_s: float = 0.0
    prefill_tps: float = 0.0
    decode_tps: float = 0.0
    n_prompt: int = 0
    n_reused: int = 0
    n_decoded: int = 0


# --- Events of POST /api/ask, in order: passages (queued | prefill)* (token | citation)* then done or error ---


class QueuedEvent(Wire):
    """The question waits behind others; `position` from 1, `wait_s` is a guess of how long yet."""

    event: Literal["queued"] = "queued"
    position: int
    wait_s: float = 0.0


class PassagesEvent(Wire):
    """The evidence, before any token."""

    event: Literal["passages"] = "passages"
    passages: list[Passage]


class PrefillEvent(Wire):
    """The model is reading: `n_done` of `n_prompt` tokens."""

    event: Literal["prefill"] = "prefill"
    n_done: int
    n_prompt: int


class TokenEvent(Wire):
    """The next piece of the answer."""

    event: Literal["token"] = "token"
    text: str


class CitationEvent(Wire):
    """A sentence of the answer is complete and has been checked."""

    event: Literal["citation"] = "citation"
    citation: Citation


class DoneEvent(Wire):
    """The answer is complete.

    Attributes:
        answer: the whole text, for clients that did not keep the tokens.
        answered: False when the documents do not say.
        conversation: id to pass with a follow-up question.
    """

    event: Literal["done"] = "done"
    finish_reason: Literal["stop", "length", "cancelled"]
    answer: str
    answered: bool
    citations: list[Citation]
    context: ContextBudget
    timings: Timings
    model: str
    conversation: str


class ErrorEvent(Wire):
    """The answer failed; see `appliance.api.errors` for the codes."""

    event: Literal["error"] = "error"
    code: str
    message: str
    retryable: bool


AskEvent = QueuedEvent | PassagesEvent | PrefillEvent | TokenEvent | CitationEvent | DoneEvent | ErrorEvent


# --- Requests and plain answers ---


class AskRequest(Wire):
    """A question. Without `conversation` a new one begins.

    Attributes:
        deadline_s: seconds from its arrival after which nobody waits for the answer any more, queue included.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(min_length=1, max_length=20_000)
    conversation: str | None = None
    max_tokens: int | None = Field(default=None, ge=1, le=8192)
    deadline_s: float | None = Field(default=None, gt=0, le=86_400)


class SearchRequest(Wire):
    """A search without an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str = Field(min_length=1, max_length=20_000)
    n: int = Field(default=5, ge=1, le=100)


class SearchReply(Wire):
    """Passages, best first, and how sure retrieval is that one of them answers (0 to 2)."""

    passages: list[Passage]
    confidence: float
    seconds: float


class TokenizeRequest(Wire):
    """Texts to be counted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    texts: list[str] = Field(max_length=1000)


class TokenizeReply(Wire):
    """Tokens of each text, in their order, as the chat model counts them."""

    counts: list[int]


class Document(Wire):
    """One file of the folder as the record knows it.

    Attributes:
        path: relative to the ingest folder.
        state: waiting, parsing, embedding, ready, empty, needs_password, unsupported, damaged, too_large, timeout,
            crashed or needs_ocr.
        collection: its sub-folder, "" at the top of the ingest folder.
        modified: the file's own time, Unix seconds.
        reason: plain words when it is not `ready`.
        notes: plain sentences about what was left out, or read less well than the rest.
    """

    id: int
    path: str
    title: str
    format: str
    state: str
    reason: str
    size: int
    modified: float
    n_pages: int | None
    n_chunks: int
    sha256: str
    collection: str = ""
    notes: list[str] = Field(default_factory=list)


class Collection(Wire):
    """A sub-folder of the ingest folder: its documents, those of its own sub-folders not counted."""

    name: str
    n_documents: int
    n_ready: int


class Added(Wire):
    """A file is in the ingest folder, whole; `/api/documents` shows what becomes of it."""

    path: str
    size: int


class IngestStatus(Wire):
    """What ingest is doing now.

    Attributes:
        current: path being worked on; empty when idle.
        step: where it is in that document ("page 4 of 20", "312 of 800 chunks"); empty when it is short.
        counts: documents by state.
        watching: "inotify", or why it is polling.
        problem: why ingest stands still (disk full, folder missing, many files gone); empty when it does not.
        paused: somebody paused it; files wait until it is resumed.
        pages_per_min: of late; a file without pages counts as one.
        eta_s: seconds until nothing waits any more; None while nobody can tell.
        n_refused: links, devices, pipes and sockets in the folder; `/api/ingest/plan` names them.
        n_ignored: files that the ignore rules leave out.
    """

    folder: str
    current: str
    n_waiting: int
    counts: dict[str, int]
    watching: str
    problem: str = ""
    step: str = ""
    paused: bool = False
    pages_per_min: float = 0.0
    eta_s: float | None = None
    n_refused: int = 0
    n_ignored: int = 0


class RetryRequest(Wire):
    """Documents to be read again, by path; None means every one that failed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paths: list[str] | None = Field(default=None, max_length=10_000)


class RetryReply(Wire):
    """How many documents wait to be read again."""

    n_queued: int


class IngestPlan(Wire):
    """What the next sweep would do.

    Attributes:
        moved: (old path, new path).
        gone: documents whose file is not there any more and that would be removed.
        held: likewise, but so many at once that they are kept until `/api/ingest/confirm`.
        refused: path → why it is never read.
        problem: why nothing is done; empty when it is.
    """

    new: list[str]
    changed: list[str]
    moved: list[tuple[str, str]]
    gone: list[str]
    held: list[str]
    refused: dict[str, str]
    n_ignored: int
    n_unchanged: int
    problem: str = ""


class DocumentsReply(Wire):
    """The documents the caller may see."""

    documents: list[Document]
    ingest: IngestStatus


class DocumentText(Wire):
    """A document's text around a place, for reading a citation in its surroundings.

    Attributes:
        blocks: consecutive chunks; the one asked for has `wanted` set.
    """

    document: Document
    blocks: list[TextBlock]


class TextBlock(Wire):
    """One chunk of a document, in reading order."""

    chunk_id: int
    locator: str
    text: str
    wanted: bool


class EngineReply(Wire):
    """See `appliance.engine.request.EngineStatus`."""

    state: Literal["starting", "ready", "restarting", "failed"]
    model: str
    device: str
    reason: str
    note: str = ""
    pid: int | None
    n_ctx: int
    n_running: int
    n_waiting: int
    n_restarts: int
    prefill_tps: float
    decode_tps: float


class IndexReply(Wire):
    """The vector index: `state` is "ready", "rebuilding" or "off" (search then uses the record's vectors)."""

    state: str
    reason: str
    n_vectors: int
    embedder: str


class StatusReply(Wire):
    """The whole appliance at a glance."""

    version: str
    pid: int
    home: str
    uptime_s: float
    engine: EngineReply
    ingest: IngestStatus
    index: IndexReply


class ConversationSummary(Wire):
    """A kept conversation; `title` is its first question."""

    id: str
    title: str
    updated: float
    n_turns: int


class Turn(Wire):
    """One question and its answer, with the evidence it was given."""

    question: str
    answer: str
    answered: bool
    passages: list[Passage]
    citations: list[Citation]
    asked: float


class Conversation(Wire):
    """A conversation, oldest turn first."""

    id: str
    title: str
    turns: list[Turn]


DocumentText.model_rebuild()
