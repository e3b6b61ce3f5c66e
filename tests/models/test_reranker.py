"""The compiled cross-encoder gives the original's scores, in time; it is installed as embedders are."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from models.catalogue import Role, load_catalogue
from models.compile_reranker import compile_reranker
from models.errors import CompileError, ModelFileError, ModelRunError, UnknownModelError
from models.install import add_folder, pull
from models.reference_texts import REFERENCE_PAIRS
from models.registry import Registry
from models.reranker import OnnxReranker, open_reranker

pytest.importorskip("sentence_transformers", reason="needs the compile extra")

from sentence_transformers import CrossEncoder
from torch.nn import Identity

from tests.models.cross_encoders import WINDOW, random_cross_encoder

QUERY = "At what pressure does the safety valve open?"
TEXTS = ["The valve opens at 6.5 bar.", "The canteen is closed.", "Valves", "", "one two three " * 100]
MARCO = "ms-marco-minilm-l6-v2"


def _silent(_what: str, _done: int, _total: int) -> None: ...


@pytest.fixture(scope="module")
def tokenizer(models_folder: Path) -> Path:
    return models_folder / "all-minilm-l6-v2" / "source"


@pytest.fixture(scope="module")
def source(tokenizer: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_cross_encoder(tmp_path_factory.mktemp("stick") / "Random Cross-Encoder", tokenizer)


@pytest.fixture(scope="module")
def compiled(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("random") / "random" / "onnx"
    compile_reranker(source, target, _silent)
    return target


@pytest.fixture(scope="module")
def original(source: Path) -> CrossEncoder:
    return CrossEncoder(str(source), device="cpu", local_files_only=True)


def _expected(original: CrossEncoder, texts: list[str]) -> list[float]:
    scores = original.predict(
        [(QUERY, text) for text in texts], activation_fn=Identity(), show_progress_bar=False
    )
    return [float(score) for score in scores]


def test_int8_scores_are_nearly_those_of_the_original(compiled: Path, original: CrossEncoder) -> None:
    card = json.loads((compiled / "reranker.json").read_bytes())
    assert (card["precision"], card["max_seq_length"]) == ("int8", WINDOW)
    assert card["correlation"] > 0.98
    texts = [text for _, text in REFERENCE_PAIRS]
    scores = OnnxReranker(compiled, 60).scores(QUERY, texts)
    assert np.corrcoef(scores, _expected(original, texts))[0, 1] > 0.98


def test_fp32_scores_are_those_of_the_original_and_why_it_is_fp32_is_said(
    source: Path, original: CrossEncoder, tmp_path: Path
) -> None:
    target = tmp_path / "random" / "onnx"
    report = compile_reranker(source, target, _silent, min_correlation=1.0)
    assert (report.card.precision, report.card.correlation) == ("fp32", 1.0)
    assert "int8 was refused" in str(report)
    np.testing.assert_allclose(
        OnnxReranker(target, 60).scores(QUERY, TEXTS), _expected(original, TEXTS), atol=1e-4
    )
    assert [path.name for path in target.parent.iterdir()] == ["onnx"]  # nothing is left beside it


def _clock(*times: float) -> Iterator[float]:
    yield from times


@pytest.mark.parametrize(
    ("budget_s", "times", "n"),
    [
        (2.0, (0, 0.25, 0.5, 0.75, 1.0, 1.25), 5),  # all
        (0.75, (0, 0.25, 0.5, 0.75), 3),  # the third ends in time
        (0.9, (0, 0.25, 0.5, 0.75), 3),  # the fourth would not
        (1.0, (0, 0.25, 0.75), 2),  # the third may be as slow as the slowest
        (0.25, (0, 5.0), 1),  # the first always begins
    ],
)
def test_as_many_texts_are_scored_as_fit_the_budget(
    compiled: Path, budget_s: float, times: tuple[float, ...], n: int
) -> None:
    clock = _clock(*times)
    scored = OnnxReranker(compiled, budget_s, lambda: next(clock)).scores(QUERY, TEXTS)
    assert len(scored) == n
    assert scored == OnnxReranker(compiled, 60).scores(QUERY, TEXTS)[:n]


def test_no_texts_have_no_scores(compiled: Path) -> None:
    assert OnnxReranker(compiled, 60).scores(QUERY, []) == []


def test_a_model_that_fails_on_a_pair_is_named(compiled: Path, tmp_path: Path) -> None:
    folder = _with_too_wide_a_window(compiled, tmp_path)
    assert len(OnnxReranker(folder, 60).scores(QUERY, ["short"])) == 1
    with pytest.raises(ModelRunError, match=r"^random: "):
        OnnxReranker(folder, 60).scores(QUERY, ["too long " * 100])


def _with_too_wide_a_window(compiled: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "wide"
    shutil.copytree(compiled, folder)
    card = json.loads((folder / "reranker.json").read_bytes())
    (folder / "reranker.json").write_text(json.dumps(card | {"max_seq_length": 8 * WINDOW}))
    return folder


def test_a_model_of_several_numbers_is_no_reranker(tokenizer: Path, tmp_path: Path) -> None:
    three = random_cross_encoder(tmp_path / "three", tokenizer, n_labels=3)
    with pytest.raises(ModelFileError, match="3 numbers for a pair"):
        compile_reranker(three, tmp_path / "model" / "onnx", _silent)
    assert list((tmp_path / "model").iterdir()) == []


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "models")


@pytest.fixture
def installed(source: Path, compiled: Path, registry: Registry) -> Registry:
    """A registry with the reranker, compiled elsewhere."""

    def copy(role: Role, _source: Path, target: Path, _progress: object) -> None:
        assert role == "rerank"
        shutil.copytree(compiled, target)

    add_folder(source, "mine", registry, _silent, compile=copy)
    return registry


def test_a_folder_of_ones_own_is_installed_put_to_use_and_left_as_it_is(
    installed: Registry, source: Path
) -> None:
    model = installed.active("rerank")
    assert model is not None
    assert (model.name, model.role, model.compiled, model.n_ctx_train) == ("mine", "rerank", True, WINDOW)
    assert [verdict.ok for verdict in installed.verify(_silent)] == [True]
    assert (source / "model.safetensors").exists()
    (model.path / "model.onnx").write_bytes(b"bad sector")
    assert [verdict.ok for verdict in installed.verify(_silent)] == [False]


def test_a_folder_is_named_after_itself_and_compiled_later_by_the_command_that_is_told(
    source: Path, registry: Registry
) -> None:
    model = add_folder(source, None, registry, _silent, compile=None)
    assert (model.name, model.compiled) == ("random-cross-encoder", False)
    with pytest.raises(CompileError, match=r"python -m models\.compile_reranker .*/source .*/onnx"):
        OnnxReranker(registry.folder / model.name / "onnx", 1)


def test_an_embedders_folder_can_be_added_too(tokenizer: Path, registry: Registry) -> None:
    assert add_folder(tokenizer, "minilm", registry, _silent, compile=None).role == "embed"


def test_a_name_is_not_given_to_two_folders(installed: Registry, tokenizer: Path, source: Path) -> None:
    with pytest.raises(ModelFileError, match="another model is installed as mine"):
        add_folder(tokenizer, "mine", installed, _silent, compile=None)
    assert add_folder(source, "mine", installed, _silent, compile=None) == installed.get("mine")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "config.json.*is this a folder"),
        ({"config.json": "[1]", "model.safetensors": ""}, "is this a folder"),
        ({"config.json": '{"architectures": ["BertModel"]}', "model.safetensors": ""}, "neither an embedder"),
        ({"config.json": '{"architectures": ["XForSequenceClassification"]}'}, "has no model.safetensors"),
    ],
)
def test_a_folder_that_is_no_model_is_not_added(
    registry: Registry, tmp_path: Path, files: dict[str, str], said: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    with pytest.raises(ModelFileError, match=said):
        add_folder(folder, None, registry, _silent, compile=None)
    assert registry.installed() == []


def test_the_catalogues_reranker_is_pulled_from_a_stick(source: Path, registry: Registry) -> None:
    from models.fetch import Means

    stick = Means(folders=[source], endpoint="http://127.0.0.1:9")
    model = pull(MARCO, registry, load_catalogue(), _silent, compile=None, means=stick)
    assert (model.role, model.hash_origin) == ("rerank", "first fetch")
    assert (registry.folder / MARCO / "source" / "tokenizer.json").exists()


def test_the_setting_names_a_model_or_the_one_in_use_or_none(installed: Registry, tmp_path: Path) -> None:
    for name in ("auto", "mine"):
        opened = open_reranker(installed, name, 1)
        assert opened is not None
        assert len(opened.scores(QUERY, TEXTS[:1])) == 1
    assert open_reranker(installed, "none", 1) is None
    assert open_reranker(Registry(tmp_path / "empty"), "auto", 1) is None
    with pytest.raises(UnknownModelError, match="appliance model pull other"):
        open_reranker(installed, "other", 1)


def test_a_reranker_that_cannot_be_opened_is_logged_and_done_without(
    installed: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    (installed.get("mine").path / "tokenizer.json").write_bytes(b"damaged")
    with caplog.at_level(logging.WARNING):
        assert open_reranker(installed, "auto", 1) is None
    assert len(caplog.records) == 1
    assert "going without the reranker mine" in caplog.text
