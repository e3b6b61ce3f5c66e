"""The soak names what it finds: a leak that it could not see would pass for none."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from appliance.ops.footprint import Footprint, footprint
from appliance.ops.soak import SoakReport

CLEAN = SoakReport(
    outcomes={"length": 3},
    held={"n_sequences": 0, "n_running": 0, "n_waiting": 0, "n_busy_slots": 0, "n_cells": 900},
    n_open=0,
    put_right=(),
    n_restarts=0,
    child=(Footprint(12, 100), Footprint(12, 200)),
    parent=(Footprint(9, 100), Footprint(8, 100)),
)


@pytest.mark.parametrize(
    ("change", "leaks"),
    [
        ({}, []),
        ({"held": {**CLEAN.held, "n_busy_slots": 1}}, ["1 of n_busy_slots"]),
        ({"held": {**CLEAN.held, "n_sequences": 2, "n_waiting": 1}}, ["2 of n_sequences", "1 of n_waiting"]),
        ({"n_open": 4}, ["4 requests in the parent"]),
        ({"child": (Footprint(12, 0), Footprint(15, 0))}, ["3 file descriptors of the child"]),
        ({"parent": (Footprint(12, 0), Footprint(13, 0))}, ["1 file descriptors of the parent"]),
        ({"put_right": ("slot 3 is not what it should be",)}, ["slot 3 is not what it should be"]),
    ],
)
def test_what_is_left_behind_is_named(change: dict[str, Any], leaks: list[str]) -> None:
    assert replace(CLEAN, **change).leaks == leaks


def test_footprint_sees_an_open_file_and_memory(tmp_path: Path) -> None:
    before = footprint()
    with (tmp_path / "open").open("wb"):
        data = os.urandom(64 << 20)
        after = footprint(os.getpid())
    assert after.n_fds == before.n_fds + 1
    assert after.rss - before.rss > len(data) // 2
