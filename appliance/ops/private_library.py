"""A record of some folder, made for one evaluation: real ingest in this process, in a home that is then deleted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from appliance.config import Config
from appliance.ops.errors import BenchError
from appliance.ops.ingest_parts import embedder, options, shelf
from appliance.retrieval.retriever import Retriever
from appliance.text.words import Words
from ingest.access import Viewer
from ingest.library import Library
from ingest.parser import Parser
from ingest.pipeline import Ingest
from ingest.vectors import RecordVectors
from models.registry import Registry
from models.reranker import open_reranker

POLL_S = 0.5
SAY_EVERY_S = 5.0
EVERYTHING = Viewer(0, frozenset())  # who evaluates reads all


@dataclass(frozen=True, slots=True)
class PrivateLibrary:
    """Documents that were read, and search over them."""

    library: Library
    retriever: Retriever
    folder: Path


@contextmanager
def private_library(config: Config, folder: Path, say: Callable[[str], None]) -> Iterator[PrivateLibrary]:
    """Read a folder with the settings of a home, and search it while the block runs. Writes nothing into the folder.

    Raises:
        BenchError: there is nothing in the folder, or reading stands still.
        ConfigError: no embedder is installed.
    """
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory(prefix="appliance-evaluate-")))
        private, settings = replace(config, home=home), config.settings.embed
        model = embedder(config)
        opened = stack.enter_context(shelf(private, model.fingerprint, model.n_dims))
        ingest = Ingest(
            library=opened.library, dense=opened.dense, parser=Parser(config.parse_limits), embedder=model,
            folder=folder, options=replace(options(config), settle_ms=0), busy=lambda: False, on_change=lambda: None,
        )  # fmt: skip
        ingest.start()
        stack.callback(ingest.stop)
        _until_read(ingest, opened.library, folder, say)
        vectors = RecordVectors(opened.library, model.fingerprint)
        second = open_reranker(Registry(config.models), settings.reranker, settings.rerank_ms / 1000)
        retriever = Retriever(opened.library, opened.dense, vectors, model, folder, Words(), second)
        yield PrivateLibrary(opened.library, retriever, folder)


def _until_read(ingest: Ingest, library: Library, folder: Path, say: Callable[[str], None]) -> None:
    said = 0.0
    while True:
        time.sleep(POLL_S)
        state, counts = ingest.status(), library.counts()
        if state.problem:
            raise BenchError(f"{folder}: {state.problem}")
        if time.monotonic() - said > SAY_EVERY_S:
            said = time.monotonic()
            say(f"reading {folder}: {sum(counts.values()) - state.n_waiting} of {sum(counts.values())} files")
        if counts and not state.n_waiting:
            break
        if not counts and not any(folder.iterdir()):
            raise BenchError(f"{folder}: holds no documents")
    if not library.n_chunks():
        raise BenchError(f"{folder}: no document in it could be read")
