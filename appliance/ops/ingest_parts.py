"""Ingest's parts as the daemon wires them, for one home, and threads at its priorities."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TypeVar

from appliance.config import Config
from appliance.errors import ConfigError
from appliance.ops.errors import BenchError
from ingest.dense import Dense
from ingest.library import Library
from ingest.options import IngestOptions
from models.embedder import Embedder, open_embedder
from models.registry import Registry

OPEN_S = 60.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shelf:
    """A record and its index."""

    library: Library
    dense: Dense


@contextmanager
def shelf(config: Config, fingerprint: str, n_dims: int) -> Iterator[Shelf]:
    """Open the record and the index of a home while the block runs; the index is ready."""
    config.state.mkdir(exist_ok=True)
    with (
        closing(Library(config.state / "library.db")) as library,
        closing(Dense(config.state / "chroma", library, fingerprint, n_dims)) as dense,
    ):
        if not dense.wait(OPEN_S):
            raise BenchError(f"the index is {dense.state}: {dense.reason}")
        yield Shelf(library, dense)


def embedder(config: Config) -> Embedder:
    """Open the embedder of a home.

    Raises:
        ConfigError: there is none.
    """
    installed = Registry(config.models).chosen("embed", config.settings.embed.model)
    if installed is None:
        raise ConfigError("no embedder is installed: run `appliance model pull --default --compile-apart`")
    return open_embedder(installed.path, config.settings.embed.backend)


def options(config: Config) -> IngestOptions:
    """Return how a home's ingest goes about its work."""
    ingest = config.settings.ingest
    return IngestOptions(
        settle_ms=ingest.settle_ms, sweep_every_s=ingest.sweep_every_s, chunk_tokens=ingest.chunk_tokens,
        embed_batch=config.settings.embed.batch, max_delete_share=ingest.max_delete_share,
    )  # fmt: skip


def at_nice(nice: int, work: Callable[[], T]) -> T:
    """Do something on a thread of its own at a nice level; return what came of it."""
    future: Future[T] = Future()

    def run() -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)
        try:
            future.set_result(work())
        except BaseException as error:  # raised again where it is waited for
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result()
