"""A foreign server that says what it is told to: for the words of servers that cannot be run here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """A response; text that is not JSON goes out as it is. `hangs`: nothing ends it."""

    status: int = 200
    body: Any = ""
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False

    def to_bytes(self) -> bytes:
        text = self.body if isinstance(self.body, str) else json.dumps(self.body, ensure_ascii=False)
        head = [f"HTTP/1.1 {self.status} Said", "Connection: close"]
        head += [f"{name}: {value}" for name, value in self.headers.items()]
        return ("\r\n".join(head) + "\r\n\r\n" + text).encode()


def stream(*chunks: Json | str, hangs: bool = False) -> Reply:
    """A reply of server-sent events."""
    lines = [chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False) for chunk in chunks]
    body = "".join(f"data: {line}\r\n\r\n" for line in lines)
    return Reply(200, ": ping\r\n\r\n" + body, {"Content-Type": "text/event-stream"}, hangs)


def text_chunk(text: str, finish_reason: str | None = None) -> Json:
    """A piece of an answer."""
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish_reason}]}


def models(*names: str, owned_by: str = "someone", **more: Any) -> Reply:
    """A list of models."""
    return Reply(body={"data": [{"id": name, "owned_by": owned_by, **more} for name in names]})


class ScriptedServer:
    """`replies`: "METHOD /path" → a reply, or what makes one of the request's body; others get 404."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply | Callable[[Json], Reply]] = {}
        self.requests: list[tuple[str, Json]] = []
        self.headers: list[str] = []
        self.n_hung_up = 0
        self.url = ""

    def asked(self, route: str) -> list[Json]:
        """Bodies of the requests to a route."""
        return [body for asked, body in self.requests if asked == route]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, path, _ = head.split(" ", 2)
            lengths = [line for line in head.lower().splitlines() if line.startswith("content-length:")]
            raw = await reader.readexactly(int(lengths[0].split(":")[1])) if lengths else b""
            body = json.loads(raw) if raw else {}
            route = f"{method} {path}"
            self.requests.append((route, body))
            self.headers.append(head)
            found = self.replies.get(route, Reply(404, {"error": {"message": "no such route"}}))
            reply = found if isinstance(found, Reply) else found(body)
            writer.write(reply.to_bytes())
            await writer.drain()
            if reply.hangs and await reader.read(1) == b"":
                self.n_hung_up += 1
        finally:
            writer.close()


@asynccontextmanager
async def scripted_server() -> AsyncIterator[ScriptedServer]:
    """Serve on a port of loopback while the block runs."""
    script = ScriptedServer()
    server = await asyncio.start_server(script.serve, "127.0.0.1", 0)
    script.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield script
