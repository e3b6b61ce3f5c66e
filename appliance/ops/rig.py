"""What the bench measures with: private daemons, a bare loop and a place for them. Leaves nothing behind."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from appliance.config import Config
from appliance.engine.plan import Plan
from appliance.engine.spec import EngineSpec, spec_of
from appliance.errors import ConfigError
from appliance.ops.bare_process import BareProcess, bare_process
from appliance.ops.private_daemon import PrivateDaemon
from appliance.ops.stream import Chat, Message, Stream, ask
from appliance.settings import EngineSettings, Settings
from models.registry import MANIFEST_FILE, InstalledModel, Registry

N_STREAMS = 8  # that the bench runs at once: `engine.max_sequences` is at least this in its daemons
LOOKUP = "prompt_lookup"
WARM_UP_TOKENS = 16
NO_SWEEP_S = 86_400
REMOTE = {"backend", "url", "key", "key_file", "remote_model"}  # nothing is asked of other machines here


@dataclass(frozen=True, slots=True)
class Subject:
    """What is measured: a model, with the settings of the home that the command was given.

    Attributes:
        models: the registry's folder; holds the embedder too, without which no daemon starts.
        file: a GGUF file that is not installed, in place of `name`.
    """

    name: str
    models: Path
    settings: Settings
    file: Path | None = None


def subject_of(config: Config, model: str | None) -> Subject:
    """Return what is measured.

    Args:
        model: name of an installed model, or path of a GGUF file; None: the chat model in use.
    Raises:
        ConfigError: no model is named and none is installed.
        UnknownModelError: there is neither such a model nor such a file.
    """
    registry = Registry(config.models)
    if model is not None and Path(model).is_file():
        file = Path(model).resolve()
        installed = [each for each in registry.installed() if each.path.resolve() == file]
        if not installed:
            return Subject(file.stem.lower().replace(" ", "-"), config.models, config.settings, file)
        model = installed[0].name
    chosen = registry.active("chat") if model is None else registry.get(model)
    if chosen is None:
        raise ConfigError("no chat model is installed: name one with --model, or `appliance model pull NAME`")
    return Subject(chosen.name, config.models, config.settings)


class Rig:
    """Private daemons and a bare loop for one subject; use as a context.

    Args:
        say: is told what is being done, for people who wait.
    """

    def __init__(self, subject: Subject, say: Callable[[str], None]) -> None:
        self._subject = subject
        self._stack = AsyncExitStack()
        self._main: PrivateDaemon | None = None
        self._bare: BareProcess | None = None
        self._n_homes = 0
        self.say = say

    async def __aenter__(self) -> Self:
        self.folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="appliance-bench-")))
        self.model = self._installed()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    @property
    def step_target_ms(self) -> float:
        """Longest step while someone reads, as set."""
        return self._subject.settings.engine.step_target_ms

    @property
    def n_threads(self) -> int:
        """Threads that the engine takes."""
        return Plan(self._spec).cores().n_threads

    @property
    def engine_settings(self) -> dict[str, Any]:
        """The engine's settings as the daemons get them, where a figure does not say otherwise."""
        ours = self._subject.settings.engine
        return ours.model_dump(exclude=REMOTE) | {
            "model": self.model.name, "max_sequences": max(N_STREAMS, ours.max_sequences), **lookup("off"),
        }  # fmt: skip

    @property
    def models(self) -> Path:
        """Folder of the registry that holds the model."""
        return self._subject.models if self._subject.file is None else self.folder / "models"

    def salt(self) -> str:
        """Return a word that no prompt has had before."""
        return uuid.uuid4().hex[:12]

    async def main(self) -> PrivateDaemon:
        """Return the daemon that most figures are measured on, started when first asked for.

        Prompt lookup is off: what is compared with a bare loop must compute each token as a bare loop does.
        """
        if self._main is None:
            self.say("starting a private daemon")
            self._main = await self._stack.enter_async_context(self.daemon())
            await self._warm_up(self._main)
        return self._main

    async def bare(self) -> BareProcess:
        """Return a bare loop on the engine's threads, started when first asked for."""
        if self._bare is None:
            self._bare = await self._stack.enter_async_context(self.bare_loop())
            await self._bare.loop(WARM_UP_TOKENS, WARM_UP_TOKENS)
        return self._bare

    @asynccontextmanager
    async def daemon(self, **engine: Any) -> AsyncIterator[PrivateDaemon]:
        """Run a daemon in a new home while the block runs, with other settings of the engine."""
        daemon = self.home(**engine)
        try:
            await daemon.start()
            yield daemon
        finally:
            await daemon.stop()

    def home(self, **engine: Any) -> PrivateDaemon:
        """Return a daemon in a new home, not started; whoever starts it stops it."""
        self._n_homes += 1
        return PrivateDaemon(self.folder / f"home{self._n_homes}", self._settings(engine))

    @asynccontextmanager
    async def bare_loop(self, n_threads: int = 0) -> AsyncIterator[BareProcess]:
        """Run a bare loop while the block runs; 0 threads: as many as the engine takes."""
        spec = self._spec if n_threads == 0 else replace(self._spec, threads=n_threads)
        async with bare_process(spec, self.folder / f"bare{n_threads}.log") as bare:
            yield bare

    async def ask(self, daemon: PrivateDaemon, messages: Sequence[Message], max_tokens: int) -> Stream:
        """Ask a daemon's model; return the answer."""
        return await ask(daemon.socket, self.chat(messages, max_tokens))

    def chat(self, messages: Sequence[Message], max_tokens: int) -> Chat:
        """Return a chat with the model."""
        return Chat(self.model.name, messages, max_tokens)

    @property
    def _spec(self) -> EngineSpec:
        """What the daemon would make of the settings, for one sequence."""
        settings = self._subject.settings.engine
        return replace(spec_of(settings, self.model.path, self.model.name), max_sequences=1)

    async def _warm_up(self, daemon: PrivateDaemon) -> None:
        await self.ask(daemon, [{"role": "user", "content": "Count to one hundred."}], WARM_UP_TOKENS)

    def _settings(self, engine: dict[str, Any]) -> dict[str, Any]:
        ours = self._subject.settings
        return {
            "models": {"folder": str(self.models)},
            "engine": self.engine_settings | engine,
            "embed": ours.embed.model_dump(),
            "ingest": {"sweep_every_s": NO_SWEEP_S},
        }  # fmt: skip

    def _installed(self) -> InstalledModel:
        if self._subject.file is None:
            return Registry(self._subject.models).get(self._subject.name)
        # A registry of our own, the home's models linked in: the file is installed nowhere else.
        folder = self.folder / "models"
        folder.mkdir()
        for entry in self._subject.models.iterdir() if self._subject.models.is_dir() else ():
            if entry.is_dir():
                (folder / entry.name).symlink_to(entry)
        manifest = self._subject.models / MANIFEST_FILE
        if manifest.exists():
            (folder / MANIFEST_FILE).write_bytes(manifest.read_bytes())
        self.say(f"taking {self._subject.file} in")
        return Registry(folder).add(self._subject.file, self._subject.name)


def lookup(setting: str) -> dict[str, str]:
    """Return the setting for prompt lookup, where this build has it."""
    return {LOOKUP: setting} if LOOKUP in EngineSettings.model_fields else {}
