"""A record with documents, and tasks over them by a scripted engine."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from appliance.engine.request import GenerateRequest
from appliance.tasks.steps import Run
from appliance.tasks.tasks import Tasks
from appliance.text.words import Words
from ingest.access import Viewer
from ingest.chunk import Chunk
from ingest.folder import FileStat
from ingest.library import Library
from ingest.locator import Locator
from ingest.record import READY, Record, Stage, Version
from ingest.sweep import Changes
from tests.ingest.hash_embedder import HashEmbedder
from tests.tasks.scripted_engine import ScriptedEngine

OWNER, GUEST = Viewer(os.getuid(), frozenset({os.getgid()})), Viewer(11, frozenset())
_EMBEDDER = HashEmbedder()
_Event = TypeVar("_Event")


class Bench:
    """A folder, its record, and tasks that an engine answers.

    Attributes:
        answer: what the engine says to a request; replace it before a task.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / "documents"
        self.folder.mkdir()
        self.library = Library(home / "library.db")
        self.record = Record(self.library.database, _EMBEDDER.fingerprint, _EMBEDDER.n_dims, parser_version=1)
        self.answer: Callable[[GenerateRequest], str] = lambda request: "It is so."
        self.begin()

    def begin(self, n_ctx: int = 4096) -> None:
        """Start the daemon's part anew."""
        self.engine = ScriptedEngine(lambda request: self.answer(request), n_ctx)
        self.tasks = Tasks(self.library, self.folder, self.engine, Words(), self.home / "tasks.db")

    def restart(self, n_ctx: int = 4096) -> None:
        """Stop it, and start it anew."""
        self.tasks.close()
        self.begin(n_ctx)

    def put(
        self, path: str, *texts: str, mode: int = 0o644, state: str = READY, flags: tuple[str, ...] = ()
    ) -> int:
        """Put a document into the folder and the record, a chunk and a page for each text."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(texts))
        file.chmod(mode)
        look = FileStat.of(file.stat())
        known = self.record.entries()
        self.record.apply(Changes(changed={path: look}) if path in known else Changes(new={path: look}), {})
        id = self.record.entries()[path].id
        if state in ("waiting", "parsing"):
            return id
        self.record.advance(id, Stage.PARSING)
        chunks = [
            Chunk(text, Locator(page=n), 5, text, frozenset(flags[n - 1 : n]))
            for n, text in enumerate(texts, 1)
        ]
        digest = sha256("\n".join(texts).encode()).hexdigest()
        version = Version(
            look, digest, state, reason="" if state == READY else "it is torn", format="txt",
            chunks=chunks, vectors=_EMBEDDER.embed(list(texts)),
        ) if state == READY else Version(look, digest, state, reason="it is torn")  # fmt: skip
        assert self.record.finish(id, version)
        return id


async def all_of(events: AsyncGenerator[_Event, None]) -> list[_Event]:
    """Return every event of a task."""
    return [event async for event in events]


async def last_of(events: AsyncGenerator[_Event, None]) -> Any:
    """Return the event that a task ends with."""
    return (await all_of(events))[-1]


def run(viewer: Viewer = OWNER, **more: Any) -> Run:
    """Return a new run of a task."""
    return Run(viewer, **more)
