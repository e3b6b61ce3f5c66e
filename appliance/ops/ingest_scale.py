"""Ingest where much is there already: a sweep of unchanged files, and a large index. Runs in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from appliance.config import Config
from appliance.ops.bench import Say
from appliance.ops.errors import BenchError
from appliance.ops.figures import percentile
from appliance.ops.footprint import footprint
from appliance.ops.ingest_parts import Shelf, at_nice, shelf
from appliance.ops.made_language import Language
from appliance.retrieval.query import Query as Asked
from appliance.retrieval.query import match
from appliance.retrieval.retriever import Retriever
from appliance.text.words import Words
from ingest.access import Viewer
from ingest.chunk import Chunk
from ingest.folder import FileStat, look_at
from ingest.landing import FOLLOW_S
from ingest.library import Library
from ingest.locator import Locator
from ingest.pipeline import PARSER_VERSION, SWEEPER_NICE, WORKER_NICE
from ingest.record import READY, Record, Stage, Version
from ingest.sweep import Changes
from ingest.sweeper import Sweeper
from ingest.vectors import RecordVectors

IN_A_FOLDER = 100
N_DIMS = 384  # of all-MiniLM-L6-v2
N_WORDS = 100  # of a chunk: about 200 tokens of an embedder
N_TOKENS = 200
N_PASSAGES, N_CANDIDATES = 4, 40  # as `answer.n_passages` is by default, and what the search asks for then
N_QUERY_WORDS = 6
NEARNESS = (
    1.5  # length of the noise around a document's own direction, 1: its chunks are alike at a cosine of 0.3
)
FINGERPRINT = "made-vectors"
EVERYTHING = Viewer(0, frozenset())
MB = 1e6

Vectors = NDArray[np.float32]


def unchanged(config: Config, say: Say, n_files: int, n_runs: int) -> Mapping[str, float]:
    """Sweep files that the record holds, again and again; return seconds: the median, and the first after a start."""
    say(f"making a record of {n_files} files")
    for number in range(n_files):
        file = config.documents / f"folder-{number // IN_A_FOLDER:03}" / f"file-{number:05}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"File {number}.\n", encoding="utf-8")
    config.state.mkdir(exist_ok=True)
    library = Library(config.state / "library.db")
    try:
        record = Record(library.database, FINGERPRINT, N_DIMS, PARSER_VERSION)
        Sweeper(record, config.documents, 0).sweep()
        _finish_unread(record, config.documents)
        say(f"sweeping {n_files} unchanged files")
        sweeper = Sweeper(record, config.documents, 0)
        first_s, *later = (at_nice(SWEEPER_NICE, lambda: _sweep(sweeper)) for _ in range(1 + n_runs))
        return {"unchanged_s": median(later), "first_s": first_s, "n_files": len(record.entries())}
    finally:
        library.close()


def _finish_unread(record: Record, folder: Path) -> None:
    for id, path in record.waiting():
        status = look_at(folder / path)
        assert status is not None, "we wrote it"
        record.advance(id, Stage.EMBEDDING)
        record.finish(id, Version(FileStat.of(status), f"{id:064x}", READY))


def _sweep(sweeper: Sweeper) -> float:
    started = perf_counter()
    swept = sweeper.sweep()
    assert swept.n_written == 0, "nothing changed"
    return perf_counter() - started


def large_index(
    config: Config, say: Say, n_documents: int, n_chunks_each: int, n_queries: int
) -> Mapping[str, float]:
    """Fill a record and an index with made text and made vectors, then search them."""
    with shelf(config, FINGERPRINT, N_DIMS) as parts:
        made = Made(n_chunks_each)
        seconds = at_nice(WORKER_NICE, lambda: _fill(parts, made, config.documents, n_documents, say))
        held = footprint()
        say(f"searching {parts.dense.n_vectors} chunks")
        return {
            "n_chunks": parts.library.n_chunks(), "n_indexed": parts.dense.n_vectors, **seconds,
            "rss_mb": held.rss / MB, "peak_mb": held.peak / MB, "disk_mb": _bytes_in(config.state) / MB,
            **_search(parts, made, config.documents, n_queries),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for: words, and a vector near a chunk's."""

    words: str
    vector: Vectors


class Made:
    """Documents of made words, with unit vectors that are alike within a document; the same each time."""

    def __init__(self, n_chunks_each: int) -> None:
        self._language = Language(3)
        self._random = np.random.default_rng(3)
        self._n_chunks_each = n_chunks_each
        self._seen: list[tuple[str, Vectors]] = []  # a chunk of each document

    def document(self, number: int) -> tuple[list[Chunk], Vectors]:
        """Return chunks and their vectors, (n_chunks, n_dims)."""
        texts = [self._language.paragraph(N_WORDS) for _ in range(self._n_chunks_each)]
        chunks = [Chunk(text, Locator(page=n), N_TOKENS, text) for n, text in enumerate(texts, 1)]
        noise = _units(self._random, self._n_chunks_each)
        vectors = _normalised(_units(self._random, 1) + NEARNESS * noise)
        self._seen.append((texts[0], vectors[0]))
        return chunks, vectors

    def queries(self, n: int) -> Iterator[Query]:
        """Yield queries, each about one chunk."""
        for number in range(n):
            text, vector = self._seen[number * len(self._seen) // n]
            near = _normalised(vector + _units(self._random, 1)[0])
            yield Query(self._language.query(text, N_QUERY_WORDS), near)


def _fill(parts: Shelf, made: Made, folder: Path, n_documents: int, say: Say) -> dict[str, float]:
    """Commit document after document, the index following as often as in ingest; return the seconds of both."""
    folder.mkdir(exist_ok=True)
    paths = [f"document-{number:04}.txt" for number in range(n_documents)]
    for path in paths:
        (folder / path).write_text(path, encoding="utf-8")  # a search asks whether its file is there
    record = Record(parts.library.database, FINGERPRINT, N_DIMS, PARSER_VERSION)
    stats = {path: FileStat.of((folder / path).stat()) for path in paths}
    record.apply(Changes(new=stats), {})
    commit_s = index_s = behind_s = 0.0
    for number, (id, path) in enumerate(record.waiting()):
        if number % max(1, n_documents // 10) == 0:
            say(f"committing and indexing, document {number} of {n_documents}")
        chunks, vectors = made.document(number)
        record.advance(id, Stage.EMBEDDING)
        version = Version(stats[path], f"{id:064x}", READY, title=path, chunks=chunks, vectors=vectors)
        took_s = _seconds(lambda id=id, version=version: record.finish(id, version))  # type: ignore[misc]
        commit_s, behind_s = commit_s + took_s, behind_s + took_s
        if behind_s > FOLLOW_S:
            index_s, behind_s = index_s + _seconds(parts.dense.follow), 0.0
    index_s += _seconds(parts.dense.follow)
    return {"commit_s": commit_s, "index_s": index_s}


def _search(parts: Shelf, made: Made, folder: Path, n_queries: int) -> dict[str, float]:
    """Search in three ways, each time for something else: what was just searched for is in caches."""
    given = _Given()
    vectors = RecordVectors(parts.library, FINGERPRINT)
    retriever = Retriever(parts.library, parts.dense, vectors, given, folder, Words())
    ways: dict[str, Callable[[Query], object]] = {
        "dense": lambda query: parts.dense.query(query.vector, N_CANDIDATES),
        "lexical": lambda query: _lexical(parts.library, query.words),
        "search": lambda query: retriever.search(query.words, EVERYTHING, N_PASSAGES),
    }
    times: dict[str, list[float]] = {way: [] for way in ways}
    for query, (way, search) in zip(made.queries(n_queries * len(ways)), cycle(ways.items()), strict=False):
        given.vector = query.vector
        times[way].append(_seconds(lambda search=search, query=query: search(query)) * 1000)  # type: ignore[misc]
    if parts.dense.state != "ready":
        raise BenchError(f"the index is {parts.dense.state}: {parts.dense.reason}")
    return {
        f"{way}_ms_{label}": percentile(taken, share)
        for way, taken in times.items() for label, share in (("p50", 0.5), ("p95", 0.95))
    }  # fmt: skip


def _lexical(library: Library, words: str) -> object:
    asked = Asked.of(words, Words()).words
    sought = match(asked, library.document_frequency(asked), library.n_chunks())
    return library.lexical(sought.fts, N_CANDIDATES, EVERYTHING)


class _Given:
    """An embedder that gives a vector it was told: what a search takes without embedding question and sentences."""

    vector: Vectors

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.repeat(self.vector.reshape(1, -1), len(texts), axis=0)


def _units(random: np.random.Generator, n: int) -> Vectors:
    return _normalised(random.standard_normal((n, N_DIMS), dtype=np.float32))


def _normalised(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), np.float32)


def _seconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def _bytes_in(folder: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())
