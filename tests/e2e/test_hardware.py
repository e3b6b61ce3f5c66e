"""Signals and commands that concern the engine's hardware, on real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.daemon_process import DaemonProcess

WAIT_S = 60.0


def test_hangup_is_no_end(daemon: DaemonProcess) -> None:
    before = daemon.until(lambda status: status.engine.state == "ready")
    os.kill(before.pid, signal.SIGHUP)
    time.sleep(0.5)
    after = daemon.until(lambda status: status.engine.state == "ready")
    assert (after.pid, after.engine.pid) == (before.pid, before.engine.pid)


def test_cache_that_no_machine_has_memory_for_is_refused_and_a_smaller_one_named(
    own_daemon: DaemonProcess,
) -> None:
    own_daemon.settings["APPLIANCE_ENGINE__N_CTX"] = "1048576"
    own_daemon.settings["APPLIANCE_ENGINE__KV_TYPE"] = "f16"
    own_daemon.start(loaded=False)
    engine = own_daemon.until(lambda status: status.engine.state in ("ready", "failed")).engine
    if engine.state == "ready":
        pytest.skip("this machine has room for a million cells")
    assert "22.5 GiB of KV cache for 1048576 tokens (f16)" in engine.reason
    assert "lower engine.n_ctx (" in engine.reason


def test_tune_that_is_interrupted_leaves_no_process_and_no_file(tmp_path: Path, models_folder: Path) -> None:
    environment = {
        **os.environ,
        "APPLIANCE_HOME": str(tmp_path),
        "APPLIANCE_MODELS__FOLDER": str(models_folder),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "appliance", "tune"],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:  # the heading of the table, and the first line of it
        if "t/s" in line:
            break
    process.send_signal(signal.SIGINT)
    assert process.wait(WAIT_S) == 130
    process.stderr.close()
    assert engines_of(process.pid) == []
    assert not (tmp_path / "state").exists()


def test_tune_measures_what_is_not_set_and_writes_nothing_if_told_so(
    tmp_path: Path, models_folder: Path
) -> None:
    left_alone = {"THREADS": "1", "N_BATCH": "256", "KV_TYPE": "f16", "SPIN_COUNT": "1000"}
    environment = {
        **os.environ, "APPLIANCE_HOME": str(tmp_path), "APPLIANCE_MODELS__FOLDER": str(models_folder),
        **{f"APPLIANCE_ENGINE__{name}": value for name, value in left_alone.items()},
    }  # fmt: skip
    ended = subprocess.run(
        [sys.executable, "-m", "appliance", "tune", "--dry-run", "--json"],
        env=environment, capture_output=True, text=True, timeout=180, check=True,
    )  # fmt: skip
    result = json.loads(ended.stdout)
    assert result["fixed"] == ["threads", "n_batch", "kv_type", "spin_count"]
    assert {row["n_ubatch"] for row in result["rows"]} == {128, 256, 512}
    assert all(row["threads"] == 1 and row["speed"]["decode_tps"] > 0 for row in result["rows"])
    assert set(result["changes"]) <= {"n_ubatch"}
    assert result["file"] is None
    assert not (tmp_path / "state").exists()
    assert ended.stderr.splitlines()[-1].count("t/s") == 2


def engines_of(session: int) -> list[str]:
    """Return the command lines of the processes in a session."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if int(stat.rpartition(")")[2].split()[3]) == session and command:
            found.append(command)
    return found
