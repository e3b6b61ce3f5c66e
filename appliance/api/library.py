"""/api/documents and /api/chunks: what is in the folder, what became of it, and taking files in."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncGenerator

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from appliance.api import sse
from appliance.api.caller import Caller
from appliance.api.parts import Daemon, Parts
from appliance.api.schema_documents import (
    Added,
    Collection,
    Document,
    DocumentsReply,
    DocumentText,
    IngestStatus,
    TextBlock,
)
from appliance.errors import NotFoundError
from appliance.upload import Folder
from ingest.access import Viewer
from ingest.record import READY
from ingest.stored import StoredDocument, printable

router = APIRouter(prefix="/api")

# Changes come in bursts while files are read; a screen needs no more than this.
_MIN_INTERVAL_S = 0.3


@router.get("/documents")
async def documents(caller: Caller, daemon: Daemon, collection: str | None = None) -> DocumentsReply:
    """Return the documents that the caller may see; of one collection and those inside it, if it is named."""
    return await asyncio.to_thread(_documents, daemon, caller, collection)


@router.get("/collections")
async def collections(caller: Caller, daemon: Daemon) -> list[Collection]:
    """Return the sub-folders that hold documents which the caller may see, by name."""
    found = await asyncio.to_thread(daemon.library.documents, caller)
    by_name: dict[str, list[StoredDocument]] = defaultdict(list)
    for document in found:
        by_name[_collection(document)].append(document)
    return [
        Collection(name=name, n_documents=len(each), n_ready=sum(d.state == READY for d in each))
        for name, each in sorted(by_name.items())
    ]


@router.get("/documents/events")
async def document_events(caller: Caller, daemon: Daemon) -> StreamingResponse:
    """Stream the documents now and after each change."""
    return await sse.respond(_document_events(daemon, caller))


@router.post("/documents", status_code=201)
async def add(request: Request, name: str, caller: Caller, daemon: Daemon, replace: bool = False) -> Added:
    """Put the request's body into the folder under `name`, atomically."""
    folder = Folder(daemon.config.documents, daemon.config.settings.ingest.max_file_mb * 2**20)
    with folder.receive(name, caller, replace=replace) as file:
        async for data in request.stream():
            await asyncio.to_thread(file.write, data)
        await asyncio.to_thread(file.commit)
    daemon.ingest.wake()
    return Added(path=name, size=file.size)


@router.get("/chunks/{chunk_id}/around")
async def around(
    chunk_id: int, caller: Caller, daemon: Daemon, n_blocks: int = Query(default=2, ge=0, le=50)
) -> DocumentText:
    """Return a chunk and its neighbours, in reading order."""
    chunks = await asyncio.to_thread(daemon.library.around, chunk_id, n_blocks, caller)
    if not chunks:
        raise NotFoundError(f"there is no passage {chunk_id} any more: its document has changed or gone")
    blocks = [
        TextBlock(chunk_id=c.id, locator=str(c.locator), text=c.text, wanted=c.id == chunk_id) for c in chunks
    ]
    return DocumentText(document=_document(chunks[0].document), blocks=blocks)


def ingest_status(daemon: Parts, caller: Viewer) -> IngestStatus:
    """Return what ingest is doing now; a file that the caller may not see is not named. Blocking."""
    state = daemon.ingest.status()
    current = (
        printable(state.current)
        if daemon.library.sees(state.current, caller)
        else "a file" * bool(state.current)
    )
    return IngestStatus(
        folder=str(daemon.config.documents), current=current, step=state.step if current else "",
        n_waiting=state.n_waiting, counts=daemon.library.counts(), watching=state.watching, problem=state.problem,
        paused=state.paused, pages_per_min=state.pages_per_min, eta_s=state.eta_s, n_refused=state.n_refused,
        n_ignored=state.n_ignored,
    )  # fmt: skip


def _documents(daemon: Parts, caller: Viewer, collection: str | None = None) -> DocumentsReply:
    found = [_document(document) for document in daemon.library.documents(caller)]
    if collection is not None:
        found = [d for d in found if d.collection == collection or d.collection.startswith(collection + "/")]
    return DocumentsReply(documents=found, ingest=ingest_status(daemon, caller))


async def _document_events(daemon: Parts, caller: Viewer) -> AsyncGenerator[DocumentsReply, None]:
    seen = -1
    while (now := await daemon.changes.after(seen)) is not None:
        seen = now
        yield await asyncio.to_thread(_documents, daemon, caller)
        await asyncio.sleep(_MIN_INTERVAL_S)


def _document(stored: StoredDocument) -> Document:
    return Document(
        id=stored.id, path=printable(stored.path), title=stored.title, format=stored.format,
        state=stored.state, reason=stored.reason, size=stored.size, modified=stored.mtime_ns / 1e9,
        n_pages=stored.n_pages, n_chunks=stored.n_chunks, sha256=stored.sha256, collection=_collection(stored),
        notes=list(stored.notes),
    )  # fmt: skip


def _collection(stored: StoredDocument) -> str:
    return printable(os.path.dirname(stored.path))
