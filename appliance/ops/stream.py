"""One chat over the socket, with the time of each piece of its answer.

A client of its own, not `appliance.client`: it shares two cores with the engine, so it does nothing but read lines.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from appliance.ops import figures
from appliance.ops.errors import BenchError

Message = dict[str, str]
_MAX_LINE = 1 << 20
_DONE = b"data: [DONE]"


class RefusedError(BenchError):
    """The daemon refused a chat: the message is what it said."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"the daemon refused with {status}: {said}")
        self.status = status


@dataclass(frozen=True, slots=True)
class Chat:
    """What to ask; greedy, so that it is answered alike each time.

    Attributes:
        grammar: GBNF that the answer must follow; empty: none.
    """

    model: str
    messages: Sequence[Message]
    max_tokens: int
    grammar: str = ""

    @property
    def body(self) -> bytes:
        """The request as /v1/chat/completions takes it."""
        return json.dumps({
            "model": self.model, "messages": list(self.messages), "max_tokens": self.max_tokens, "stream": True,
            "stream_options": {"include_usage": True}, "temperature": 0, "grammar": self.grammar,
        }).encode()  # fmt: skip


@dataclass(slots=True)
class Stream:
    """An answer as it arrived.

    Attributes:
        asked: when it was asked, in seconds of `perf_counter`.
        times: when each piece of text arrived.
        n_tokens: as the daemon counted them; 0 until the end.
    """

    asked: float
    times: list[float] = field(default_factory=list)
    text: str = ""
    n_prompt: int = 0
    n_tokens: int = 0

    @property
    def ttft_s(self) -> float:
        """Seconds until the first text."""
        return self.times[0] - self.asked

    @property
    def tps(self) -> float:
        """Tokens per second after the first."""
        return figures.rate(self.n_tokens, self.times)


async def ask(socket: Path, chat: Chat) -> Stream:
    """Ask, and return the whole answer.

    Raises:
        BenchError: the daemon refused, failed or went away, or there was nothing in the answer.
    """
    stream = Stream(perf_counter())
    async with aclosing(pieces(socket, chat, stream)) as arriving:
        async for _ in arriving:
            pass
    if not stream.times:
        raise BenchError(f"{chat.model} gave an empty answer, which has no speed")
    return stream


async def pieces(socket: Path, chat: Chat, stream: Stream) -> AsyncGenerator[Stream, None]:
    """Ask, and yield `stream` after each piece of text is noted in it; closing it hangs up.

    Raises:
        BenchError: as in `ask`.
    """
    try:
        reader, writer = await asyncio.open_unix_connection(str(socket), limit=_MAX_LINE)
    except OSError as error:
        raise BenchError(f"no daemon answers on {socket}: {error.strerror}") from error
    try:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n" \
               f"Content-Length: {len(chat.body)}\r\nConnection: close\r\n\r\n"  # fmt: skip
        writer.write(head.encode() + chat.body)
        status = int((await reader.readline()).split()[1:2][0])
        if status != 200:
            raise RefusedError(status, (await reader.read()).decode("utf-8", "replace").strip()[-300:])
        kept: list[bytes] = []
        while (line := await reader.readline()) and not line.startswith(_DONE):
            if not line.startswith(b"data: "):
                continue
            kept.append(line)
            if b'"content": ""' not in line and b'"content"' in line:
                stream.times.append(perf_counter())
                yield stream
        _read(kept, stream)
    except (OSError, IndexError) as error:
        raise BenchError(f"the daemon on {socket} went away: {error}") from error
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def _read(lines: Sequence[bytes], stream: Stream) -> None:
    """Take text and counts out of the lines; after the last one, so that parsing delays none."""
    for line in lines:
        data: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
        if "error" in data:
            raise BenchError(f"the answer broke off: {data['error']['message']}")
        for choice in data.get("choices") or ():
            stream.text += choice["delta"].get("content") or ""
        if usage := data.get("usage"):
            stream.n_prompt, stream.n_tokens = usage["prompt_tokens"], usage["completion_tokens"]
