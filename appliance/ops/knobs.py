"""What `appliance tune` turns, in which order, and when a value is better. Pure: it is given the measuring."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import asdict, dataclass, fields, replace

# A usual question: passages and history that are not in the cache, and its answer.
N_PROMPT, N_ANSWER = 700, 150
# Two runs of the same settings differ by so much on a quiet machine: less is no gain.
LEAST_GAIN = 1.03
# Coarser numbers make answers a little worse: they have to be worth it.
LEAST_GAIN_OF_KV = 1.15


@dataclass(frozen=True, slots=True)
class Knobs:
    """Settings of `engine` that depend on the machine."""

    threads: int
    n_batch: int
    n_ubatch: int
    kv_type: str
    spin_count: int


KNOBS = tuple(field.name for field in fields(Knobs))


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens per second; both above 0."""

    prefill_tps: float
    decode_tps: float

    @property
    def question_s(self) -> float:
        """Seconds that a usual question takes."""
        return N_PROMPT / self.prefill_tps + N_ANSWER / self.decode_tps


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table.

    Attributes:
        busy: measured beside a busy neighbour.
        speed: None: it did not work.
        note: what came of it.
    """

    knobs: Knobs
    busy: bool
    speed: Speed | None
    note: str = ""


Measure = Callable[[Knobs, bool], Awaitable[Speed | None]]


@dataclass(frozen=True, slots=True)
class Choices:
    """What may be tried.

    Attributes:
        threads: counts.
        kv_types: beside the one in use.
        fixed: names that the administrator has set: left alone.
    """

    threads: Collection[int]
    kv_types: Collection[str]
    fixed: Collection[str]


class Search:
    """Turns one knob after another and keeps what is better. `rows` fill while it runs.

    Args:
        time_left: whether another measurement may begin.
    """

    def __init__(self, measure: Measure, choices: Choices, time_left: Callable[[], bool]) -> None:
        self._measure = measure
        self._choices = choices
        self._time_left = time_left
        self.rows: list[Row] = []

    async def run(self, now: Knobs) -> tuple[Knobs, float]:
        """Return the best settings, and how many times faster a usual question is with them (1: as they were)."""
        first = await self._row(now, busy=False)
        if first.speed is None:
            return now, 1.0
        best, speed = now, first.speed
        for name, candidates in self._rounds(now):
            if name in self._choices.fixed or not self._time_left():
                continue
            best, speed = await self._round(
                best, speed, candidates, LEAST_GAIN_OF_KV if name == "kv_type" else LEAST_GAIN
            )
        best = await self._choose_spin(best)
        if best == now:
            return now, 1.0
        return await self._confirm(now, best)

    def _rounds(self, now: Knobs) -> Iterator[tuple[str, list[dict[str, int | str]]]]:
        yield "threads", [{"threads": n} for n in self._choices.threads if n != now.threads]
        yield "n_ubatch", [{"n_ubatch": n} for n in (128, 256, 512) if n != now.n_ubatch]
        yield "n_batch", [{"n_batch": n} for n in (256, 512, 1024) if n != now.n_batch]
        yield "kv_type", [{"kv_type": kind} for kind in self._choices.kv_types if kind != now.kv_type]

    async def _round(
        self, best: Knobs, speed: Speed, candidates: list[dict[str, int | str]], least_gain: float
    ) -> tuple[Knobs, Speed]:
        start = best
        for change in candidates:
            if not self._time_left():
                break
            row = await self._row(replace(start, **change), busy=False)  # type: ignore[arg-type]
            if row.speed and speed.question_s / row.speed.question_s >= least_gain:
                best, speed = row.knobs, row.speed
        return best, speed

    async def _choose_spin(self, best: Knobs) -> Knobs:
        """Choose how long threads spin beside a busy neighbour; alone a long spin always looks good."""
        if "spin_count" in self._choices.fixed or not self._time_left():
            return best
        first = await self._row(best, busy=True)
        speed = first.speed
        for count in (300, 10_000):
            if speed is None or not self._time_left():
                break
            row = await self._row(replace(best, spin_count=count), busy=True)
            if row.speed and speed.question_s / row.speed.question_s >= LEAST_GAIN:
                best, speed = row.knobs, row.speed
        return best

    async def _confirm(self, now: Knobs, best: Knobs) -> tuple[Knobs, float]:
        """Measure both once more: a winner of many has luck among its virtues."""
        before, after = await self._row(now, busy=False), await self._row(best, busy=False)
        if before.speed is None or after.speed is None:
            return now, 1.0
        gain = before.speed.question_s / after.speed.question_s
        only_spin = replace(best, spin_count=now.spin_count) == now  # its gain shows beside a neighbour alone
        least = 1 / LEAST_GAIN if only_spin else LEAST_GAIN
        return (best, gain) if gain >= least else (now, 1.0)

    async def _row(self, knobs: Knobs, busy: bool) -> Row:
        speed = await self._measure(knobs, busy)
        self.rows.append(Row(knobs, busy, speed, "" if speed else "does not work"))
        return self.rows[-1]


def changes(before: Knobs, after: Knobs) -> dict[str, int | str]:
    """Return the settings that differ, with their new values."""
    old, new = asdict(before), asdict(after)
    return {name: new[name] for name in KNOBS if old[name] != new[name]}
