"""The lines of a streamed HTTP reply."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx


async def lines(response: httpx.Response) -> AsyncIterator[str]:
    """Yield the lines of a stream, ended by LF alone.

    httpx's own reader also breaks lines at U+2028 and U+0085, which JSON may hold as they are and documents do hold.
    """
    rest = b""
    async for piece in response.aiter_bytes():
        *complete, rest = (rest + piece).split(b"\n")
        for line in complete:
            yield line.decode()
