"""The soak: a random walk on a real engine process, and a look at what it left behind.

`python -m appliance.ops.soak MODEL.gguf --requests 5000` looks for sequences, slots, cells, file descriptors and
memory that nobody gave back. The test suite walks a shorter way through the same code.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from appliance.engine.process import EngineProcess
from appliance.engine.request import Done, GenerateRequest, Message, Reuse, Token
from appliance.engine.spec import EngineSpec
from appliance.ops.footprint import Footprint, footprint
from appliance.ops.walk import Walk

# Small, so that everything runs short: cells, slots, places in the queue.
N_CTX = 1024
MAX_SEQUENCES, MAX_WAITING = 4, 4
BLOCKS_MB = 5  # kept passages: less than all that are asked about, with the 135M
N_WARM_UP = 60  # requests before memory is first looked at: allocators and caches fill up
READY_S = 120.0
SETTLE_S = 10.0  # for the last cancels to take effect
POLL_S = 0.05
_PUT_RIGHT = "is not what it should be"  # the worker's words for a slot whose record and cache differ


@dataclass(frozen=True, slots=True)
class SoakReport:
    """What a walk left behind.

    Attributes:
        outcomes: how often a request ended how.
        held: what the child says it holds afterwards.
        n_open: requests that the parent still knows.
        put_right: what the engine said of slots that it had to put right: each is a bug.
        n_restarts: how often the child died.
        child, parent: what each process held after the warm-up, and at the end.
    """

    outcomes: Mapping[str, int]
    held: Mapping[str, int]
    n_open: int
    put_right: tuple[str, ...]
    n_restarts: int
    child: tuple[Footprint, Footprint]
    parent: tuple[Footprint, Footprint]

    @property
    def leaks(self) -> list[str]:
        """Name what is left that should not be; memory aside, for which there is no exact bound."""
        found = [f"{n} of {name}" for name, n in self.held.items() if n and name != "n_cells"]
        found += [f"{self.n_open} requests in the parent"] if self.n_open else []
        for who, (before, after) in (("child", self.child), ("parent", self.parent)):
            if after.n_fds > before.n_fds:
                found.append(f"{after.n_fds - before.n_fds} file descriptors of the {who}")
        return [*found, *self.put_right]


def spec_of(model: Path, blocks: Path) -> EngineSpec:
    """Return an engine in which everything runs short."""
    return EngineSpec(
        model_path=model, model_name=model.stem, n_ctx=N_CTX, max_sequences=MAX_SEQUENCES, max_waiting=MAX_WAITING,
        n_batch=128, step_target_ms=150, threads=0, spin_count=600, n_gpu_layers=0,
        blocks=blocks, blocks_mb=BLOCKS_MB, reuse=Reuse("blocks"),
    )  # fmt: skip


async def soak(model: Path, n_requests: int, seed: int, say: Callable[[str], None]) -> SoakReport:
    """Walk, and return what was left behind.

    Args:
        say: hears from time to time how far it is.
    """
    with _put_right() as put_right, tempfile.TemporaryDirectory() as blocks:
        engine = EngineProcess(spec_of(model, Path(blocks)))
        await engine.start()
        try:
            await engine.ready(READY_S)
            await Walk(engine, Random(seed), N_WARM_UP, say).run()
            before = footprint(engine.status().pid), footprint()
            walk = Walk(engine, Random(seed + 1), n_requests, say)
            await walk.run()
            await _settle(engine)
            await _take_every_cell(engine)
            held, status = await engine.held(), engine.status()
            return SoakReport(
                outcomes=walk.outcomes, held=held, n_open=status.n_running + status.n_waiting,
                put_right=tuple(put_right), n_restarts=status.n_restarts,
                child=(before[0], footprint(status.pid)), parent=(before[1], footprint()),
            )  # fmt: skip
        finally:
            await engine.stop()


async def _settle(engine: EngineProcess) -> None:
    """Wait until the last cancels have taken effect."""
    for _ in range(int(SETTLE_S / POLL_S)):
        held = await engine.held()
        if not (
            held["n_sequences"] or held["n_running"]
        ):  # a passage of a dropped order is computed to its end
            return
        await asyncio.sleep(POLL_S)


async def _take_every_cell(engine: EngineProcess) -> None:
    """Start an answer that is promised every cell there is: one that is lost would keep it waiting for ever."""
    asked = (Message("user", "Say one word."),)
    first = [event async for event in engine.generate(GenerateRequest(asked, 1))][-1]
    assert isinstance(first, Done), "an answer ends with it"
    async with asyncio.timeout(READY_S):
        events = engine.generate(GenerateRequest(asked, N_CTX - first.n_prompt))
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Token):
                    break
    await _settle(engine)


@contextmanager
def _put_right() -> Iterator[list[str]]:
    """Collect what the engine logs of slots that were not what they should be."""
    lines: list[str] = []

    class _Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if _PUT_RIGHT in record.getMessage():
                lines.append(record.getMessage())

    collector, engine_log = _Collector(logging.WARNING), logging.getLogger("appliance.engine")
    engine_log.addHandler(collector)
    try:
        yield lines
    finally:
        engine_log.removeHandler(collector)


def main() -> int:
    """Walk as the command line says; exit code 1 when something was left behind."""
    parser = argparse.ArgumentParser(
        prog="python -m appliance.ops.soak", description="A random walk on an engine."
    )
    parser.add_argument("model", type=Path, help="a GGUF file")
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    report = asyncio.run(
        soak(arguments.model, arguments.requests, arguments.seed, lambda line: print(line, flush=True))
    )
    for name, n in sorted(report.outcomes.items()):
        print(f"{name:<24}{n:>7}")
    for who, at in (("child", report.child), ("parent", report.parent)):
        before, after = (each.rss >> 20 for each in at)
        print(f"memory of the {who}: {before} MiB after the warm-up, {after} MiB at the end")
    print(f"the engine died {report.n_restarts} times")
    print("left behind: " + ("; ".join(report.leaks) or "nothing"))
    return int(bool(report.leaks) or report.n_restarts > 0)


if __name__ == "__main__":
    sys.exit(main())
