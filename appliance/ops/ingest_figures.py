"""The figures of `bench ingest`: what each means and what it should be; how much is measured. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.ops.figures import Figure, Target, Unit, at_least, at_most


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured.

    Attributes:
        n_pages: of the documents that are made where none are given.
        n_unchanged: files of the sweep.
        n_files: small files after which the daemon's memory is looked at, twice.
        n_documents: of the large index, of `n_chunks_each` chunks.
        n_queries: of each kind of search.
        n_chat_pages: that wait when a chat is asked during ingest.
        n_decode: tokens of its answer.
    """

    n_pages: int = 400
    n_unchanged: int = 10_000
    n_files: tuple[int, int] = (1_000, 10_000)
    n_documents: int = 1_000
    n_chunks_each: int = 100
    n_queries: int = 200
    n_chat_pages: int = 200
    n_decode: int = 96
    n_runs: int = 5


FULL = Sizes()
SMALL = Sizes(
    n_pages=20, n_unchanged=300, n_files=(20, 60), n_documents=10, n_queries=20, n_chat_pages=40, n_decode=24, n_runs=1
)  # fmt: skip


def _figure(name: str, meaning: str, unit: Unit = "ratio", target: Target | None = None) -> Figure:
    return Figure(name, meaning, unit, small=target, usual=target)  # whichever chat model is in use


FIGURES: tuple[Figure, ...] = (
    _figure("stages", "chunks/s of the slowest stage; each alone on the same documents", "chunks/s"),
    _figure(
        "pipeline_ratio",
        "speed of the pipeline, from first file seen to last chunk indexed ÷ embedder alone",
        target=at_least(0.85),
    ),
    _figure("unchanged_s", "sweep of 10,000 unchanged files", "s", at_most(3)),
    _figure("chat_decode", "decode tokens/s of a chat during full ingest ÷ idle", target=at_least(0.80)),
    _figure("chat_ttft", "its TTFT during full ingest ÷ idle", target=at_most(1.3)),
    _figure("memory_ratio", "the daemon's peak memory after 10,000 small files ÷ 1,000", target=at_most(1.1)),
    _figure("peak_mb_1000", "the daemon's peak memory after 1,000 small files, no engine counted", "MB"),
    _figure("peak_mb_10000", "the same after 10,000", "MB"),
    _figure("index_100k", "p95 of a whole search over 100,000 chunks, the question's embedding not counted", "ms"),
)  # fmt: skip
NAMES = tuple(figure.name for figure in FIGURES)
