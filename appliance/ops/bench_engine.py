"""`appliance bench engine`: measures the engine through its real parts. Runs the trials in order and reports.

What a trial needs is in `rig`, how each figure is measured in `trials` and `restarts`, what it means in `figures`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import median
from time import perf_counter

from appliance.errors import ApplianceError
from appliance.ops import bench, figures, machine, restarts, trials
from appliance.ops.bench import MAX_SLOW_RUNS, Group, Say
from appliance.ops.report import Report, ThreadRow
from appliance.ops.rig import WARM_UP_TOKENS, Rig, Subject

THREADS = "threads"  # the table of speeds over threads, chosen like a figure
CHOICES = (*figures.NAMES, THREADS)
N_RUNS = 5
N_PREFILL, N_DECODE = 256, 48  # tokens of a row of that table: 2 to 5 s on two cores

# In the order in which they run: those on one daemon first.
GROUPS: tuple[Group[Rig], ...] = (
    Group(("decode_ratio",), trials.decode_ratio),
    Group(("batch8_gain",), trials.batch8_gain),
    Group(("stall",), trials.stall, is_slow=True),
    Group(("followup_ttft",), trials.followup_ttft),
    Group(("shared_ttft",), trials.shared_ttft),
    Group(("contended",), trials.contended),
    Group(("lookup_gain", "lookup_floor"), trials.prompt_lookup),
    Group(("warm_start",), restarts.warm_start, is_slow=True),
    Group(("restart_s",), restarts.restart_s, is_slow=True),
)


def run(subject: Subject, only: Sequence[str], n_runs: int, say: Say) -> Report:
    """Measure, and leave neither process nor file behind, whatever ends it.

    Args:
        only: names of `CHOICES`; empty: all.
        n_runs: runs of each figure, of which the median is taken; slow ones get three at most.
        say: is told what is being done.
    """
    return bench.run(_run(subject, only or CHOICES, n_runs, say))


async def _run(subject: Subject, wanted: Sequence[str], n_runs: int, say: Say) -> Report:
    found, started, date = machine.describe(), perf_counter(), datetime.now(UTC)
    if found.is_busy:
        say(found.warning)
    threads: Sequence[ThreadRow] = ()
    async with Rig(subject, say) as rig:
        settings = rig.engine_settings
        if THREADS in wanted:  # first, while no daemon holds memory
            threads = await over_threads(rig, min(n_runs, MAX_SLOW_RUNS))
        results = await bench.measure(GROUPS, rig, wanted, n_runs)
    return Report(
        machine=found, model=subject.name, date=date.strftime("%Y-%m-%dT%H:%M:%SZ"),
        settings=settings,
        results=results, threads=threads, n_runs=n_runs,
        took_s=perf_counter() - started,
    )  # fmt: skip


async def over_threads(rig: Rig, n_runs: int) -> list[ThreadRow]:
    """Measure the bare loop on one thread, two, four, … and as many as the engine takes."""
    rows: list[ThreadRow] = []
    for n_threads in thread_counts(rig.n_threads):
        rig.say(f"speeds over {n_threads} thread{'s' if n_threads > 1 else ''}")
        try:
            async with rig.bare_loop(n_threads) as bare:
                await bare.loop(WARM_UP_TOKENS, WARM_UP_TOKENS)
                loops = [await bare.loop(N_PREFILL, N_DECODE) for _ in range(n_runs)]
        except ApplianceError as error:
            rig.say(f"{THREADS}: not available: {error}")
            break
        prefill, decode = (loop.prefill_tps for loop in loops), (loop.decode_tps for loop in loops)
        rows.append(ThreadRow(n_threads, median(prefill), median(decode)))
    return rows


def thread_counts(n: int) -> list[int]:
    """Return 1, 2, 4, … below `n`, and `n`."""
    return [*(1 << power for power in range(n.bit_length()) if 1 << power < n), n]
