"""The chaos run: `python -m tests.chaos --rounds 100 --seed 1`. Exit code 1 when something did not come right.

A round is about ten seconds on two idle cores. With root and loop devices the state lies on a disk of its own, which
fills up in some rounds; else these rounds are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.chaos import faults
from tests.chaos.ordeal import AGREE_S, DISK_MB, DisagreementError, Ordeal
from tests.chaos.private_disk import NoDiskError, PrivateDisk

CHECKOUT = Path(__file__).parents[2]
N_FILES = 20


@contextmanager
def maybe_disk(home: Path, say: Callable[[str], None]) -> Iterator[PrivateDisk | None]:
    """Lend a disk for the state of a home, where there can be one."""
    image = home.with_name(home.name + ".img")
    try:
        disk = PrivateDisk(image, home / "state", DISK_MB)
    except NoDiskError as error:
        image.unlink(missing_ok=True)
        say(f"without rounds on a full disk: {error}")
        yield None
        return
    try:
        yield disk
    finally:
        disk.close()


def main() -> int:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos", description="Kill and damage a daemon at random."
    )
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", help="one kind of fault, by its name")
    parser.add_argument("--patience", type=float, default=AGREE_S, help="seconds until a round has failed")
    parser.add_argument("--verbose", action="store_true", help="say what happens to the folder, too")
    arguments = parser.parse_args()
    models = Path(os.environ.get("APPLIANCE_TEST_MODELS", CHECKOUT / ".cache" / "models"))
    with (
        tempfile.TemporaryDirectory(prefix="chaos-") as folder,
        maybe_disk(Path(folder) / "home", _print) as disk,
    ):
        ordeal = Ordeal(
            Path(folder) / "home",
            models,
            Random(arguments.seed),
            disk,
            _print if arguments.verbose else _mute,
        )
        ordeal.patience_s = arguments.patience
        return _run(ordeal, arguments.rounds, arguments.seed, arguments.only)


def _run(ordeal: Ordeal, n_rounds: int, seed: int, only: str | None) -> int:
    known = {**faults.KILLS, **faults.DAMAGES, **(faults.DISK if ordeal.disk else {})}
    count: Counter[str] = Counter()
    began, number = time.monotonic(), 0
    try:
        ordeal.begin(N_FILES)
        for number in range(1, n_rounds + 1):
            name, started = only or ordeal.rng.choice([*known]), time.monotonic()
            ordeal.round(known[name])
            count[name] += 1
            n_files = len(ordeal.folder.papers)
            _print(f"{number:>4} {name:<30}{time.monotonic() - started:>7.1f} s {n_files:>4} files")
        ordeal.end()
    except (DisagreementError, AssertionError) as error:
        _print(f"round {number} with seed {seed} did not come right:\n{error}")
        return 1
    finally:
        ordeal.daemon.stop()
    _print(
        f"{n_rounds} rounds with seed {seed} in {time.monotonic() - began:.0f} s; all agreed after each of them"
    )
    for name, n in sorted(count.items()):
        _print(f"{name:<34}{n:>4}")
    return 0


def _print(line: str) -> None:
    print(line, flush=True)


def _mute(_: str) -> None: ...


if __name__ == "__main__":
    sys.exit(main())
