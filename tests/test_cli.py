"""The command line's exit codes and words, without a daemon."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "appliance", "--home", str(home), *arguments],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nonsense",), 2, "nonsense"),
        (("search", "x", "-n", "0"), 2, "-n"),
        (("add", "/no/such/file"), 2, "/no/such/file"),
        (("model", "pull"), 2, "name a model"),
        (("model", "pull", "nonsense"), 2, "no model 'nonsense'"),
        (("model", "use", "nonsense"), 2, "nonsense is not installed"),
        (("status",), 3, "start it with `appliance serve`"),
        (("ask", "anything"), 3, "start it with `appliance serve`"),
    ],
)
def test_what_goes_wrong_is_told_in_one_line_and_a_code(
    tmp_path: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    ended = run(tmp_path, *arguments)
    assert ended.returncode == code, ended.stderr
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_wrong_setting_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "appliance.yaml").write_text("engine: {n_ctxx: 1}")
    ended = run(tmp_path, "config")
    assert (ended.returncode, "engine.n_ctxx: no such setting" in ended.stderr) == (2, True)


def test_config_says_where_each_setting_came_from(tmp_path: Path) -> None:
    (tmp_path / "appliance.yaml").write_text("engine:\ningest: {settle_ms: 900}")
    ended = run(tmp_path, "config", "--json", APPLIANCE_ENGINE__N_CTX="2048")
    settings = json.loads(ended.stdout)["settings"]
    assert settings["engine.n_ctx"] == {"value": 2048, "from": "APPLIANCE_ENGINE__N_CTX"}
    assert settings["ingest.settle_ms"]["from"] == str(tmp_path / "appliance.yaml")
    assert settings["log_level"]["from"] == "default"


def test_parse_prints_what_is_read_and_tells_when_nothing_is(tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text("# Keys\n\nThe spare key hangs in room 12.\n")
    read = run(tmp_path, "parse", str(file), "--json")
    assert read.returncode == 0
    assert json.loads(read.stdout)["units"][-1]["locator"] == {"heading": ["Keys"], "lines": [3, 3]}
    file.write_text("")
    assert run(tmp_path, "parse", str(file)).returncode == 1
