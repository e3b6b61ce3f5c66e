"""The one table of errors: class → HTTP status, code, whether the same request may succeed later."""

from __future__ import annotations

import logging
import math
from typing import NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from appliance.api.schema import ErrorEvent
from appliance.errors import (
    ApplianceError,
    BadTaskError,
    BadUploadError,
    ChatTemplateError,
    ConflictError,
    DeadlineError,
    DocumentChangedError,
    EngineBusyError,
    EngineError,
    EngineLostError,
    EngineNotReadyError,
    JournalError,
    NotAllowedError,
    NotFoundError,
    NotReadableYetError,
    PromptTooLongError,
    SamplingError,
    UnsupportedRequestError,
)
from ingest.errors import DenseError, DiskFullError, IngestError, LibraryError, NotInLibraryError

log = logging.getLogger(__name__)


class Refusal(NamedTuple):
    """How an error is told."""

    status: int
    code: str
    retryable: bool


# The most derived class that stands here decides.
TABLE: dict[type[Exception], Refusal] = {
    UnsupportedRequestError: Refusal(400, "unsupported_request", False),
    BadUploadError: Refusal(400, "bad_upload", False),
    BadTaskError: Refusal(400, "bad_task", False),
    PromptTooLongError: Refusal(400, "prompt_too_long", False),
    SamplingError: Refusal(400, "bad_sampling", False),
    ChatTemplateError: Refusal(400, "template_refuses", False),
    NotAllowedError: Refusal(403, "not_allowed", False),
    NotFoundError: Refusal(404, "not_found", False),
    NotInLibraryError: Refusal(422, "not_in_library", False),
    ConflictError: Refusal(409, "conflict", False),
    NotReadableYetError: Refusal(409, "not_readable_yet", True),
    DocumentChangedError: Refusal(409, "document_changed", True),
    EngineBusyError: Refusal(429, "engine_busy", True),
    DeadlineError: Refusal(504, "deadline", True),
    EngineNotReadyError: Refusal(503, "engine_not_ready", True),
    EngineLostError: Refusal(503, "engine_lost", True),
    EngineError: Refusal(500, "engine_failed", True),
    DiskFullError: Refusal(507, "disk_full", True),
    LibraryError: Refusal(503, "library_unavailable", True),
    DenseError: Refusal(503, "index_unavailable", True),
    JournalError: Refusal(503, "journal_unavailable", True),
    IngestError: Refusal(500, "ingest_failed", True),
    ApplianceError: Refusal(500, "failed", False),
}
_UNEXPECTED = Refusal(500, "internal", True)


def refusal_of(error: Exception) -> Refusal:
    """Return how `error` is told; a class that is not in the table is our own bug and told as `internal`."""
    return next((TABLE[kind] for kind in type(error).__mro__ if kind in TABLE), _UNEXPECTED)


def error_event(error: Exception) -> ErrorEvent:
    """Return the event that ends a stream with `error`."""
    refusal = refusal_of(error)
    if refusal is _UNEXPECTED:
        log.error("a stream failed", exc_info=error)
    message = "an unexpected error; see the daemon's log" if refusal is _UNEXPECTED else str(error)
    return ErrorEvent(code=refusal.code, message=message, retryable=refusal.retryable)


def install(app: FastAPI) -> None:
    """Make the app answer every error in one shape."""
    for kind in (*TABLE, Exception):
        app.add_exception_handler(kind, _answer)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)


async def _answer(request: Request, error: Exception) -> JSONResponse:
    refusal, event = refusal_of(error), error_event(error)
    headers = {}
    if isinstance(error, EngineBusyError):
        headers["Retry-After"] = str(math.ceil(error.retry_after_s))
    return _json(refusal.status, event.code, event.message, event.retryable, headers)


async def _answer_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    return _json(400, "bad_request", f"{place}: {first['msg']}" if place else first["msg"], False)


async def _answer_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return _json(error.status_code, "not_found" if error.status_code == 404 else "bad_request",
                 f"{request.method} {request.url.path}: {error.detail}", False)  # fmt: skip


def _json(
    status: int, code: str, message: str, retryable: bool, headers: dict[str, str] | None = None
) -> JSONResponse:
    # `type` is there for OpenAI clients, which show it.
    body = {"error": {"code": code, "type": code, "message": message, "retryable": retryable}}
    return JSONResponse(body, status, headers)
