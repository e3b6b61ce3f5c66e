"""Ingest on a folder of its own, as tests of the pipeline use it: real folder, parse server, SQLite and Chroma."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ingest.access import Viewer
from ingest.dense import Dense
from ingest.library import Library
from ingest.options import Embedder, IngestOptions
from ingest.parser import Parser
from ingest.pipeline import Ingest
from ingest.stored import StoredDocument
from ingest.unit import Parsed

ROOT = Viewer(0, frozenset())
OPTIONS = IngestOptions(settle_ms=60, sweep_every_s=3.0, retry_s=0.3)


class KeptParser:
    """The real parser, started once for all tests: Ingest may start and stop it as it likes."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.paths: list[str] = []

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def parse(self, path: Path, part: str | None = None, page: int | None = None) -> Parsed:
        self.paths.append(path.name)
        return self.parser.parse(path, part, page)


class Desk:
    """Ingest on a folder of its own."""

    def __init__(self, home: Path, parser: KeptParser, embedder: Embedder) -> None:
        self.home = home
        self.folder = home / "documents"
        self.folder.mkdir()
        self.parser = parser
        self.embedder = embedder
        self.busy = False
        self.n_changes = 0
        self.options = OPTIONS

    def start(self) -> None:
        self.library = Library(self.home / "library.db")
        self.dense = Dense(
            self.home / "chroma", self.library, self.embedder.fingerprint, self.embedder.n_dims
        )
        self.ingest = Ingest(
            library=self.library, dense=self.dense, parser=self.parser, embedder=self.embedder, folder=self.folder,
            options=self.options, busy=lambda: self.busy, on_change=self._changed,
        )  # fmt: skip
        self.ingest.start()

    def stop(self) -> None:
        self.ingest.stop()
        self.dense.close()
        self.library.close()

    def _changed(self) -> None:
        self.n_changes += 1

    def documents(self) -> dict[str, StoredDocument]:
        return {document.path: document for document in self.library.documents(ROOT)}

    def states(self) -> dict[str, str]:
        return {path: document.state for path, document in self.documents().items()}

    def until(self, holds: Callable[[], bool], timeout_s: float = 20.0) -> None:
        deadline = time.monotonic() + timeout_s
        while not holds():
            assert time.monotonic() < deadline, (self.states(), self.ingest.status())
            time.sleep(0.02)

    def until_states(self, **states: str) -> None:
        self.until(
            lambda: {p.rpartition("/")[2].partition(".")[0]: s for p, s in self.states().items()} == states
        )

    def words(self, query: str) -> list[str]:
        ids = [id for id, _ in self.library.lexical(query, 20, ROOT)]
        found = self.library.chunks(ids, ROOT)
        return [found[id].document.path for id in ids]

    def near(self, text: str) -> str:
        """Return the path of the nearest chunk."""
        assert self.dense.wait(30)
        self.dense.follow()  # it comes after the commit
        [(id, _)] = self.dense.query(self.embedder.embed([text])[0], 1)
        return self.library.chunks([id], ROOT)[id].document.path
