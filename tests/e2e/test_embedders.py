"""The uncompiled embedder, and changing from one to the other, on a real daemon."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path

import pytest

from tests.e2e.daemon_process import DaemonProcess
from tests.e2e.files import BOILER

QUERY = "at which pressure does the safety valve open?"


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None, reason="needs the compile extra"
)
def test_the_model_runs_uncompiled_and_changing_the_embedder_indexes_anew(own_daemon: DaemonProcess) -> None:
    (own_daemon.documents / "boiler.pdf").write_bytes(BOILER)
    own_daemon.start(loaded=False)
    own_daemon.until_states(boiler="ready")
    compiled = own_daemon.until(lambda status: status.index.n_vectors == 2).index  # a chunk a page
    assert "onnx" in compiled.embedder
    own_daemon.stop()

    own_daemon.settings["APPLIANCE_EMBED__BACKEND"] = "sentence-transformers"
    own_daemon.start(loaded=False)
    own_daemon.until_states(boiler="ready")
    direct = own_daemon.until(lambda status: status.index.n_vectors == 2).index
    assert "sentence-transformers" in direct.embedder
    assert "torch" in Path(f"/proc/{own_daemon.pid}/maps").read_text()
    assert asyncio.run(own_daemon.found(QUERY))[0].startswith("boiler.pdf, page 2")
