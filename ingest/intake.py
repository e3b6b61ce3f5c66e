"""The first stage: what waits and is still is read and cut; its chunks go into flight, to be embedded.

One file after the other, on one thread. Embeds nothing, commits nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from ingest.chunk import Chunk, stream
from ingest.errors import ParserStoppedError
from ingest.flight import Flight, Pending
from ingest.folder import FileStat, look_at, sha256_of
from ingest.gate import Gate, StoppedError
from ingest.options import Embedder, IngestOptions, Parser
from ingest.progress import Progress
from ingest.record import Record, Stage, Version
from ingest.stillness import Stillness
from ingest.text_digest import digest_of
from ingest.unit import Outcome, Parsed, Unit
from ingest.whole import Step, read_whole

log = logging.getLogger(__name__)

BLOCK = 32  # chunks that go into flight together
NOTHING_KNOWN = Version(FileStat(0, 0, 0, 0, 0, 0), "", "")


class Intake:
    """Reads what waits.

    Args:
        hand_over: takes documents that need no embedding, or no more of it.
        on_change: called after each change of a document's state.
    """

    def __init__(
        self, *, record: Record, parser: Parser, embedder: Embedder, folder: Path, options: IngestOptions,
        gate: Gate, flight: Flight, progress: Progress, hand_over: Callable[[Pending], None],
        on_change: Callable[[], None],
    ) -> None:  # fmt: skip
        self._record = record
        self._parser = parser
        self._embedder = embedder
        self._folder = folder
        self._options = options
        self._gate = gate
        self._flight = flight
        self._progress = progress
        self._hand_over = hand_over
        self._on_change = on_change
        self._stillness = Stillness(folder, options.settle_ms / 1000)
        self._recovered = False

    def turn(self) -> float:
        """Read everything that waits and is still; return the seconds until the next may be.

        Raises:
            StoppedError: ingest is to stop.
        """
        if not self._recovered:
            self._gate.insist(
                self._record.recover
            )  # here, where a full disk is waited for, and not at the start
            self._recovered = True
        soonest = self._options.sweep_every_s
        for id, _ in self._gate.insist(self._record.waiting):
            self._gate.wait(0)
            path = self._gate.insist(lambda id=id: self._record.waiting_path(id))  # type: ignore[misc]
            left_s = self._stillness.left_s(path) if path is not None else None
            if path is None or left_s is None:
                continue  # removed since, or done; or the sweep will find out where it went
            if left_s > 0:
                soonest = min(soonest, max(left_s, 0.01))
            else:
                self._take(id, path)
        return soonest

    def _take(self, id: int, path: str) -> None:
        document = Pending(id, path, NOTHING_KNOWN)
        self._progress.read(path)
        try:
            self._read(document)
        except (StoppedError, ParserStoppedError):
            # Not begun, as far as the record is concerned: being stopped is no failed attempt.
            self._record.advance(id, Stage.WAITING)
            raise StoppedError from None
        except Exception as error:
            log.exception("ingest failed on %r", path)
            self._flight.fail(document, error)
            self._close(document)
        finally:
            self._progress.read("")

    def _read(self, document: Pending) -> None:
        self._gate.checkpoint()
        status = look_at(self._folder / document.path)
        if status is None:
            return  # gone since
        self._advance(document.id, Stage.PARSING)
        parsed = self._parsed(document)
        document.version = self._version(document.path, FileStat.of(status), parsed)
        self._flight.board(document)
        if parsed.outcome is Outcome.OK:
            self._advance(document.id, Stage.EMBEDDING)
            self._send(document, parsed)
            if not document.chunks:
                nothing = "there is no text in this file"
                document.version = replace(document.version, state=Outcome.EMPTY.value, reason=nothing)
        self._gate.wait(0)
        self._close(document)

    def _parsed(self, document: Pending) -> Parsed:
        def step(step: Step) -> None:
            self._gate.checkpoint()
            if step.page is not None:
                self._progress.page(step.n_done, step.n_steps - 1)  # the file itself was the first step

        shelf = _Shelf(self._record, self._gate, document.id)
        parsed = read_whole(self._parser, self._folder / document.path, shelf, step)
        self._progress.read(document.path)  # its last page is behind it
        return parsed

    def _version(self, path: str, stat: FileStat, parsed: Parsed) -> Version:
        return Version(
            stat=stat,
            sha256=parsed.sha256 or self._hash(path, parsed.outcome),
            state=parsed.outcome.value,
            reason=parsed.reason,
            format=parsed.format,
            title=parsed.title,
            n_pages=parsed.n_pages,
            notes=parsed.notes,
        )

    def _send(self, document: Pending, parsed: Parsed) -> None:
        """Cut what was read, and put what was not embedded before in front of the embedder, as it is cut."""
        max_tokens = min(self._options.chunk_tokens, self._embedder.max_tokens)
        chunks = stream(parsed.units, self._embedder, max_tokens, parsed.title)
        sha256 = document.version.sha256
        if self._gate.insist(lambda: self._record.has_twin(sha256)):
            chunks = self._with_twin(document, list(chunks))
        while block := list(islice(chunks, BLOCK)):
            digests = [digest_of(chunk.embed_text) for chunk in block]
            known = self._gate.insist(lambda digests=digests: self._record.known_vectors(digests))  # type: ignore[misc]
            self._flight.add(document, block, known)
            self._gate.wait(0)

    def _with_twin(self, document: Pending, chunks: Sequence[Chunk]) -> Iterator[Chunk]:
        """Yield the chunks; where the same bytes were embedded under another name, with their vectors in place."""
        texts = [chunk.text for chunk in chunks]
        twin = self._gate.insist(lambda: self._record.vectors_of_twin(document.version.sha256, texts))
        if twin is not None:
            document.vectors.update(zip((digest_of(c.embed_text) for c in chunks), twin, strict=True))
        yield from chunks

    def _close(self, document: Pending) -> None:
        if self._flight.close(document):
            self._hand_over(document)

    def _hash(self, path: str, outcome: Outcome) -> str:
        if outcome is Outcome.TOO_LARGE:
            return ""  # refused unread; reading all of it for the hash would be the same work
        try:
            return sha256_of(self._folder / path)
        except OSError:
            return ""

    def _advance(self, id: int, stage: Stage) -> None:
        self._gate.insist(lambda: self._record.advance(id, stage))
        self._on_change()


class _Shelf:
    """Keeps the pages of one document in the record; each one shows that reading it is not what stops the daemon."""

    def __init__(self, record: Record, gate: Gate, id: int) -> None:
        self._record = record
        self._gate = gate
        self._id = id

    def page_text(self, sha256: str, part: str, page: int) -> Sequence[Unit] | None:
        return self._gate.insist(lambda: self._record.page_text(sha256, part, page))

    def keep_page_text(self, sha256: str, part: str, page: int, units: Sequence[Unit]) -> None:
        self._gate.insist(lambda: self._record.keep_page_text(sha256, part, page, units))
        self._gate.insist(lambda: self._record.moves_on(self._id))
