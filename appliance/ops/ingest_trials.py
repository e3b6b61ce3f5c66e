"""How the figures of `bench ingest` are measured: by workers of its own, and through private daemons."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from time import perf_counter

from appliance.api.schema_documents import IngestStatus
from appliance.client import Client
from appliance.ops import texts
from appliance.ops.errors import BenchError
from appliance.ops.figures import Measured, ratios
from appliance.ops.footprint import footprint
from appliance.ops.ingest_rig import SEED, IngestRig
from appliance.ops.made_documents import SET, SET_PAGES, write_documents, write_notes
from appliance.ops.private_daemon import PrivateDaemon
from appliance.ops.rig import Rig, subject_of
from appliance.ops.stream import Stream
from appliance.ops.trials import in_turns

STAGES = ("parse", "cut", "embed", "commit_index")
QUESTION = "Write a very long report of everything that these passages say, point by point."
POLL_S = 0.2
SAY_EVERY_S = 15.0
SETTLE_S = 1.0  # for ingest to rest after it was paused, and to be under way after it was resumed
STUCK_S = 600.0  # in which no document was finished
MB = 1e6


async def stages(rig: IngestRig, n_runs: int) -> Mapping[str, Measured]:
    """Measure each stage alone on the same documents."""
    documents, found = await rig.documents(), []
    for run in range(n_runs):
        rig.say(f"stages, run {run + 1} of {n_runs}")
        found.append(await rig.work("stages", documents))
    parts = {
        f"{stage}_{what}_per_s": [each[f"n_{what}"] / each[f"{stage}_s"] for each in found]
        for stage in STAGES for what in ("pages", "chunks")
    }  # fmt: skip
    slowest = [min(parts[f"{stage}_chunks_per_s"][run] for stage in STAGES) for run in range(n_runs)]
    counts = {name: [each[name] for each in found] for name in ("n_files", "n_pages", "n_chunks")}
    return {"stages": Measured(slowest, parts | counts)}


async def pipeline_ratio(rig: IngestRig, n_runs: int) -> Mapping[str, Measured]:
    """Compare the whole pipeline with the embedder alone."""
    documents = await rig.documents()

    async def whole() -> float:
        took = await rig.work("pipeline", documents)
        return took["n_chunks"] / took["pipeline_s"]

    async def alone() -> float:
        took = await rig.work("embed", documents)
        return took["n_chunks"] / took["embed_s"]

    ours, embedder = await in_turns(rig, n_runs, "pipeline_ratio", whole, alone)
    parts = {"pipeline_chunks_per_s": ours, "embedder_chunks_per_s": embedder}
    return {"pipeline_ratio": Measured(ratios(ours, embedder), parts)}


async def unchanged(rig: IngestRig, n_runs: int) -> Mapping[str, Measured]:
    """Sweep unchanged files."""
    took = await rig.work("unchanged", n_files=rig.sizes.n_unchanged, n_runs=n_runs)
    return {"unchanged_s": Measured([took.pop("unchanged_s")], _once(took))}


async def large_index(rig: IngestRig, n_runs: int) -> Mapping[str, Measured]:
    """Fill a large index, once, and search it."""
    sizes = rig.sizes
    took = await rig.work(
        "index", n_documents=sizes.n_documents, n_chunks_each=sizes.n_chunks_each, n_queries=sizes.n_queries
    )
    return {"index_100k": Measured([took["search_ms_p95"]], _once(took))}


async def peak_memory(rig: IngestRig, n_runs: int) -> Mapping[str, Measured]:
    """Watch one daemon's memory while it reads small files, once."""
    few, many = rig.sizes.n_files
    async with rig.daemon() as daemon:
        peaks = []
        for numbers in (range(few), range(few, many)):
            write_notes(daemon.home / "documents", numbers, SEED)
            await _until_read(rig, daemon, numbers.stop)
            peaks.append(footprint((await daemon.status()).pid).peak / MB)
    counts = _once({"n_few": few, "n_many": many})
    return {
        "memory_ratio": Measured([peaks[1] / peaks[0]], counts),
        "peak_mb_1000": Measured(peaks[:1], _once({"n_files": few})),
        "peak_mb_10000": Measured(peaks[1:], _once({"n_files": many})),
    }


async def _until_read(rig: IngestRig, daemon: PrivateDaemon, n_files: int) -> None:
    """Wait until so many documents are finished and in the index."""
    n_done, moved, said = -1, perf_counter(), 0.0
    while True:
        status = await daemon.status()
        n_known, n_waiting = sum(status.ingest.counts.values()), status.ingest.n_waiting
        if n_known == n_files and n_waiting == 0 and status.index.n_vectors >= n_files:
            return
        if n_known - n_waiting != n_done:
            n_done, moved = n_known - n_waiting, perf_counter()
        if perf_counter() - moved > STUCK_S:
            raise BenchError(
                f"{n_done} of {n_files} documents were read, then no more: {status.ingest.problem}"
            )
        if perf_counter() - said > SAY_EVERY_S:
            rig.say(f"peak memory: {n_done} of {n_files} files read")
            said = perf_counter()
        await asyncio.sleep(POLL_S)


async def chat_share(rig: IngestRig, n_runs: int) -> Mapping[str, Measured]:
    """Compare a chat during full ingest with one while ingest is paused.

    Raises:
        ConfigError: no chat model is installed.
    """
    async with Rig(subject_of(rig.config, None), rig.say) as chatting:
        rig.say("starting a private daemon")
        async with chatting.daemon() as daemon:
            feed = _Feed(rig, daemon)

            async def asked() -> Stream:
                messages = texts.grounded(chatting.salt(), QUESTION)
                return await chatting.ask(daemon, messages, rig.sizes.n_decode)

            async def during() -> Stream:
                async with feed.flowing():
                    return await asked()

            await asked()  # the first answer of a daemon is slower
            async with Client(daemon.socket) as client:
                await client.control_ingest("pause")
            busy, idle = await in_turns(rig, n_runs, "chat during ingest", during, asked)
    return {
        "chat_decode": _compared(busy, idle, lambda stream: stream.tps, "tps"),
        "chat_ttft": _compared(busy, idle, lambda stream: stream.ttft_s, "ttft_s"),
    }


class _Feed:
    """Keeps a daemon's ingest at work, and lets it rest."""

    def __init__(self, rig: IngestRig, daemon: PrivateDaemon) -> None:
        self._n_pages = rig.sizes.n_chat_pages
        self._documents = daemon.home / "documents"
        self._socket = daemon.socket
        self._n_batches = 0

    @asynccontextmanager
    async def flowing(self) -> AsyncIterator[None]:
        """Have ingest at work while the block runs, paused after it.

        Raises:
            BenchError: it had nothing left to do before the block was over.
        """
        async with Client(self._socket) as client:
            await self._stock_up(client)
            await client.control_ingest("resume")
            await _until(client, lambda ingest: bool(ingest.current))
            await asyncio.sleep(SETTLE_S)
            yield
            n_left = (await client.status()).ingest.n_waiting
            await client.control_ingest("pause")
            await asyncio.sleep(SETTLE_S)
        if n_left == 0:
            raise BenchError("ingest was done before the answer was")

    async def _stock_up(self, client: Client) -> None:
        """See to it that much waits: new documents, since what was embedded once is not embedded again."""
        n_wanted = (self._n_pages // SET_PAGES) * len(SET)
        while (n_waiting := (await client.status()).ingest.n_waiting) < n_wanted:
            self._n_batches += 1
            batch = self._documents / f"batch-{self._n_batches}"
            n_waiting += write_documents(batch, self._n_pages, SEED + self._n_batches)
            await _until(client, lambda ingest, n=n_waiting: ingest.n_waiting >= n)  # type: ignore[misc]
        await asyncio.sleep(SETTLE_S)


async def _until(client: Client, enough: Callable[[IngestStatus], bool]) -> None:
    deadline = perf_counter() + STUCK_S
    while perf_counter() < deadline:
        if enough((await client.status()).ingest):
            return
        await asyncio.sleep(POLL_S)
    raise BenchError(f"ingest has done nothing for {STUCK_S:.0f} s")


def _compared(
    busy: Sequence[Stream], idle: Sequence[Stream], figure: Callable[[Stream], float], unit: str
) -> Measured:
    during, alone = [figure(stream) for stream in busy], [figure(stream) for stream in idle]
    if not all(during) or not all(alone):
        raise BenchError("an answer ended before its speed could be measured")
    return Measured(ratios(during, alone), {f"ingest_{unit}": during, f"idle_{unit}": alone})


def _once(values: Mapping[str, float]) -> dict[str, list[float]]:
    return {name: [value] for name, value in values.items()}
