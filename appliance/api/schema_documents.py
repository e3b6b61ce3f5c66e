"""What travels over the socket about documents and ingest."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from appliance.api.schema import Wire


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


DocumentText.model_rebuild()
