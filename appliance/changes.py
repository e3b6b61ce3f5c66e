"""Tells listeners on the event loop that something changed; threads may say so."""

from __future__ import annotations

import asyncio


class Changes:
    """A counter that can be waited on. Many changes in a row wake a listener once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._n = 0
        self._changed = asyncio.Event()
        self._closed = False

    def announce(self) -> None:
        """Say that something changed; from any thread, never blocks, harmless once the loop is closed."""
        try:
            self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            return  # the daemon is stopping: nobody listens any more

    async def after(self, seen: int) -> int | None:
        """Wait until there were more changes than `seen`; return how many there were, None once closed."""
        while self._n <= seen and not self._closed:
            await self._changed.wait()
        return None if self._closed else self._n

    async def within(self, seen: int, seconds: float) -> int | None:
        """Like `after`, but return `seen` when nothing changed in that time."""
        try:
            async with asyncio.timeout(seconds):
                return await self.after(seen)
        except TimeoutError:
            return seen

    def close(self) -> None:
        """Send every listener home; on the loop's thread."""
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        self._n += 1
        self._changed.set()
        self._changed = asyncio.Event()
