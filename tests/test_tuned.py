"""What was measured counts between default and file, on the machine and with the model it was measured on."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance import tuned
from appliance.config import load
from appliance.tuned import Tuned, machine_key, write

MODEL = "engine: {model: small}"


def measured(model: str = "small", **engine: int | str) -> Tuned:
    cpu, n_cores = machine_key()
    return Tuned(
        cpu=cpu, n_cores=n_cores, model=model, engine=engine or {"threads": 3, "n_ubatch": 128},
        replaced={"threads": 0, "n_ubatch": 512}, gain=1.2, measured="2026-11-30",
    )  # fmt: skip


def home_with(home: Path, text: str, found: Tuned) -> Path:
    (home / "appliance.yaml").write_text(text, "utf-8")
    write(home / "state", found)
    return home


def test_measured_values_replace_defaults_and_say_where_they_are_from(tmp_path: Path) -> None:
    config = load(home_with(tmp_path, MODEL, measured()), {})
    engine = config.settings.engine
    assert (engine.threads, engine.n_ubatch, engine.n_batch) == (3, 128, 512)
    assert config.origins["engine.threads"] == "tuned"
    assert config.origins["engine.n_batch"] == "default"


def test_file_and_environment_go_before_what_was_measured(tmp_path: Path) -> None:
    home = home_with(tmp_path, "engine: {model: small, threads: 2}", measured())
    config = load(home, {"APPLIANCE_ENGINE__N_UBATCH": "64"})
    assert (config.settings.engine.threads, config.settings.engine.n_ubatch) == (2, 64)
    assert config.origins["engine.threads"] == str(home / "appliance.yaml")


def test_the_model_in_use_is_found_where_none_is_named(tmp_path: Path, models_folder: Path) -> None:
    home = home_with(tmp_path, f"models: {{folder: {models_folder}}}", measured("smollm2-135m-instruct"))
    assert load(home, {}).settings.engine.threads == 3


@pytest.mark.parametrize(
    "found",
    [
        measured("another"),
        measured().model_copy(update={"cpu": "another"}),
        measured().model_copy(update={"n_cores": 999}),
        measured(threads=-5),
        measured(threads="many"),
        measured(no_such_setting=1),
    ],
)
def test_what_does_not_fit_is_left_aside(tmp_path: Path, found: Tuned) -> None:
    config = load(home_with(tmp_path, MODEL, found), {})
    assert config.settings.engine.threads == 0
    assert "tuned" not in config.origins.values()


@pytest.mark.parametrize("text", ["", "[", "cpu: x", "- 1"])
def test_a_damaged_file_is_left_aside(tmp_path: Path, text: str) -> None:
    home = home_with(tmp_path, MODEL, measured())
    (home / "state" / tuned.FILE_NAME).write_text(text)
    assert load(home, {}).settings.engine.threads == 0


def test_the_file_says_what_it_is_and_what_it_replaced(tmp_path: Path) -> None:
    text = write(tmp_path / "state", measured()).read_text()
    assert text.startswith("# Written by `appliance tune`. Delete this file to go back")
    assert "replaced:\n  threads: 0\n  n_ubatch: 512\n" in text
