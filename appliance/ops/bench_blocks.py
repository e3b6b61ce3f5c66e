"""`appliance bench blocks`: the same questions with passages computed anew, joined, and joined with fresh beginnings.

A private daemon with the model reads the documents; each question passes through the modes one after the other, and
before each of them the engine's cache is emptied, so that nothing but the blocks on the disk can spare a prefill. What
is made of the replies is in `block_modes`.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Protocol, Self

from appliance.answer.prompt import SYSTEM
from appliance.api.schema import DoneEvent, ReuseRequest
from appliance.client import Client
from appliance.config import Config
from appliance.engine.request import Reuse
from appliance.errors import ConfigError
from appliance.ops import bench, golden, machine, texts
from appliance.ops.block_modes import EXACT, Comparison, Mode, Reply, figures_of, modes
from appliance.ops.block_report import BlocksReport
from appliance.ops.errors import BenchError
from appliance.ops.evaluate_answers import Answered, ask, until_read
from appliance.ops.golden import GoldenQuestion
from appliance.ops.made_facts import write_facts
from appliance.ops.private_daemon import PrivateDaemon
from appliance.ops.report import Report
from appliance.ops.rig import REMOTE, Rig, Subject
from appliance.ops.stream import Chat
from appliance.ops.stream import ask as chat

N_QUESTIONS = 60
MIN_OWN = 20  # of a site's own questions; fewer say less than made ones
# Tokens of a prompt that may be found in the cache beside the system prompt: the turn's and the passages' heads.
HEAD_TOKENS = 32
SPARE_CELLS = 64  # left over when the cache is emptied: fewer than any prompt with a passage has
REST_S = 120.0
POLL_S = 0.05
_SAY_EVERY = 5


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of which documents.

    Attributes:
        fresh: tokens of each passage that are computed anew, one mode for each number.
    """

    questions: Sequence[GoldenQuestion]
    folder: Path
    fresh: Sequence[int]


class Desk(Protocol):
    """Where questions are answered; the daemon in life, a script in tests."""

    async def ask(self, question: GoldenQuestion, reuse: Reuse) -> tuple[Answered, DoneEvent]:
        """Ask, with passages used in this way."""

    async def empty_cache(self) -> None:
        """Have the engine forget every prompt but its system prompt."""

    async def rest(self) -> None:
        """Wait until nothing is computed any more."""

    def drop_blocks(self) -> None:
        """Remove every kept passage."""

    def block_bytes(self) -> int:
        """Return what kept passages take on the disk."""


def run(subject: Subject, task: Task, say: Callable[[str], None]) -> BlocksReport:
    """Measure, and leave neither process nor file behind, whatever ends it.

    Raises:
        BenchError: the daemon, its model or an answer fails, or what should be computed was found in the cache.
    """
    return bench.run(_run(subject, task, say))


async def _run(subject: Subject, task: Task, say: Callable[[str], None]) -> BlocksReport:
    found, started, date = machine.describe(), perf_counter(), datetime.now(UTC)
    if found.is_busy:
        say(found.warning)
    if not any(path.is_file() for path in task.folder.rglob("*")):
        raise BenchError(f"{task.folder}: holds no documents")
    async with Rig(subject, say) as rig:
        settings = _settings(rig, subject, task.folder)
        daemon = PrivateDaemon(rig.folder / "home", settings)
        try:
            say(f"starting a private daemon with {rig.model.name}")
            await daemon.start()
            await until_read(daemon, task.folder, say)
            async with DaemonDesk(daemon, rig.model.name, task.folder) as desk:
                comparison = await compare(desk, task, say)
        finally:
            await daemon.stop()
    report = Report(
        machine=found, model=subject.name, date=date.strftime("%Y-%m-%dT%H:%M:%SZ"), settings=settings["engine"],
        results=comparison.results(), threads=(), n_runs=len(task.questions), took_s=perf_counter() - started,
        figures=figures_of(subject.name),
    )  # fmt: skip
    return BlocksReport(report, comparison)


async def compare(desk: Desk, task: Task, say: Callable[[str], None]) -> Comparison:
    """Ask every question in every mode.

    Raises:
        BenchError: an answer fails, or an exact prompt was not computed.
    """
    replies: dict[Mode, list[Reply]] = {mode: [] for mode in modes(task.fresh)}
    for n, question in enumerate(task.questions, 1):
        for mode in replies:
            replies[mode].append(await _reply(desk, question, mode))
        if n % _SAY_EVERY == 0 or n == len(task.questions):
            say(f"asked {n} of {len(task.questions)}, each in {len(replies)} modes")
    return Comparison(replies)


async def _reply(desk: Desk, question: GoldenQuestion, mode: Mode) -> Reply:
    await desk.empty_cache()
    if mode.cold:
        desk.drop_blocks()
    answered, done = await desk.ask(question, mode.reuse)
    await desk.rest()
    timings, context = done.timings, done.context
    if mode == EXACT and timings.n_reused > context.n_system + HEAD_TOKENS:
        raise BenchError(
            f"{question.question!r}: {timings.n_reused} of {timings.n_prompt} prompt tokens were found in the cache, "
            f"and {context.n_system} are the system prompt's: what was measured is not the reading of the passages"
        )
    return Reply(
        answered, timings.ttft_s, timings.ttft_s - timings.retrieval_s, timings.n_prompt, timings.n_reused,
        desk.block_bytes() if mode.cold else 0, context.n_passages if mode.cold else 0,
    )  # fmt: skip


class DaemonDesk:
    """A private daemon, asked over its socket; use as a context."""

    def __init__(self, daemon: PrivateDaemon, model: str, folder: Path) -> None:
        self._daemon = daemon
        self._model = model
        self._folder = folder
        self._blocks = daemon.home / "state" / "blocks"
        self._client = Client(daemon.socket)
        self._n_filler = 0  # most tokens that its answer can be promised; 0: not yet known

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *what: object) -> None:
        await self._client.aclose()

    async def ask(self, question: GoldenQuestion, reuse: Reuse) -> tuple[Answered, DoneEvent]:
        """Ask over the socket."""
        asked = ReuseRequest(mode=reuse.mode, n_fresh=reuse.n_fresh)
        return await ask(self._client, question, self._folder, asked)

    async def empty_cache(self) -> None:
        """Ask for an answer that may take all cells, and take one word of it: every idle prompt has to go."""
        if not self._n_filler:
            n_prompt = (await chat(self._daemon.socket, self._filler(1))).n_prompt
            self._n_filler = (await self._daemon.engine()).n_ctx - n_prompt - SPARE_CELLS
        await chat(self._daemon.socket, self._filler(self._n_filler))

    async def rest(self) -> None:
        """Wait until the engine has nothing to do.

        Raises:
            BenchError: it goes on for longer than any passage takes.
        """
        deadline = perf_counter() + REST_S
        while perf_counter() < deadline:
            engine = (await self._client.status()).engine
            if engine.state == "failed":
                raise BenchError(f"the engine failed: {engine.reason}")
            if engine.state == "ready" and not (engine.n_running or engine.n_waiting or engine.n_preparing):
                return
            await asyncio.sleep(POLL_S)
        raise BenchError(f"the engine is still at work {REST_S:.0f} s after an answer")

    def drop_blocks(self) -> None:
        """Remove the folders of all documents; the engine takes files that are gone for ones never made."""
        for folder in self._blocks.glob("*/"):
            shutil.rmtree(folder, ignore_errors=True)

    def block_bytes(self) -> int:
        """Add the files up."""
        return sum(file.stat().st_size for file in self._blocks.rglob("*.kv"))

    def _filler(self, max_tokens: int) -> Chat:
        # The system prompt of every question stays in the cache, as it does in life.
        return Chat(self._model, [texts.system(SYSTEM), texts.user("Say ok.")], max_tokens, 'root ::= "ok"')


def _settings(rig: Rig, subject: Subject, folder: Path) -> dict[str, Any]:
    """The site's own settings, but that every answer is worded, from whole passages, and nothing else is kept."""
    ours = subject.settings
    n_ctx = min(ours.engine.n_ctx, rig.model.n_ctx_train or ours.engine.n_ctx)
    engine = {"model": rig.model.name, "n_ctx": n_ctx, "blocks": "exact", "saved_prefixes_mb": 0}
    ingest = ours.ingest.model_dump(mode="json") | {"folder": str(folder)}
    whole = {"compose": "always", "ttft_target_s": 0, "read_ahead": False}
    return {
        "models": {"folder": str(rig.models)}, "engine": ours.engine.model_dump(mode="json", exclude=REMOTE) | engine,
        "embed": ours.embed.model_dump(mode="json"), "ingest": ingest,
        "answer": ours.answer.model_dump(mode="json") | whole,
    }  # fmt: skip


@contextmanager
def task_of(
    config: Config, questions: Path | None, docs: Path | None, limit: int, fresh: Sequence[int]
) -> Iterator[Task]:
    """Give the questions that are named, else enough of the site's own, else made ones; files of these go at the end.

    Args:
        fresh: empty: as `engine.blend_tokens` says.
    Raises:
        ConfigError: there is no such folder, or no question that the documents answer.
        QuestionsError: the file cannot be used.
    """
    fresh = fresh or (config.settings.engine.blend_tokens,)
    if questions is None and docs is None and not _has_own(config):
        with TemporaryDirectory(prefix="appliance-facts-") as made:
            yield Task(golden.sample(write_facts(Path(made)), limit), Path(made), fresh)
        return
    file, folder = questions or config.home / golden.FILE_NAME, (docs or config.documents).resolve()
    if not folder.is_dir():
        raise ConfigError(f"{folder}: is no folder")
    answerable = [question for question in golden.read(file) if question.answerable]
    if not answerable:
        raise ConfigError(f"{file}: holds no question that the documents answer")
    yield Task(golden.sample(answerable, limit), folder, fresh)


def _has_own(config: Config) -> bool:
    file = config.home / golden.FILE_NAME
    return (
        file.exists()
        and config.documents.is_dir()
        and sum(question.answerable for question in golden.read(file)) >= MIN_OWN
    )
