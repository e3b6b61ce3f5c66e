"""Has the model read passages before anyone asks about them, while the box has nothing else to do.

Which passages is for `likely`, how they are kept for the engine, which leaves them at once when somebody asks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from appliance.answer import prompt
from appliance.answer.likely import Likely
from appliance.api.schema import Passage
from appliance.changes import Changes
from appliance.engine.interface import Engine
from appliance.engine.request import EngineStatus
from appliance.errors import EngineError, JournalError
from appliance.text.guard import defused
from ingest.errors import LibraryError

log = logging.getLogger(__name__)

FILLED = 0.8  # of the room for blocks: the rest is for what is asked about, so that none of it is evicted for a guess


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds.

    Attributes:
        quiet: nobody must have asked for so long: who reads an answer asks the next question soon.
        poll: between two looks whether it is quiet.
        retry: after an error.
        again: after all was read and nothing has changed; what was asked meanwhile counts then.
    """

    quiet: float = 5.0
    poll: float = 1.0
    retry: float = 60.0
    again: float = 600.0


class Warmer:
    """Prepares passages in the background.

    Args:
        idle: nobody asks, and no document waits to be read; blocking.
        changes: of the record.
    """

    def __init__(
        self,
        engine: Engine,
        likely: Likely,
        idle: Callable[[], bool],
        changes: Changes,
        pace: Pace | None = None,
    ) -> None:
        self._engine = engine
        self._likely = likely
        self._idle = idle
        self._changes = changes
        self._pace = pace or Pace()
        self._problem = ""

    async def run(self) -> None:
        """Prepare what is likely to be asked, until `changes` is closed."""
        while (seen := await self._changes.after(-1)) is not None:
            try:
                await self._quiet()
                is_done = await self._prepare_likely()
            except (EngineError, LibraryError, JournalError) as error:
                await self._put_off(str(error))
            except Exception:
                log.exception("passages could not be read ahead")
                await asyncio.sleep(self._pace.retry)
            else:
                if is_done:
                    await self._changes.within(seen, self._pace.again)

    async def _quiet(self) -> None:
        """Wait until nothing has happened for a while."""
        clock = asyncio.get_running_loop().time
        since = clock()
        while clock() - since < self._pace.quiet:
            await asyncio.sleep(self._pace.poll)
            if not await self._may():
                since = clock()

    async def _prepare_likely(self) -> bool:
        """Prepare group after group; return whether all is done that there is, or is room for; else someone came."""
        groups = self._likely.groups()
        while (group := await asyncio.to_thread(next, groups, None)) is not None:
            if not await self._may():
                return False
            if not _has_room(self._engine.status(), len(group)):
                return True
            if await self._engine.prepare(prompt.ahead(await asyncio.to_thread(_readable, group))):
                self._problem = ""
            else:  # not again, or one that can never be kept would stand before all others
                await self._put_off("the engine keeps none of them")
        return True

    async def _may(self) -> bool:
        status = self._engine.status()
        if status.state != "ready" or not status.reuse.joins:
            return False
        return await asyncio.to_thread(self._idle)

    async def _put_off(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            log.warning("passages are not read ahead for now: %s", problem)
        await asyncio.sleep(self._pace.retry)


def _readable(passages: Sequence[Passage]) -> list[Passage]:
    """What a question's prompt would hold of them."""
    return [defused(passage) for passage in passages]


def _has_room(status: EngineStatus, n: int) -> bool:
    """Whether `n` passages more fit, if they are like those that are kept."""
    each = status.block_bytes / status.n_blocks if status.n_blocks else 0
    return status.block_bytes + n * each < FILLED * status.max_block_bytes
