"""The client side of the socket: what the CLI, the TUI and the tests call. No heavy imports here."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self, TypeVar, get_args

import httpx
from pydantic import TypeAdapter

from appliance.api.schema import (
    AskEvent,
    AskRequest,
    Conversation,
    ConversationSummary,
    ReuseRequest,
    SearchFilter,
    SearchReply,
    SearchRequest,
    Wire,
)
from appliance.api.schema_documents import (
    Added,
    DocumentsReply,
    DocumentText,
    IngestPlan,
    RetryReply,
    RetryRequest,
)
from appliance.api.schema_status import StatusReply
from appliance.api.schema_tasks import (
    ExtractEvent,
    ExtractRequest,
    SummariseEvent,
    SummariseRequest,
    TranslateEvent,
    TranslateRequest,
)
from appliance.errors import ApplianceError, NotRunningError
from appliance.lines import lines

_ASK_EVENT: TypeAdapter[AskEvent] = TypeAdapter(AskEvent)
_SUMMARISE_EVENT: TypeAdapter[SummariseEvent] = TypeAdapter(SummariseEvent)
_TRANSLATE_EVENT: TypeAdapter[TranslateEvent] = TypeAdapter(TranslateEvent)
_EXTRACT_EVENT: TypeAdapter[ExtractEvent] = TypeAdapter(ExtractEvent)
_CONNECT_S = 5.0
EVERYTHING = SearchFilter()
_Reply = TypeVar("_Reply", bound=Wire)
_Event = TypeVar("_Event")


class RequestFailedError(ApplianceError):
    """The daemon refused or failed a request.

    Attributes:
        status: HTTP status.
        code: the error's name in `appliance.api.errors`.
        retryable: the same request may succeed later.
    """

    def __init__(self, status: int, code: str, message: str, retryable: bool) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.retryable = retryable


class Client:
    """A connection to the daemon of one home.

    Every method raises `NotRunningError` when no daemon answers and `RequestFailedError` when it refuses.
    """

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        # Answers may take minutes on a slow box: only connecting has a limit.
        self._http = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(uds=str(socket)),
            base_url="http://appliance",
            timeout=httpx.Timeout(None, connect=_CONNECT_S),
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection."""
        await self._http.aclose()

    def ask(
        self,
        question: str,
        *,
        conversation: str | None = None,
        only: SearchFilter = EVERYTHING,
        reuse: ReuseRequest | None = None,
    ) -> AsyncGenerator[AskEvent, None]:
        """Ask, and yield the events of the answer; closing the iterator cancels the answer.

        Events of a newer daemon that this client does not know are passed over.
        """
        body = AskRequest(question=question, conversation=conversation, only=only, reuse=reuse)
        return self._events("/api/ask", body, _ASK_EVENT, AskEvent)

    def summarise(self, request: SummariseRequest) -> AsyncGenerator[SummariseEvent, None]:
        """Summarise a document, event by event; closing the iterator cancels, and what is done is kept."""
        return self._events("/api/tasks/summarise", request, _SUMMARISE_EVENT, SummariseEvent)

    def translate(self, request: TranslateRequest) -> AsyncGenerator[TranslateEvent, None]:
        """Translate a text, a passage or a document, event by event; closing the iterator cancels."""
        return self._events("/api/tasks/translate", request, _TRANSLATE_EVENT, TranslateEvent)

    def extract(self, request: ExtractRequest) -> AsyncGenerator[ExtractEvent, None]:
        """Take rows out of documents, event by event; closing the iterator cancels, and what is done is kept."""
        return self._events("/api/tasks/extract", request, _EXTRACT_EVENT, ExtractEvent)

    async def search(self, query: str, n: int = 5, *, only: SearchFilter = EVERYTHING) -> SearchReply:
        """Return the passages nearest to `query`, best first, of the documents that `only` lets in."""
        return await self._post("/api/search", SearchRequest(query=query, n=n, only=only), SearchReply)

    async def documents(self, collection: str | None = None) -> DocumentsReply:
        """Return every document the caller may see (of one collection), and what ingest is doing."""
        where = "" if collection is None else f"?{httpx.QueryParams(collection=collection)}"
        return await self._get(f"/api/documents{where}", DocumentsReply)

    async def watch_documents(self) -> AsyncIterator[DocumentsReply]:
        """Yield the documents now, and again after each change."""
        async with self._stream("GET", "/api/documents/events") as response:
            async for line in lines(response):
                if line.startswith("data: "):
                    yield DocumentsReply.model_validate_json(line.removeprefix("data: "))

    async def text_around(self, chunk_id: int, *, n_blocks: int = 2) -> DocumentText:
        """Return the chunk and `n_blocks` chunks before and after it."""
        return await self._get(f"/api/chunks/{chunk_id}/around?n_blocks={n_blocks}", DocumentText)

    async def add(self, name: str, content: BinaryIO, *, replace: bool = False) -> Added:
        """Put a file into the ingest folder under `name`, atomically; `replace` one of that name, if need be."""

        async def chunks() -> AsyncIterator[bytes]:
            while data := content.read(1 << 20):
                yield data

        params = {"name": name, "replace": replace}
        response = await self._send("POST", "/api/documents", content=chunks(), params=params)
        return Added.model_validate_json(response.content)

    async def control_ingest(self, action: Literal["pause", "resume", "confirm"]) -> None:
        """Pause ingest, resume it, or confirm that the files which are missing were deleted on purpose."""
        await self._send("POST", f"/api/ingest/{action}")

    async def retry(self, paths: Sequence[str] | None = None) -> RetryReply:
        """Have failed documents read again: these, or all."""
        body = RetryRequest(paths=None if paths is None else list(paths))
        return await self._post("/api/ingest/retry", body, RetryReply)

    async def plan(self) -> IngestPlan:
        """Return what the next sweep of the folder would do."""
        return await self._get("/api/ingest/plan", IngestPlan)

    async def status(self) -> StatusReply:
        """Return the whole appliance at a glance."""
        return await self._get("/api/status", StatusReply)

    async def conversations(self) -> list[ConversationSummary]:
        """Return the caller's conversations, newest first."""
        response = await self._send("GET", "/api/conversations")
        return TypeAdapter(list[ConversationSummary]).validate_json(response.content)

    async def conversation(self, conversation_id: str) -> Conversation:
        """Return one conversation with all its turns."""
        return await self._get(f"/api/conversations/{conversation_id}", Conversation)

    async def delete_conversation(self, conversation_id: str) -> None:
        """Delete a conversation for good."""
        await self._send("DELETE", f"/api/conversations/{conversation_id}")

    async def _events(
        self, path: str, body: Wire, adapter: TypeAdapter[_Event], kinds: Any
    ) -> AsyncGenerator[_Event, None]:
        """Yield the events of a stream; those that none of `kinds` names are passed over."""
        names = frozenset(kind.model_fields["event"].default for kind in get_args(kinds))
        known = False
        async with self._stream("POST", path, body) as response:
            async for line in lines(response):
                if line.startswith("event: "):
                    known = line.removeprefix("event: ") in names
                elif line.startswith("data: ") and known:
                    yield adapter.validate_json(line.removeprefix("data: "))

    async def _get(self, path: str, reply: type[_Reply]) -> _Reply:
        return reply.model_validate_json((await self._send("GET", path)).content)

    async def _post(self, path: str, body: Wire, reply: type[_Reply]) -> _Reply:
        return reply.model_validate_json((await self._send("POST", path, json=body.model_dump())).content)

    async def _send(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        try:
            response = await self._http.request(method, path, **kwargs)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        _raise_for_refusal(response)
        return response

    @asynccontextmanager
    async def _stream(
        self, method: str, path: str, body: Wire | None = None
    ) -> AsyncIterator[httpx.Response]:
        json_body = None if body is None else body.model_dump()
        try:
            async with self._http.stream(method, path, json=json_body) as response:
                if response.is_error:
                    await response.aread()
                    _raise_for_refusal(response)
                yield response
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: httpx.TransportError) -> NotRunningError:
        if _is_forbidden(self.socket):
            return NotRunningError(
                f"you may not use {self.socket}: ask the administrator to add you to the group of its folder and socket"
            )
        if isinstance(error, httpx.ConnectError):
            return NotRunningError(f"no daemon answers on {self.socket}: start it with `appliance serve`")
        return NotRunningError(f"the daemon on {self.socket} went away ({type(error).__name__}); ask again")


def _is_forbidden(socket: Path) -> bool:
    try:
        return not os.access(socket, os.W_OK) and stat.S_ISSOCK(socket.stat().st_mode)
    except PermissionError:
        return True
    except OSError:
        return False


def _raise_for_refusal(response: httpx.Response) -> None:
    if not response.is_error:
        return
    try:
        error = json.loads(response.content)["error"]
        code, message, retryable = error["code"], error["message"], error["retryable"]
    except (ValueError, KeyError, TypeError):
        code, message, retryable = "unknown", response.text or response.reason_phrase, False
    raise RequestFailedError(response.status_code, code, message, retryable)
