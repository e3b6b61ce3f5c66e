"""applianced: config → build parts → serve → stop. The only place where parts are wired together.

Import this only after `appliance.offline.enforce`: ChromaDB and onnxruntime read the environment as they are imported.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn

from appliance.answer.assistant import AnswerLimits, Assistant
from appliance.answer.left_blocks import LeftBlocks
from appliance.answer.likely import Likely
from appliance.answer.warmer import Warmer
from appliance.api.app import create_app
from appliance.api.caller import PeerProtocol
from appliance.api.parts import Parts
from appliance.changes import Changes
from appliance.checks.citations import Attributor
from appliance.config import Config
from appliance.conversations import Journal
from appliance.engine.absent import AbsentEngine
from appliance.engine.address import find_key, parse_address
from appliance.engine.interface import Engine
from appliance.engine.process import EngineProcess
from appliance.engine.remote import RemoteEngine, RemoteSpec
from appliance.engine.spec import spec_of
from appliance.errors import ConfigError
from appliance.listen import bind
from appliance.lock import only_daemon
from appliance.retrieval.retriever import Retriever
from appliance.settings import EngineSettings
from appliance.tasks.tasks import Tasks
from appliance.text.words import Words
from appliance.tuned_blocks import chosen as chosen_reuse
from ingest.dense import Dense
from ingest.library import Library
from ingest.options import IngestOptions
from ingest.parser import Parser
from ingest.pipeline import Ingest
from ingest.vectors import RecordVectors
from models.catalogue import load_catalogue
from models.embedder import Embedder, open_embedder
from models.registry import Registry
from models.reranker import open_reranker

log = logging.getLogger(__name__)

_STOP_S = 10  # for answers that are being made when the daemon is told to stop


def main(config: Config, notify_socket: str | None = None) -> None:
    """Serve one home until SIGTERM or SIGINT.

    Args:
        notify_socket: where systemd wants to hear that requests are answered (sd_notify(3)).

    Raises:
        AlreadyRunningError: another daemon owns the home.
        ConfigError: the settings cannot be served (no embedder installed, no such group).
    """
    for folder in (config.home, config.state, config.documents, config.models):
        _make_folder(folder)
    with only_daemon(config.home):
        asyncio.run(_serve(config, notify_socket))


async def _serve(config: Config, notify_socket: str | None) -> None:
    async with build(config) as parts:
        listening = bind(config.socket, config.settings.api.group)
        server = _Server(
            uvicorn.Config(
                create_app(parts), http=PeerProtocol, ws="none", lifespan="off", log_config=None, access_log=False,
                timeout_graceful_shutdown=_STOP_S,
            )
        )  # fmt: skip
        _stop_on_signals(server, parts.changes)
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, parts.engine.reload)
        log.info("serving %s (pid %d)", config.socket, os.getpid())
        _notify_ready(notify_socket)
        try:
            await server.serve([listening])
        finally:
            config.socket.unlink(missing_ok=True)
        log.info("stopping")


@asynccontextmanager
async def build(config: Config) -> AsyncIterator[Parts]:
    """Build the parts, run them while the block runs, stop them in reverse order."""
    settings, started = config.settings, time.monotonic()
    registry = Registry(config.models)
    async with AsyncExitStack() as stack:
        embedder = _embedder(config, registry)
        library = stack.enter_context(contextlib.closing(Library(config.state / "library.db")))
        journal = stack.enter_context(contextlib.closing(Journal(config.state / "journal.db")))
        dense = stack.enter_context(
            contextlib.closing(Dense(config.state / "chroma", library, embedder.fingerprint, embedder.n_dims))
        )
        engine = await stack.enter_async_context(_engine(config, registry))
        words, composes = Words(), _composes(config, registry)
        record_vectors = RecordVectors(library, embedder.fingerprint)
        reranker = open_reranker(registry, settings.embed.reranker, settings.embed.rerank_ms / 1000)
        retriever = Retriever(library, dense, record_vectors, embedder, config.documents, words, reranker)
        limits = AnswerLimits(
            settings.answer.n_passages,
            settings.answer.max_tokens,
            settings.answer.refuse_below,
            settings.answer.quote_above,
            settings.answer.ttft_target_s,
            composes,
        )
        attribute = partial(Attributor, words=words, embedder=embedder)
        assistant = Assistant(retriever, engine, journal, limits, attribute)
        trusted = settings.answer.compose == "never" or composes
        tasks = stack.enter_context(
            contextlib.closing(
                Tasks(library, config.documents, engine, words, config.state / "tasks.db", trusted=trusted)
            )
        )
        changes = Changes(asyncio.get_running_loop())

        def busy() -> bool:
            return (
                assistant.busy or tasks.busy or engine.status().n_running > 0
            )  # plain chat is an answer too

        ingest = stack.enter_context(_ingest(config, library, dense, embedder, busy, changes))
        left = LeftBlocks(config.state / "blocks", library.versions)
        await stack.enter_async_context(_running(left.follow(changes)))

        def idle() -> bool:
            state = ingest.status()
            return not busy() and (state.paused or not state.n_waiting)

        if settings.answer.read_ahead and composes:
            likely = Likely(library, journal, settings.answer.pinned)
            warmer = Warmer(engine, likely, idle, changes)
            await stack.enter_async_context(_running(warmer.run()))
        yield Parts(
            config=config, assistant=assistant, tasks=tasks, engine=engine, library=library, dense=dense,
            embedder=embedder.fingerprint, ingest=ingest, journal=journal, changes=changes,
            uptime_s=lambda: time.monotonic() - started,
        )  # fmt: skip


def _embedder(config: Config, registry: Registry) -> Embedder:
    installed = registry.chosen("embed", config.settings.embed.model)
    if installed is None:
        raise ConfigError("no embedder is installed: run `appliance model pull --default --compile-apart`")
    return open_embedder(installed.path, config.settings.embed.backend)


def _composes(config: Config, registry: Registry) -> bool:
    """Tell whether the model words the answers: as set, else unless there is none, or it is too small."""
    if config.settings.answer.compose != "auto":
        return config.settings.answer.compose == "always"
    if config.settings.engine.backend == "openai":
        return True
    model = registry.chosen("chat", config.settings.engine.model)
    if model is None:
        return False
    return all(known.composes for known in load_catalogue().models if known.name == model.name)


@asynccontextmanager
async def _engine(config: Config, registry: Registry) -> AsyncIterator[Engine]:
    settings = config.settings.engine
    if settings.backend == "openai":
        async with _remote_engine(settings) as remote:
            yield remote
        return
    model = registry.chosen("chat", settings.model)
    if model is None:
        yield AbsentEngine(
            "no chat model is installed: run `appliance model pull NAME`, then start the daemon again"
        )
        return
    spec = replace(
        spec_of(settings, model.path, model.name), prefixes=config.state / "prefixes",
        blocks=config.state / "blocks", model_sha256=model.sha256,
        reuse=chosen_reuse(settings, config.state, model, load_catalogue()),
    )  # fmt: skip
    engine = EngineProcess(spec)
    await engine.start()
    try:
        yield engine
    finally:
        await engine.stop()


@asynccontextmanager
async def _remote_engine(settings: EngineSettings) -> AsyncIterator[Engine]:
    engine = RemoteEngine(
        RemoteSpec(
            address=parse_address(settings.url), n_ctx=settings.n_ctx, max_sequences=settings.max_sequences,
            max_waiting=settings.max_waiting, model=settings.remote_model or "",
            key=find_key(settings.key_file, settings.key.get_secret_value() if settings.key else None),
        )
    )  # fmt: skip
    await engine.start()
    try:
        yield engine
    finally:
        await engine.stop()


@contextmanager
def _ingest(
    config: Config,
    library: Library,
    dense: Dense,
    embedder: Embedder,
    busy: Callable[[], bool],
    changes: Changes,
) -> Iterator[Ingest]:
    settings = config.settings.ingest
    options = IngestOptions(
        settle_ms=settings.settle_ms,
        sweep_every_s=settings.sweep_every_s,
        max_delete_share=settings.max_delete_share,
        chunk_tokens=settings.chunk_tokens,
        embed_batch=config.settings.embed.batch,
    )
    ingest = Ingest(
        library=library, dense=dense, parser=Parser(config.parse_limits), embedder=embedder,
        folder=config.documents, options=options,
        busy=busy, on_change=changes.announce,
    )  # fmt: skip
    ingest.start()
    try:
        yield ingest
    finally:
        ingest.stop()


@asynccontextmanager
async def _running(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Let something go on in the background while the block runs."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()):
            log.error("a task of the background has ended early", exc_info=error)


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: they end the process before our parts are stopped."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


def _stop_on_signals(server: uvicorn.Server, changes: Changes) -> None:
    def stop() -> None:
        server.should_exit = True
        changes.close()  # streams without an end would hold the server up

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{folder}: cannot be made: {error.strerror}; check its owner, or use another --home"
        ) from error


def _notify_ready(address: str | None) -> None:
    """Say that requests are answered; the model may still be loading, which status says."""
    if not address:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, contextlib.suppress(OSError):
        notify.sendto(b"READY=1", address.replace("@", "\0", 1) if address.startswith("@") else address)
