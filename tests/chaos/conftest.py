"""A home whose state lies on a disk of its own, where the machine allows it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.ordeal import DISK_MB
from tests.chaos.private_disk import NoDiskError, PrivateDisk


@pytest.fixture
def home() -> Iterator[Path]:
    """A home whose socket path is short enough."""
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        yield Path(folder) / "home"


@pytest.fixture
def disk(home: Path) -> Iterator[PrivateDisk]:
    """A disk under the home's `state`."""
    try:
        mounted = PrivateDisk(home.with_name("disk.img"), home / "state", DISK_MB)
    except NoDiskError as error:
        pytest.skip(f"no disk can be mounted here: {error}")
    yield mounted
    mounted.close()
