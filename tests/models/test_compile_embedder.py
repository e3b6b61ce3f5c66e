"""Compiling for real: the result is whole, checked against the original, and fp32 where int8 is not good enough."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from models.compile_embedder import compile_embedder
from models.embedder import open_embedder
from models.errors import ModelFileError


def _silent(_what: str, _done: int, _total: int) -> None: ...


@pytest.fixture
def source(models_folder: Path) -> Path:
    return models_folder / "all-minilm-l6-v2" / "source"


def test_int8_that_is_too_far_off_gives_way_to_fp32_and_says_so(source: Path, tmp_path: Path) -> None:
    steps: list[str] = []
    target = tmp_path / "my-embedder" / "onnx"
    report = compile_embedder(
        source, target, lambda what, _done, _total: steps.append(what), min_mean_cosine=0.9999
    )
    assert report.card.precision == "fp32"
    assert report.card.mean_cosine > 0.9999
    assert "int8 was refused: its agreement was 0.9" in str(report)
    assert open_embedder(target).fingerprint == "my-embedder-onnx-fp32-53aa51172d14"
    assert sorted(file.name for file in target.iterdir()) == ["embedder.json", "model.onnx", "tokenizer.json"]
    assert [path.name for path in target.parent.iterdir()] == ["onnx"]  # nothing is left beside it
    assert len(steps) == 6


def test_the_command_compiles_once_and_then_leaves_it(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "all-minilm-l6-v2" / "onnx"
    command = [sys.executable, "-m", "models.compile_embedder", str(source.absolute()), str(target)]
    first = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "int8" in first.stdout
    assert first.stderr == ""
    card = json.loads((target / "embedder.json").read_bytes())
    assert card["precision"] == "int8"
    assert card["mean_cosine"] > 0.98
    assert "compiled already" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_failed_compilation_leaves_the_target_as_it_was(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "all-minilm-l6-v2" / "onnx"
    target.mkdir(parents=True)
    (target / "marker").write_text("the one that worked", encoding="utf-8")
    broken = tmp_path / "broken"
    shutil.copytree(source, broken)
    (broken / "tokenizer.json").write_bytes(b"{}")
    with pytest.raises(ModelFileError):
        compile_embedder(broken, target, _silent)
    assert os.listdir(target) == ["marker"]
    assert os.listdir(target.parent) == ["onnx"]


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no sentence-transformers model"):
        compile_embedder(tmp_path, tmp_path / "name" / "onnx", _silent)
