"""The stages of ingest alone and all together, on the same documents. Runs in a process of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from appliance.config import Config
from appliance.ops.bench import Say
from appliance.ops.errors import BenchError
from appliance.ops.ingest_parts import Shelf, at_nice, embedder, options, shelf
from ingest.chunk import Chunk, cut
from ingest.embedding import BATCH_TOKENS
from ingest.flight import WINDOW, Text, alike
from ingest.folder import FileStat, scan
from ingest.landing import FOLLOW_S
from ingest.parser import Parser
from ingest.pipeline import PARSER_VERSION, WORKER_NICE, Ingest
from ingest.record import READY, Record, Stage, Version
from ingest.sweep import Changes
from ingest.text_digest import digest_of
from ingest.unit import Outcome, Parsed
from ingest.whole import read_whole
from models.embedder import Embedder

STUCK_S = 900.0  # without any change; the longest a single file may take is a third of it
POLL_S = 0.05

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read and cut."""

    path: str
    parsed: Parsed
    chunks: Sequence[Chunk]


def stages(config: Config, say: Say) -> Mapping[str, float]:
    """Take each stage's time, one after the other."""
    model = embedder(config)
    documents, seconds = _read_and_cut(config, model, say)
    n_chunks = sum(len(document.chunks) for document in documents)
    say(f"embedding {n_chunks} chunks")
    vectors, seconds["embed_s"] = _timed(lambda: _embed(documents, model, config.settings.embed.batch))
    say("committing and indexing them")
    with shelf(config, model.fingerprint, model.n_dims) as parts:
        _, seconds["commit_index_s"] = _timed(lambda: _commit(parts, model, documents, vectors))
    return _counts(documents) | seconds


def embedder_alone(config: Config, say: Say) -> Mapping[str, float]:
    """Take the embedder's time, on the chunks of the same documents, in batches as the pipeline makes them."""
    model = embedder(config)
    documents, _ = _read_and_cut(config, model, say)
    _, seconds = _timed(lambda: _embed(documents, model, config.settings.embed.batch))
    return _counts(documents) | {"embed_s": seconds}


def pipeline(config: Config, say: Say) -> Mapping[str, float]:
    """Take the time of the whole of ingest, from the first file seen to the last chunk in the index."""
    model, n_files = embedder(config), len(scan(config.documents).files)
    changed = _Changed()
    with (
        shelf(config, model.fingerprint, model.n_dims) as parts,
        _running(config, parts, model, changed) as ingest,
    ):
        while True:
            time.sleep(POLL_S)
            changed.must_go_on(ingest)
            n_known, n_chunks = sum(parts.library.counts().values()), parts.library.n_chunks()
            if n_known == n_files and ingest.status().n_waiting == 0 and parts.dense.n_vectors == n_chunks:
                return {
                    "n_files": n_files,
                    "n_chunks": n_chunks,
                    "pipeline_s": perf_counter() - changed.first,
                }


@contextmanager
def _running(config: Config, parts: Shelf, model: Embedder, changed: Callable[[], None]) -> Iterator[Ingest]:
    ingest = Ingest(
        library=parts.library, dense=parts.dense, parser=Parser(config.parse_limits), embedder=model,
        folder=config.documents, options=options(config), busy=lambda: False, on_change=changed,
    )  # fmt: skip
    try:
        ingest.start()
        yield ingest
    finally:
        ingest.stop()


class _Changed:
    """When ingest first said that something changed, and when last."""

    def __init__(self) -> None:
        self.first = 0.0
        self._last = perf_counter()
        self._lock = threading.Lock()

    def __call__(self) -> None:
        with self._lock:
            self._last = perf_counter()
            self.first = self.first or self._last

    def must_go_on(self, ingest: Ingest) -> None:
        if perf_counter() - self._last > STUCK_S:
            raise BenchError(f"ingest stands still: {ingest.status()}")


def _read_and_cut(config: Config, model: Embedder, say: Say) -> tuple[list[Document], dict[str, float]]:
    paths = sorted(scan(config.documents).files)
    say(f"reading {len(paths)} files")
    parser = Parser(config.parse_limits)
    parser.start()
    try:
        read_whole(parser, config.documents / paths[0])  # the server's imports are no part of a stage
        read, parse_s = _timed(lambda: [read_whole(parser, config.documents / path) for path in paths])
    finally:
        parser.stop()
    max_tokens = min(options(config).chunk_tokens, model.max_tokens)

    def chunks_of(parsed: Parsed) -> list[Chunk]:
        return cut(parsed.units, model, max_tokens, parsed.title) if parsed.outcome is Outcome.OK else []

    chunks, cut_s = _timed(lambda: [chunks_of(parsed) for parsed in read])
    documents = [Document(*each) for each in zip(paths, read, chunks, strict=True)]
    if not any(chunks):
        raise BenchError("there is no text in these documents")
    return documents, {"parse_s": parse_s, "cut_s": cut_s}


def _embed(
    documents: Sequence[Document], model: Embedder, max_texts: int
) -> dict[bytes, NDArray[np.float32]]:
    """Embed each text once; what is alike in length together, chosen as `Flight` chooses."""
    waiting: dict[bytes, Text] = {}
    for document in documents:
        for chunk in document.chunks:
            digest = digest_of(chunk.embed_text)
            waiting.setdefault(digest, Text(digest, chunk.embed_text, chunk.n_tokens, []))
    vectors: dict[bytes, NDArray[np.float32]] = {}
    while waiting:
        batch = alike(islice(waiting.values(), WINDOW), max_texts, BATCH_TOKENS)
        vectors.update(
            zip((text.digest for text in batch), model.embed([text.text for text in batch]), strict=True)
        )
        for text in batch:
            del waiting[text.digest]
    return vectors


def _commit(
    parts: Shelf, model: Embedder, documents: Sequence[Document], vectors: Mapping[bytes, NDArray[np.float32]]
) -> None:
    record = Record(parts.library.database, model.fingerprint, model.n_dims, PARSER_VERSION)
    stat = FileStat(0, 0, 0, 0, 0, 0)
    record.apply(Changes(new={document.path: stat for document in documents}), {})
    by_path = {document.path: document for document in documents}
    followed = perf_counter()
    for id, path in record.waiting():
        chunks, parsed = by_path[path].chunks, by_path[path].parsed
        record.advance(id, Stage.EMBEDDING)
        version = Version(stat, parsed.sha256, READY if chunks else Outcome.EMPTY.value, title=parsed.title)
        if chunks:
            rows = np.stack([vectors[digest_of(chunk.embed_text)] for chunk in chunks])
            version = replace(version, chunks=chunks, vectors=rows)
        record.finish(id, version)
        if perf_counter() - followed > FOLLOW_S:
            parts.dense.follow()
            followed = perf_counter()
    parts.dense.follow()


def _counts(documents: Sequence[Document]) -> dict[str, float]:
    """Count; a file without pages counts as one, as ingest's status counts."""
    return {
        "n_files": len(documents),
        "n_pages": sum(document.parsed.n_pages or 1 for document in documents),
        "n_chunks": sum(len(document.chunks) for document in documents),
    }


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """Do something at the workers' priority; return what came of it, and the seconds it took."""
    started = perf_counter()
    return at_nice(WORKER_NICE, work), perf_counter() - started
