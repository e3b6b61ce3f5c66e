"""One file on its way into the record: parse, cut, embed, look again, commit. Knows no threads, no order."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ingest.chunk import Chunk, cut
from ingest.folder import FileStat, look_at, sha256_of
from ingest.record import READY, Record, Stage, Version
from ingest.text_digest import digest_of
from ingest.unit import Outcome, Parsed

log = logging.getLogger(__name__)

BUSY_POLL_S = 0.05
BUSY_MAX_S = 30.0  # then one batch goes through: a box that answers all day must still read its new documents


class Embedder(Protocol):
    """What ingest needs of an embedding model. Thread-safe."""

    @property
    def fingerprint(self) -> str:
        """Name that changes whenever the vectors would."""

    @property
    def n_dims(self) -> int:
        """Length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Usable tokens of a text, special tokens not counted."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, n_dims) vectors, L2-normalised."""

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens, special tokens not counted."""

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token."""


class Parser(Protocol):
    """What ingest needs of the parse server's client."""

    def start(self) -> None:
        """Get ready to parse."""

    def stop(self) -> None:
        """End; a `parse` under way raises ParserStoppedError."""

    def parse(self, path: Path) -> Parsed:
        """Read one file; whatever the file does is an outcome."""


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How ingest goes about its work; see `ingest.*` and `embed.batch` of the settings.

    Attributes:
        chunk_tokens: longest chunk, never above the embedder's window.
        retry_s: after a full disk, and while the folder is missing.
        max_delete_share: of all documents; more that are missing at once are kept until someone confirms.
    """

    settle_ms: int = 500
    sweep_every_s: float = 300.0
    chunk_tokens: int = 200
    embed_batch: int = 8
    retry_s: float = 30.0
    max_delete_share: float = 0.25


class StoppedError(Exception):
    """Ingest was told to stop; the file goes on waiting."""


class Intake:
    """Takes files in, one at a time.

    Args:
        busy: tells whether someone's answer is being made.
        on_change: called after each change of a document's state.
        stopping: set when the work must end soon.
    """

    def __init__(
        self, *, record: Record, parser: Parser, embedder: Embedder, folder: Path, options: IngestOptions,
        busy: Callable[[], bool], on_change: Callable[[], None], stopping: threading.Event,
    ) -> None:  # fmt: skip
        self._record = record
        self._parser = parser
        self._embedder = embedder
        self._folder = folder
        self._options = options
        self._busy = busy
        self._on_change = on_change
        self._stopping = stopping

    def take(self, id: int, path: str) -> None:
        """Bring a waiting document to its final state, or back to the queue when its file moved under us.

        Raises:
            StoppedError, ParserStoppedError: interrupted; the document is as the record shows it.
            LibraryError, OSError: the record or the disk failed; likewise.
        """
        status = look_at(self._folder / path)
        if status is None:
            return  # the sweep will find out where it went
        before = FileStat.of(status)
        self._yield_to_people()
        self._advance(id, Stage.PARSING)
        version = self._version(id, path, before)
        after = self._look_again(id, version)
        if after is None or not self._record.finish(id, replace(version, stat=after)):
            self._advance(id, Stage.WAITING)
        self._on_change()

    def blame(self, id: int, path: str, error: Exception) -> None:
        """Give a document up because of a failure of ours; it is read again when it changes."""
        status = look_at(self._folder / path)
        if status is not None:
            reason = f"the appliance failed on this file ({type(error).__name__}: {error}); its log says more"
            self._record.finish(id, Version(FileStat.of(status), "", Outcome.CRASHED.value, reason))
        self._on_change()

    def release(self, id: int) -> None:
        """Put an interrupted document back into the queue."""
        self._advance(id, Stage.WAITING)

    def _version(self, id: int, path: str, before: FileStat) -> Version:
        parsed = self._parser.parse(self._folder / path)
        version = Version(
            stat=before,
            sha256=parsed.sha256 or self._hash(path, parsed.outcome),
            state=parsed.outcome.value,
            reason=parsed.reason,
            format=parsed.format,
            title=parsed.title,
            n_pages=parsed.n_pages,
            notes=parsed.notes,
        )
        if parsed.outcome is not Outcome.OK:
            return version
        chunks = self._cut(parsed)
        if not chunks:
            return replace(version, state=Outcome.EMPTY.value, reason="there is no text in this file")
        self._advance(id, Stage.EMBEDDING)
        return replace(version, state=READY, chunks=chunks, vectors=self._embed(version.sha256, chunks))

    def _cut(self, parsed: Parsed) -> list[Chunk]:
        max_tokens = min(self._options.chunk_tokens, self._embedder.max_tokens)
        return cut(parsed.units, self._embedder, max_tokens, parsed.title)

    def _embed(self, sha256: str, chunks: Sequence[Chunk]) -> NDArray[np.float32]:
        """Embed what was not embedded before, in batches of texts of like length."""
        twin = self._record.vectors_of_twin(sha256, [chunk.text for chunk in chunks])
        if twin is not None:
            return twin
        texts = {digest_of(chunk.embed_text): chunk.embed_text for chunk in chunks}
        vectors = self._record.known_vectors(list(texts))
        left = sorted(
            (digest for digest in texts if digest not in vectors), key=lambda digest: len(texts[digest])
        )
        for start in range(0, len(left), self._options.embed_batch):
            self._yield_to_people()
            batch = left[start : start + self._options.embed_batch]
            vectors.update(zip(batch, self._embedder.embed([texts[digest] for digest in batch]), strict=True))
        return np.stack([vectors[digest_of(chunk.embed_text)] for chunk in chunks])

    def _yield_to_people(self) -> None:
        began = time.monotonic()
        while self._busy() and time.monotonic() - began < BUSY_MAX_S:
            if self._stopping.wait(BUSY_POLL_S):
                break
        if self._stopping.is_set():
            raise StoppedError

    def _look_again(self, id: int, version: Version) -> FileStat | None:
        """Return how the file looks now, or None when it is not what was read; it may have been renamed."""
        path = self._record.path_of(id)
        status = look_at(self._folder / path) if path is not None else None
        if path is None or status is None or not FileStat.of(status).same_version(version.stat):
            return None
        # Size and time can lie: a writer may work through a memory map, or set the time back.
        if version.sha256 and self._hash(path) != version.sha256:
            return None
        return FileStat.of(status)

    def _hash(self, path: str, outcome: Outcome = Outcome.OK) -> str:
        if outcome is Outcome.TOO_LARGE:
            return ""  # refused unread; reading all of it for the hash would be the same work
        try:
            return sha256_of(self._folder / path)
        except OSError:
            return ""

    def _advance(self, id: int, stage: Stage) -> None:
        self._record.advance(id, stage)
        self._on_change()
