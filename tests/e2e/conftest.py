"""One daemon for the tests that leave it as they found it, and one of its own for those that do not."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.daemon_process import DaemonProcess
from tests.e2e.files import BOILER


def short_home() -> tempfile.TemporaryDirectory[str]:
    """A home whose socket path is short enough, wherever pytest's own folders are."""
    return tempfile.TemporaryDirectory(prefix="appliance-")


@pytest.fixture(scope="session")
def daemon(models_folder: Path) -> Iterator[DaemonProcess]:
    """A daemon that has read boiler.pdf; do not change its folder."""
    with short_home() as home:
        running = DaemonProcess(Path(home), models_folder)
        (running.documents / "boiler.pdf").write_bytes(BOILER)
        running.start()
        running.until_states(boiler="ready")
        yield running
        running.stop()


@pytest.fixture
def own_daemon(models_folder: Path) -> Iterator[DaemonProcess]:
    """A daemon of the test's own, not yet started."""
    with short_home() as home:
        running = DaemonProcess(Path(home), models_folder)
        yield running
        running.stop()
