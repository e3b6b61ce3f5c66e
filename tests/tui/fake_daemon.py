"""A scripted daemon on a real unix socket: speaks the wire schema and answers what the test wrote.

`python -m tests.tui.fake_daemon SOCKET` serves the clinic of `clinic.py` until it is stopped.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from appliance.api.schema import AskRequest, Conversation, ConversationSummary, Wire
from appliance.api.schema_documents import DocumentsReply, DocumentText, IngestStatus
from appliance.api.schema_status import EngineReply, IndexReply, StatusReply

# An event is sent; a number pauses for so many seconds; an Event waits until it is set; a str is sent raw.
Step = Wire | float | asyncio.Event | str

INGEST = IngestStatus(folder="/srv/docs", current="", n_waiting=0, counts={"ready": 4}, watching="inotify")
ENGINE = EngineReply(
    state="ready", model="qwen2.5-coder-1.5b-instruct", device="CPU, 2 threads", reason="", pid=7, n_ctx=4096,
    n_running=0, n_waiting=0, n_restarts=0, prefill_tps=61.0, decode_tps=14.2,
)  # fmt: skip
STATUS = StatusReply(
    version="0.1.0", pid=6, home="/srv/appliance", uptime_s=60.0, engine=ENGINE, ingest=INGEST,
    index=IndexReply(state="ready", reason="", n_vectors=412, embedder="all-minilm-l6-v2"),
)  # fmt: skip


class Refusal(Exception):
    """Answers a request with an error body."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class FakeDaemon:
    """One daemon; `start` and `stop` may alternate on the same socket.

    Attributes:
        answers: a script for each question to come; the last one is used again.
        asked: the questions that came.
        orders: what ingest was told: "pause", "resume", "retry".
        task: the script of every task over a document.
        told: the tasks that came: kind and body.
        disconnected: set when a client went away in the middle of an answer.
    """

    def __init__(self, socket: Path | None = None) -> None:
        # Not pytest's tmp_path: a socket's path has 107 bytes.
        self._folder = None if socket else Path(tempfile.mkdtemp(dir="/tmp", prefix="tui-"))
        self.socket = socket or self._folder / "s"
        self.status: StatusReply | str = STATUS
        self.documents = DocumentsReply(documents=[], ingest=INGEST)
        self.texts: dict[int, DocumentText] = {}
        self.conversations: dict[str, Conversation] = {}
        self.answers: deque[Sequence[Step]] = deque()
        self.asked: list[AskRequest] = []
        self.orders: list[str] = []
        self.task: Sequence[Step] = ()
        self.told: list[tuple[str, dict[str, object]]] = []
        self.disconnected = asyncio.Event()
        self._changed = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
        if self._folder:
            shutil.rmtree(self._folder)

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_unix_server(self._connected, str(self.socket))

    async def stop(self) -> None:
        """Go away as a killed daemon does: every connection breaks."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.socket.unlink(missing_ok=True)

    async def change(self, documents: DocumentsReply) -> None:
        """Tell everyone who follows the documents."""
        self.documents = documents
        async with self._changed:
            self._changed.notify_all()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with suppress(ConnectionError, asyncio.CancelledError, asyncio.IncompleteReadError):
            await self._serve(reader, writer)
        self._tasks.discard(task)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, path, _ = head.split(" ", 2)
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        body = await reader.readexactly(int(length.group(1))) if length else b""
        try:
            if path == "/api/ask":
                await self._ask(AskRequest.model_validate_json(body), reader, writer)
            elif path.startswith("/api/tasks/"):
                self.told.append((path.removeprefix("/api/tasks/"), json.loads(body)))
                await self._stream(self.task, reader, writer)
            elif path == "/api/documents/events":
                await self._follow(writer)
            else:
                self._send(writer, 200, self._reply(method, path))
        except Refusal as refusal:
            error = {"code": refusal.code, "message": str(refusal), "retryable": True}
            self._send(writer, refusal.status, json.dumps({"error": error}))

    def _reply(self, method: str, path: str) -> str:
        if path == "/api/status":
            return self.status if isinstance(self.status, str) else self.status.model_dump_json()
        if method == "POST" and path.startswith("/api/ingest/"):
            self.orders.append(path.removeprefix("/api/ingest/"))
            return '{"n_queued": 1}'
        if path == "/api/conversations":
            return json.dumps([self._summary(c).model_dump() for c in self.conversations.values()])
        if found := re.fullmatch(r"/api/conversations/(\w+)", path):
            if method == "DELETE":
                del self.conversations[found[1]]
                return "{}"
            return self.conversations[found[1]].model_dump_json()
        if (found := re.fullmatch(r"/api/chunks/(\d+)/around\?n_blocks=\d+", path)) and int(
            found[1]
        ) in self.texts:
            return self.texts[int(found[1])].model_dump_json()
        raise Refusal(404, "not_found", f"nothing at {path}")

    def _summary(self, conversation: Conversation) -> ConversationSummary:
        turns = conversation.turns
        return ConversationSummary(
            id=conversation.id,
            title=conversation.title,
            n_turns=len(turns),
            updated=turns[-1].asked if turns else 0,
        )

    def _send(self, writer: asyncio.StreamWriter, status: int, body: str) -> None:
        data = body.encode()
        head = f"HTTP/1.1 {status} X\r\ncontent-length: {len(data)}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + data)

    async def _ask(
        self, request: AskRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.asked.append(request)
        if not self.answers:
            raise Refusal(503, "engine_not_ready", "the model is loading: 40 %")
        script = self.answers.popleft() if len(self.answers) > 1 else self.answers[0]
        await self._stream(script, reader, writer)

    async def _stream(
        self, script: Sequence[Step], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._begin(writer)
        playing = asyncio.ensure_future(self._play(script, writer))
        gone = asyncio.ensure_future(
            reader.read()
        )  # a client that asked sends nothing more: this ends when it leaves
        try:
            await asyncio.wait({playing, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                self.disconnected.set()
            elif not playing.cancelled():
                playing.result()
        finally:
            playing.cancel()
            gone.cancel()

    async def _play(self, script: Sequence[Step], writer: asyncio.StreamWriter) -> None:
        for step in script:
            match step:
                case asyncio.Event():
                    await step.wait()
                case str():
                    writer.write(step.encode())
                case int() | float():
                    await asyncio.sleep(step)
                case _:
                    self._event(writer, step)
            await writer.drain()

    async def _follow(self, writer: asyncio.StreamWriter) -> None:
        self._begin(writer)
        async with self._changed:
            while True:
                self._event(writer, self.documents)
                await writer.drain()
                await self._changed.wait()

    def _begin(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")

    def _event(self, writer: asyncio.StreamWriter, event: Wire) -> None:
        name = getattr(event, "event", "documents")
        writer.write(f"event: {name}\ndata: {event.model_dump_json()}\n\n".encode())


async def _main(socket: Path) -> None:
    from tests.tui.clinic import furnish

    daemon = FakeDaemon(socket)
    furnish(daemon)
    async with daemon:
        await asyncio.Event().wait()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(_main(Path(sys.argv[1])))
