"""`appliance tune`: tries settings of the engine on this machine, with this model, in private processes.

Writes what won to the state folder, never over the administrator's file. Ctrl-C ends it and leaves nothing behind.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import date
from itertools import count
from typing import Any

from appliance import hardware, tuned
from appliance.config import Config
from appliance.engine.process import EngineProcess
from appliance.engine.request import Done, GenerateRequest, Message, Sampling
from appliance.engine.spec import EngineSpec, spec_of
from appliance.errors import EngineError
from appliance.ops.knobs import KNOBS, Choices, Knobs, Row, Search, Speed, changes
from appliance.ops.machine import describe
from appliance.ops.neighbour import busy_neighbour
from appliance.ops.texts import prose
from appliance.settings import EngineSettings
from models.registry import InstalledModel

MAX_S = 175.0  # in all: under three minutes
READY_S = 60.0
N_CTX = 4096  # enough for the prompts, and quick to allocate
FIRST_WORDS, LEAST_WORDS, MOST_WORDS = 50, 100, 1100
TOKENS_A_WORD = 1.4
RUN_S = 2.5  # so long may the prompt of one run be read: a faster machine gets longer prompts, which say more
N_DECODE = 40
N_RUNS = 2  # the better one counts: others on the machine only ever slow a run down


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it.

    Attributes:
        settings: as they were; `defaults`, `before` and `after`: the knobs without any setting, as they were, and
            the best; the last two are equal when nothing was better.
        gain: how many times faster a usual question is.
        fixed: settings that the administrator has set, and that were left alone.
    """

    model: str
    settings: EngineSettings
    defaults: Knobs
    before: Knobs
    after: Knobs
    gain: float
    rows: tuple[Row, ...]
    fixed: tuple[str, ...]

    @property
    def changes(self) -> dict[str, int | str]:
        """What is set from now on; empty when all stays as it was."""
        found = changes(self.defaults, self.after) if self.after != self.before else {}
        return {name: value for name, value in found.items() if name not in self.fixed}

    def verdict(self) -> str:
        """Return the outcome in words."""
        left = f" (set by you and left alone: {', '.join(self.fixed)})" if self.fixed else ""
        if not self.changes:
            return f"the settings are as good as any that were tried{left}"
        found = ", ".join(f"{name} {value}" for name, value in self.changes.items())
        return f"{found}: a usual question takes {1 / self.gain:.0%} of the time{left}"

    def to_json(self) -> dict[str, Any]:
        """Return all of it for scripts."""
        return {
            "model": self.model,
            "before": asdict(self.before),
            "after": asdict(self.after),
            "changes": self.changes,
            "gain": round(self.gain, 3),
            "fixed": list(self.fixed),
            "rows": [
                {**asdict(row.knobs), "busy": row.busy, "speed": row.speed and asdict(row.speed)}
                for row in self.rows
            ],
        }

    def tuned(self) -> tuned.Tuned:
        """Return what is written."""
        cpu, n_cores = tuned.machine_key()
        return tuned.Tuned(
            cpu=cpu, n_cores=n_cores, model=self.model, engine=self.changes,
            replaced={name: getattr(self.settings, name) for name in self.changes},
            gain=round(self.gain, 2), measured=date.today().isoformat(),
        )  # fmt: skip


async def run(config: Config, model: InstalledModel, say: Callable[[str], None]) -> Result:
    """Measure, in under three minutes.

    Args:
        say: is told each line of the table as it is measured.
    """
    settings = config.settings.engine
    spec = spec_of(settings, model.path, model.name)
    ours = ("default", tuned.ORIGIN)
    fixed = tuple(name for name in KNOBS if config.origins[f"engine.{name}"] not in ours)
    started = time.monotonic()
    bench = _Bench(replace(spec, n_ctx=min(spec.n_ctx, N_CTX)), say)
    choices = Choices(thread_counts(), () if settings.flash_attention == "off" else ("q8_0",), fixed)
    search = Search(bench.measure, choices, lambda: bench.fits(MAX_S - (time.monotonic() - started)))
    if (machine := describe()).is_busy:
        say(
            f"others are at work here (load {machine.load_before:.1f}): these figures say little, come back later"
        )
    say(heading())
    before = _knobs(settings, model)
    with _quiet():
        after, gain = await search.run(before)
    defaults = _knobs(EngineSettings(), model)
    return Result(model.name, settings, defaults, before, after, gain, tuple(search.rows), fixed)


def _knobs(settings: EngineSettings, model: InstalledModel) -> Knobs:
    """Return the settings with `auto` spelled out."""
    return Knobs(
        threads=settings.threads or hardware.engine_cores(n_bytes=model.size).n_threads,
        n_batch=settings.n_batch,
        n_ubatch=settings.n_ubatch,
        kv_type="f16" if settings.kv_type == "auto" else settings.kv_type,
        spin_count=settings.spin_count,
    )


def thread_counts() -> list[int]:
    """Return the counts worth a try: half the cores, all but one, one a core, one a processor."""
    n_cores, n_most = hardware.engine_cores().n_threads, hardware.usable_cores()
    return sorted({max(1, n_cores // 2), max(1, n_cores - 1), n_cores, n_most})


class _Bench:
    """Measures settings, each in an engine process of its own."""

    def __init__(self, spec: EngineSpec, say: Callable[[str], None]) -> None:
        self._spec = spec
        self._say = say
        self._salts = count(1)
        self._n_words = 0  # the same for all that are compared
        self._longest_s = 0.0

    def fits(self, left_s: float) -> bool:
        """Return whether there is time for one more measurement, and for the two that confirm."""
        return 3 * self._longest_s < left_s

    async def measure(self, knobs: Knobs, busy: bool) -> Speed | None:
        """Return what one engine with these settings does; None when it cannot be started or dies."""
        engine = EngineProcess(replace(self._spec, **asdict(knobs), prefixes=None))
        speed: Speed | None = None
        started = time.monotonic()
        try:
            await engine.start()
            await engine.ready(READY_S)
            if not self._n_words:
                first = await self._ask(engine, FIRST_WORDS)
                n_words = int(first.prefill_tps * RUN_S / TOKENS_A_WORD)
                self._n_words = max(LEAST_WORDS, min(MOST_WORDS, n_words))
            with busy_neighbour() if busy else nullcontext():
                runs = [await self._ask(engine, self._n_words) for _ in range(N_RUNS)]
            speed = Speed(max(run.prefill_tps for run in runs), max(run.decode_tps for run in runs))
        except EngineError as error:
            self._say(f"  {error}")
        finally:
            await engine.stop()
        self._longest_s = max(self._longest_s, time.monotonic() - started)
        self._say(line(Row(knobs, busy, speed)))
        return speed

    async def _ask(self, engine: EngineProcess, n_words: int) -> Done:
        text = f"{prose(str(next(self._salts)), n_words)}\nWrite a very long story about that."
        sampling = Sampling(temperature=0.8, seed=1)  # a greedy answer could be guessed ahead
        request = GenerateRequest((Message("user", text),), N_DECODE, sampling)
        async for event in engine.generate(request):
            if isinstance(event, Done) and min(event.prefill_tps, event.decode_tps) > 0:
                return event
        raise EngineError("the answer was too short to be measured")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the engine's log off the table: an engine that we stop is no news."""
    logger = logging.getLogger("appliance.engine")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def heading() -> str:
    """Return the heads of the table."""
    knobs = f"{'threads':>8}{'n_batch':>9}{'n_ubatch':>10}{'kv_type':>9}{'spin':>8}"
    return f"{knobs}  {'neighbour':<10}{'prefill':>9}{'decode':>9}{'question':>10}"


def line(row: Row) -> str:
    """Return a line of the table."""
    knobs = row.knobs
    said = (
        f"{knobs.threads:>8}{knobs.n_batch:>9}{knobs.n_ubatch:>10}{knobs.kv_type:>9}{knobs.spin_count:>8}  "
    )
    said += f"{'busy' if row.busy else '-':<10}"
    if row.speed is None:
        return f"{said} does not work"
    return (
        said
        + f"{row.speed.prefill_tps:>5.0f} t/s{row.speed.decode_tps:>5.0f} t/s{row.speed.question_s:>8.1f} s"
    )
