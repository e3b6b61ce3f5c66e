"""Blocks of document versions that have gone: their cells go too, since they hold what the document said.

The engine writes the blocks and knows no documents; the record knows which versions there are. What is removed here is
missed by nobody: a prompt whose block is gone computes it again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from appliance.changes import Changes
from ingest.errors import LibraryError

log = logging.getLogger(__name__)

_OWNER = re.compile(r"[0-9a-f]{8,64}")  # names of folders that hold blocks; nothing else is touched


@dataclass(frozen=True, slots=True)
class SweepTimes:
    """When a sweep follows another, in seconds.

    Attributes:
        apart: at least; a folder of new documents changes the record many times.
        again: after a change: an answer that was begun with the old version may write its blocks yet.
        idle: where nothing changes: an answer may have waited long.
    """

    apart: float = 5.0
    again: float = 60.0
    idle: float = 900.0


class LeftBlocks:
    """Removes the blocks that no document of the record owns any more.

    Args:
        folder: holds a folder for each version, named by the beginning of its SHA-256.
        versions: the SHA-256 of every document's version; blocking.
    """

    def __init__(
        self, folder: Path, versions: Callable[[], set[str]], times: SweepTimes | None = None
    ) -> None:
        self._folder = folder
        self._versions = versions
        self._times = times or SweepTimes()
        self._said: set[str] = set()

    async def follow(self, changes: Changes) -> None:
        """Sweep now, after each change, and once more a little later; until `changes` is closed."""
        seen = await changes.after(-1)
        wait_s = self._times.again
        while seen is not None:
            clean = await asyncio.to_thread(self.sweep)
            await asyncio.sleep(self._times.apart)
            now = await changes.within(seen, wait_s)
            wait_s = self._times.again if now != seen or not clean else self._times.idle
            seen = now

    def sweep(self) -> bool:
        """Remove what is left of versions that are gone; return whether all of it could be. Blocking."""
        try:
            # The folders first: one that appears after that is of a version that the record may only be about to know.
            found = list(self._owners())
            owned = self._versions() if found else set()
        except (OSError, LibraryError) as error:
            self._say(str(error))
            return False
        # By their beginnings, of whatever length the names are.
        known = {version[:length] for length in {len(name) for name in found} for version in owned}
        failed = [name for name in found if name not in known and not self._remove(self._folder / name)]
        if not failed:
            self._said.clear()
        return not failed

    def _owners(self) -> Iterator[str]:
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if _OWNER.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                        yield entry.name
        except FileNotFoundError:  # no block was ever kept
            return

    def _remove(self, owner: Path) -> bool:
        try:
            for file in owner.iterdir():
                file.unlink(missing_ok=True)
            owner.rmdir()
        except FileNotFoundError:  # the engine removes what is old
            return True
        except OSError as error:  # or it has just written another one: that goes with the next sweep
            self._say(str(error))
            return False
        log.debug("removed the blocks of %s", owner.name)
        return True

    def _say(self, problem: str) -> None:
        if problem not in self._said:
            self._said.add(problem)
            log.warning("blocks of documents that have gone are not removed yet: %s", problem)
