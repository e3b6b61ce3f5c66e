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
        older: paths of older versions of the same document, which are not shown.
        version: SHA-256 of the file as it was read, hexadecimal; empty in turns kept by an older version.
        modified: Unix seconds of the file's last change, as it was read.
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
    older: list[str] = Field(default_factory=list)
    version: str = ""
    modified: float = 0.0


class Source(Wire):
    """Where a sentence comes from, so that it can be looked up without the passages.

    Attributes:
        number: of the passage.
        version: SHA-256 of the file as it was read.
        quote: the passage's sentence that supports it best.
    """

    number: int
    document_id: int
    path: str
    version: str
    locator: str
    quote: str


class Citation(Wire):
    """A sentence of the answer, compared with the passages.

    Attributes:
        start, end: character offsets of the sentence in the answer.
        state: supported; unsupported: nothing in the passages says so; contradicted: the nearest passage has other
            numbers or names, see `conflicts`.
        numbers: numbers of the passages that support it, best first; empty unless it is supported.
        quote: the passage's sentence that supports it best, or that it conflicts with.
        sources: of the passages in `numbers`; for a contradicted sentence, the one it conflicts with.
        conflicts: what stands in the sentence and not in that passage ("20 mg", "Berlin").
        quotation: the sentence is the document's own words.
    """

    start: int
    end: int
    state: Literal["supported", "unsupported", "contradicted"] = "supported"
    numbers: list[int]
    quote: str = ""
    sources: list[Source] = Field(default_factory=list)
    conflicts: list[str] = Field(default_factory=list)
    quotation: bool = False

    @property
    def mark(self) -> str:
        """What is put behind the sentence in plain text: who supports it, that nobody does, or who says otherwise."""
        if self.state == "contradicted":
            numbers = ", ".join(str(source.number) for source in self.sources)
            return f"[conflicts with {numbers}: {', '.join(self.conflicts)}]"
        return " ".join(f"[{number}]" for number in self.numbers) or "[no source]"


class ContextBudget(Wire):
    """Tokens of the context window: who got what, and what was left out.

    Attributes:
        left_out: plain sentences ("passage 5, handbook.docx, page 3", "2 earlier turns", "passages of 1 earlier turn").
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
        origin: who worded it: the model; "quotation", a sentence of a document because the model found no answer where
            the evidence is clear; "evidence", a refusal without asking the model.
        conversation: id to pass with a follow-up question; empty when the turn could not be kept (a full disk).
    """

    event: Literal["done"] = "done"
    finish_reason: Literal["stop", "length", "cancelled"]
    answer: str
    answered: bool
    origin: Literal["model", "quotation", "evidence"] = "model"
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


class SearchFilter(Wire):
    """Documents that a question or search is confined to; what is not given lets everything in.

    Attributes:
        collections: sub-folders of the watched folder, deeper ones included.
        documents: ids.
        formats: as /api/documents names them ("pdf").
        modified_from, modified_until: Unix seconds of the file's last change, inclusive.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    collections: list[str] = Field(default_factory=list, max_length=100)
    documents: list[int] = Field(default_factory=list, max_length=1000)
    formats: list[str] = Field(default_factory=list, max_length=100)
    modified_from: float | None = Field(default=None, allow_inf_nan=False)
    modified_until: float | None = Field(default=None, allow_inf_nan=False)


class ReuseRequest(Wire):
    """How passages that the model has read before are used this time; see `appliance.engine.request.Reuse`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: Literal["exact", "blocks", "blend"]
    n_fresh: int = Field(default=0, ge=0, le=8192)


class AskRequest(Wire):
    """A question. Without `conversation` a new one begins.

    Attributes:
        deadline_s: seconds from its arrival after which nobody waits for the answer any more, queue included.
        reuse: of passages that the model has read before; null: as the daemon is set.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(min_length=1, max_length=20_000)
    conversation: str | None = None
    only: SearchFilter = SearchFilter()
    max_tokens: int | None = Field(default=None, ge=1, le=8192)
    deadline_s: float | None = Field(default=None, gt=0, le=86_400)
    reuse: ReuseRequest | None = None


class SearchRequest(Wire):
    """A search without an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str = Field(min_length=1, max_length=20_000)
    n: int = Field(default=5, ge=1, le=100)
    only: SearchFilter = SearchFilter()


class SearchReply(Wire):
    """Passages, best first, and how sure retrieval is that one of them answers (0 to 1)."""

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
