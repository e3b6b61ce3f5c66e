"""The short form of `make chaos`: what kills and what damages, each once; afterwards everything agrees by itself."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from tests.chaos.faults import (
    daemon_killed_while_it_starts,
    engine_killed,
    index_database_replaced,
    index_facts_damaged,
    index_file_deleted,
    index_overwritten,
    machine_killed,
    parse_child_killed,
    parse_server_killed,
    record_overwritten,
    wal_cut,
)
from tests.chaos.ordeal import Fault, Ordeal

N_FILES = 12


def test_after_kills_and_damage_record_index_and_answers_equal_the_folder(
    home: Path, models_folder: Path
) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    ordeal = Ordeal(home, models_folder, random.Random(seed), None, print)
    # Several faults a round, since starting the daemon takes most of the time; which ones meet, is chance.
    rounds: list[Sequence[Fault]] = [
        (engine_killed, parse_child_killed, parse_server_killed, machine_killed),
        (daemon_killed_while_it_starts, index_overwritten, wal_cut),
        (
            ordeal.rng.choice((index_file_deleted, index_database_replaced, index_facts_damaged)),
            record_overwritten,
        ),
    ]
    try:
        ordeal.begin(N_FILES)
        for faults in rounds:
            ordeal.round(*faults)
        ordeal.end()
    finally:
        ordeal.daemon.stop()
