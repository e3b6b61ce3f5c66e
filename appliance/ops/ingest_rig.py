"""What `bench ingest` measures with: documents, workers, a daemon without a chat model. Leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from appliance.config import Config
from appliance.ops.bench import Say
from appliance.ops.errors import BenchError
from appliance.ops.ingest_figures import Sizes
from appliance.ops.made_documents import write_documents
from appliance.ops.private_daemon import PrivateDaemon, end, environment, make_home
from appliance.ops.rig import NO_SWEEP_S
from ingest.folder import scan
from models.registry import MANIFEST_FILE

SEED = 4
SETTLE_S = 1.0  # what was just written is not still yet
_MAX_LINE = 1 << 20
_LOG_LINES = 5


class IngestRig:
    """Documents and processes of the bench's own; use as a context.

    Args:
        config: whose models and settings are measured.
        source: folder of the documents; None: made ones.
        say: is told what is being done, for people who wait.
    """

    def __init__(self, config: Config, source: Path | None, sizes: Sizes, say: Say) -> None:
        self.config = config
        self.sizes = sizes
        self.say = say
        self._source = source
        self._stack = ExitStack()
        self._documents: Path | None = None
        self._n_homes = 0

    async def __aenter__(self) -> Self:
        self.folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="appliance-bench-")))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    async def documents(self) -> Path:
        """Return the folder of the documents, copied or made when first asked for."""
        if self._documents is None:
            self._documents = self.folder / "documents"
            if self._source is None:
                self.say("making documents")
                write_documents(self._documents, self.sizes.n_pages, SEED)
            else:
                self.say(f"copying {self._source}")
                _copy(self._source, self._documents)
            await asyncio.sleep(SETTLE_S)
        return self._documents

    async def work(self, task: str, documents: Path | None = None, **parameters: Any) -> dict[str, float]:
        """Have a worker do a task in a new home; return what it measured.

        Args:
            documents: the home's documents; None: its own folder, empty.
        Raises:
            BenchError: it failed.
        """
        home = self._new_home()
        make_home(
            home, self._settings() | ({} if documents is None else _watching(self._ingest(), documents))
        )
        async with self._worker(home, task, parameters) as worker:
            result = await self._listen(worker, task)
        shutil.rmtree(home)
        return result

    @asynccontextmanager
    async def daemon(self) -> AsyncIterator[PrivateDaemon]:
        """Run a daemon that has no chat model, in a new home, while the block runs."""
        models = _without_chat(self.config.models, self.folder / "models")
        daemon = PrivateDaemon(self._new_home(), self._settings() | {"models": {"folder": str(models)}})
        try:
            await daemon.serve()
            yield daemon
        finally:
            await daemon.stop()

    @asynccontextmanager
    async def _worker(self, home: Path, task: str, parameters: Mapping[str, Any]) -> AsyncIterator[Process]:
        with (home / "worker.log").open("wb") as log:
            # A session of its own, as a service has: Ctrl-C comes to us, and we end it.
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "appliance.ops.ingest_worker", str(home), task, json.dumps(parameters),
                stdin=PIPE, stdout=PIPE, stderr=log, env=environment(), limit=_MAX_LINE, start_new_session=True,
            )  # fmt: skip
        try:
            yield process
            if await process.wait() != 0:
                said = (home / "worker.log").read_text(encoding="utf-8", errors="replace").splitlines()
                raise BenchError(f"measuring {task} failed: {' '.join(said[-_LOG_LINES:])}")
        finally:
            await end(process)

    async def _listen(self, worker: Process, task: str) -> dict[str, float]:
        assert worker.stdout is not None, "spawned with pipes"
        result: dict[str, float] = {}
        async for line in worker.stdout:
            message = json.loads(line)
            if "say" in message:
                self.say(f"{task}: {message['say']}")
            result = message.get("result", result)
        return result

    def _new_home(self) -> Path:
        self._n_homes += 1
        return self.folder / f"home{self._n_homes}"

    def _settings(self) -> dict[str, Any]:
        embed = self.config.settings.embed.model_dump()
        return {"models": {"folder": str(self.config.models)}, "embed": embed, "ingest": self._ingest()}

    def _ingest(self) -> dict[str, Any]:
        ours = self.config.settings.ingest.model_dump(mode="json", exclude={"folder"})
        return ours | {"sweep_every_s": NO_SWEEP_S}


def _watching(ingest: Mapping[str, Any], documents: Path) -> dict[str, Any]:
    return {"ingest": {**ingest, "folder": str(documents)}}


def _copy(source: Path, target: Path) -> None:
    """Copy the files that ingest would read."""
    for path in sorted(scan(source).files):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / path, target / path)


def _without_chat(models: Path, folder: Path) -> Path:
    """Make a registry with the same models, none of them in use for chat."""
    folder.mkdir()
    for entry in models.iterdir():
        if entry.is_dir():
            (folder / entry.name).symlink_to(entry.resolve())
    manifest = json.loads((models / MANIFEST_FILE).read_text(encoding="utf-8"))
    manifest["active"].pop("chat", None)
    (folder / MANIFEST_FILE).write_text(json.dumps(manifest), encoding="utf-8")
    return folder
