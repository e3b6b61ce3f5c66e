"""/api/ingest: what the administrator may tell ingest to do; what it does stands in documents and status."""

from __future__ import annotations

import asyncio
import os

from fastapi import APIRouter

from appliance.api.caller import Caller
from appliance.api.parts import Daemon
from appliance.api.schema_documents import IngestPlan, RetryReply, RetryRequest
from appliance.errors import NotAllowedError, NotFoundError
from ingest.access import Viewer
from ingest.stored import StoredDocument, printable

router = APIRouter(prefix="/api/ingest")


@router.post("/pause", status_code=204)
async def pause(caller: Caller, daemon: Daemon) -> None:
    """Read no more files until `resume`, over restarts too; deletions and rights go on to count."""
    _only_administrator(caller, "pause ingest")
    await asyncio.to_thread(daemon.ingest.pause)


@router.post("/resume", status_code=204)
async def resume(caller: Caller, daemon: Daemon) -> None:
    """Go on reading files."""
    _only_administrator(caller, "resume ingest")
    await asyncio.to_thread(daemon.ingest.resume)


@router.post("/confirm", status_code=204)
async def confirm(caller: Caller, daemon: Daemon) -> None:
    """Believe that the many files which are missing were deleted on purpose."""
    _only_administrator(caller, "confirm deletions")
    await asyncio.to_thread(daemon.ingest.confirm_deletes)


@router.post("/retry")
async def retry(body: RetryRequest, caller: Caller, daemon: Daemon) -> RetryReply:
    """Read failed documents again: those named, or all that the caller may see."""
    documents = await asyncio.to_thread(daemon.library.documents, caller)
    chosen = documents if body.paths is None else _named(documents, body.paths)
    return RetryReply(n_queued=await asyncio.to_thread(daemon.ingest.retry, [d.path for d in chosen]))


@router.get("/plan")
async def plan(caller: Caller, daemon: Daemon) -> IngestPlan:
    """Return what the next sweep would do, without doing it."""
    _only_administrator(caller, "see the plan, which names every file")
    found = await asyncio.to_thread(daemon.ingest.plan)
    return IngestPlan(
        new=_shown(found.new), changed=_shown(found.changed), gone=_shown(found.gone), held=_shown(found.held),
        moved=[(printable(old), printable(new)) for old, new in found.moved],
        refused={printable(path): why for path, why in found.refused.items()},
        n_ignored=found.n_ignored, n_unchanged=found.n_unchanged, problem=found.problem,
    )  # fmt: skip


def _only_administrator(caller: Viewer, what: str) -> None:
    if caller.uid not in (0, os.geteuid()):
        raise NotAllowedError(f"only root and the appliance's own user may {what}: ask the administrator")


def _named(documents: list[StoredDocument], paths: list[str]) -> list[StoredDocument]:
    by_path = {printable(document.path): document for document in documents}
    if unknown := [path for path in paths if path not in by_path]:
        raise NotFoundError(f"no document {unknown[0]}: `appliance documents` lists what there is")
    return [by_path[path] for path in paths]


def _shown(paths: list[str]) -> list[str]:
    return [printable(path) for path in paths]
