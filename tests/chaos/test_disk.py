"""A disk that is full, or takes no more writes: questions are answered, ingest waits and goes on by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

from appliance.api.schema import DoneEvent
from tests.chaos.ordeal import Ordeal
from tests.chaos.private_disk import PrivateDisk

QUESTION = "When is the alarm tested, and where does the key of the gate lie?"
N_FILES = 5


def ask(ordeal: Ordeal) -> DoneEvent:
    """Ask the model; the answer must end as it should."""
    ordeal.daemon.until(lambda status: status.engine.state == "ready", 120)
    last = asyncio.run(ordeal.daemon.ask(QUESTION))[-1]
    assert isinstance(last, DoneEvent), last
    return last


def until_problem(ordeal: Ordeal) -> str:
    """Wait until ingest stands still, and return why."""
    return ordeal.daemon.until(lambda status: bool(status.ingest.problem)).ingest.problem


def test_a_full_disk_pauses_ingest_and_answers_go_on_until_there_is_room(
    home: Path, models_folder: Path, disk: PrivateDisk
) -> None:
    ordeal = Ordeal(home, models_folder, Random(1), disk, print)
    try:
        ordeal.begin(N_FILES)
        assert ask(ordeal).conversation

        disk.fill()
        ordeal.folder.add("txt")
        assert "full" in until_problem(ordeal)
        ordeal.search()
        assert ask(ordeal).conversation == "", "a turn that is not kept has no conversation"

        disk.make_room()
        ordeal.until_agreement()
        assert ask(ordeal).conversation
    finally:
        ordeal.daemon.stop()


def test_a_disk_that_turns_read_only_is_answered_from_even_after_a_restart(
    home: Path, models_folder: Path, disk: PrivateDisk
) -> None:
    ordeal = Ordeal(home, models_folder, Random(2), disk, print)
    try:
        ordeal.begin(N_FILES)
        disk.turn_read_only()
        ordeal.folder.add("txt")
        assert str(home / "state") in until_problem(ordeal)
        ordeal.search()
        assert ask(ordeal).conversation == ""

        ordeal.daemon.kill()
        ordeal.daemon.start(loaded=False)
        assert str(home / "state") in until_problem(ordeal)
        ordeal.search()

        ordeal.daemon.kill()
        disk.mount_again()
        ordeal.daemon.start(loaded=False)
        ordeal.until_agreement()
    finally:
        ordeal.daemon.stop()


def test_a_first_start_on_a_read_only_disk_says_in_one_line_what_is_wrong(
    home: Path, models_folder: Path, disk: PrivateDisk
) -> None:
    disk.turn_read_only()
    started = Ordeal(home, models_folder, Random(3), disk, print).daemon.run("serve")
    assert started.returncode == 1
    [line] = started.stderr.splitlines()
    assert str(home / "state") in line
