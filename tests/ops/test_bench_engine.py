"""The bench as an administrator runs it, short: real daemon, real model, nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from appliance.ops.neighbour import busy_neighbour
from tests.ops.bench_process import running_bench

WITHIN_S = 120.0


@contextmanager
def bench(models: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start `bench engine` on a short context."""
    with running_bench(models, "engine", *arguments, APPLIANCE_ENGINE__N_CTX="2048") as process:
        yield process


def test_decode_ratio_is_measured_through_a_private_daemon(models_folder: Path) -> None:
    with bench(
        models_folder, "--model", "smollm2-135m-instruct", "--only", "decode_ratio", "--runs", "1", "--json"
    ) as process:
        out, said = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 0, said
    report = json.loads(out)
    assert report["model"] == "smollm2-135m-instruct"
    assert list(report["figures"]) == ["decode_ratio"]
    figure = report["figures"]["decode_ratio"]
    assert figure["not_available"] is None
    assert figure["runs"] == [figure["value"]]
    assert (
        0.05 < figure["value"] < 3
    )  # other tests run meanwhile: that it is a ratio of speeds is all we can ask
    assert figure["parts"]["socket_tps"][0] > 1
    assert report["threads"] == []
    assert report["settings"]["max_sequences"] == 8
    assert "decode_ratio, run 1 of 1" in said


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_kill_leave_nothing_behind(models_folder: Path, number: int, code: int) -> None:
    with bench(models_folder, "--model", "smollm2-135m-instruct", "--only", "batch8_gain") as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("batch8_gain, run 1"):
                break
        process.send_signal(number)
        assert process.wait(timeout=WITHIN_S) == code


def test_a_model_file_that_is_not_installed_is_measured_too(models_folder: Path, tmp_path: Path) -> None:
    [file] = (models_folder / "smollm2-135m-instruct").glob("*.gguf")
    own = tmp_path / "Own Model.gguf"
    own.symlink_to(file)
    with bench(models_folder, "--model", str(own), "--only", "restart_s", "--runs", "1", "--json") as process:
        out, said = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 0, said
    report = json.loads(out)
    assert report["figures"]["restart_s"]["value"] > 0
    assert report["figures"]["restart_s"]["parts"]["daemon_start_to_ready_s"][0] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "speed"], "no figure 'speed'; there are decode_ratio, batch8_gain, stall"),
        (["--model", "no-such-model"], "no-such-model is not installed"),
    ],
)
def test_what_is_asked_wrongly_is_refused(models_folder: Path, arguments: list[str], message: str) -> None:
    with bench(models_folder, *arguments) as process:
        _, said = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 2
    assert message in said


def test_busy_neighbour_is_of_another_session_and_ends_with_the_block() -> None:
    with busy_neighbour() as pid:
        assert os.getsid(pid) != os.getsid(0)
        before = _cpu_ticks(pid)
        time.sleep(0.3)
        assert _cpu_ticks(pid) > before
    assert not Path(f"/proc/{pid}").exists()


def _cpu_ticks(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])
