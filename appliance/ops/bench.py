"""What every bench does: trials one after the other, a reason for what cannot be measured, a clean way out."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from appliance.errors import ApplianceError
from appliance.ops.figures import Measured

MAX_SLOW_RUNS = 3  # of trials of which a run takes ten seconds and more

T = TypeVar("T")
Say = Callable[[str], None]


class Speaker(Protocol):
    """Tells people who wait what is being done."""

    @property
    def say(self) -> Say: ...


R = TypeVar("R", bound=Speaker)


@dataclass(frozen=True, slots=True)
class Group(Generic[R]):
    """A trial and the figures that it gives; it is handed what it measures with, and the number of runs."""

    names: tuple[str, ...]
    trial: Callable[[R, int], Awaitable[Mapping[str, Measured]]]
    is_slow: bool = False


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a bench; Ctrl-C and SIGTERM let it put its things away first."""

    async def stoppable() -> T:
        task = asyncio.current_task()
        assert task is not None, "asyncio.run made it"
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        raise SystemExit(128 + signal.SIGTERM) from None  # as shells report it; Ctrl-C has its own way out


async def measure(
    groups: Sequence[Group[R]], rig: R, wanted: Sequence[str], n_runs: int
) -> dict[str, Measured]:
    """Run the trials that give a wanted figure; return the wanted figures, in the order they were wanted."""
    results: dict[str, Measured] = {}
    for group in groups:
        if set(group.names) & set(wanted):
            results |= await _try(group, rig, min(n_runs, MAX_SLOW_RUNS) if group.is_slow else n_runs)
    return {name: results[name] for name in wanted if name in results}


async def _try(group: Group[R], rig: R, n_runs: int) -> Mapping[str, Measured]:
    """Run a trial; what cannot be measured is told with its reason, and does not hold up the others."""
    try:
        return await group.trial(rig, n_runs)
    except ApplianceError as error:
        rig.say(f"{', '.join(group.names)}: not available: {error}")
        return {name: Measured(reason=str(error)) for name in group.names}
