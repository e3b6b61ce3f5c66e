"""The reranker's order: pure, over a real library with a compiled cross-encoder, and when it fails."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from appliance.config import load
from appliance.ops.private_library import EVERYTHING, private_library
from appliance.retrieval.rerank import ordered
from appliance.retrieval.retriever import Retrieved
from models.catalogue import load_catalogue
from models.fetch import Means
from models.install import add_folder, pull
from models.registry import Registry

pytest.importorskip("sentence_transformers", reason="needs the compile extra")

from tests.models.cross_encoders import word_counter

MINILM = "all-minilm-l6-v2"
QUERY = "When was the lighthouse built?"
# The made cross-encoder likes the word "pump", whatever is asked.
DOCUMENTS = {
    "lighthouse.txt": "The lighthouse was built in 1862 of granite.",
    "pump.txt": "One pump, another pump, and beside that pump a third pump.",
    "garden.txt": "The garden of the lighthouse has roses since the wall was built.",
}


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], "abcd"),
        ([1.0, 2.0, 3.0, 4.0], "dcba"),
        ([1.0, 2.0], "bacd"),  # what had no time keeps its place behind
        ([1.0, 1.0, 1.0, 1.0], "abcd"),  # equal ones keep their order
        ([-8.0, -9.0, -7.5], "cabd"),
    ],
)
def test_scores_decide_the_order_of_what_has_them(scores: Sequence[float], expected: str) -> None:
    assert "".join(ordered("abcd", scores)) == expected


def _silent(_what: str, _done: int, _total: int) -> None: ...


@pytest.fixture(scope="module")
def registry(models_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Registry:
    """The real embedder, and a reranker that was added from a folder and compiled."""
    registry = Registry(tmp_path_factory.mktemp("models"))
    pull(MINILM, registry, load_catalogue(), _silent, compile=None, means=Means(folders=[models_folder]))
    shutil.copytree(models_folder / MINILM / "onnx", registry.folder / MINILM / "onnx")
    stick = tmp_path_factory.mktemp("stick") / "pump-counter"
    add_folder(word_counter(stick, models_folder / MINILM / "source", "pump"), None, registry, _silent)
    return registry


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _search(registry: Registry, folder: Path, tmp_path: Path, **settings: str) -> Retrieved:
    environment = {"APPLIANCE_MODELS__FOLDER": str(registry.folder), "APPLIANCE_EMBED__RERANK_MS": "60000"}
    environment |= {f"APPLIANCE_EMBED__{name}": value for name, value in settings.items()}
    with private_library(load(tmp_path, environment), folder, lambda _said: None) as searched:
        return searched.retriever.search(QUERY, EVERYTHING, 3)


def _paths(found: Retrieved) -> list[str]:
    return [passage.path for passage in found.passages]


def test_an_installed_reranker_has_the_last_word_on_the_order_and_evidence_follows(
    registry: Registry, folder: Path, tmp_path: Path
) -> None:
    fused = _search(registry, folder, tmp_path, RERANKER="none")
    assert _paths(fused) == ["lighthouse.txt", "garden.txt", "pump.txt"]
    reranked = _search(registry, folder, tmp_path)
    assert _paths(reranked) == ["pump.txt", "lighthouse.txt", "garden.txt"]
    assert [passage.number for passage in reranked.passages] == [1, 2, 3]
    assert (
        reranked.confidence < fused.confidence - 0.3
    )  # what is first now has little to do with the question


def test_a_reranker_that_fails_leaves_the_fused_order_and_one_line_in_the_log(
    registry: Registry, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Registry(tmp_path / "models")
    shutil.copytree(registry.folder, broken.folder)
    card = broken.get("pump-counter").path / "reranker.json"
    card.write_text(card.read_text().replace('"max_seq_length": 64', '"max_seq_length": 512'))
    long = tmp_path / "long"
    shutil.copytree(folder, long)
    (long / "garden.txt").write_text(DOCUMENTS["garden.txt"] + " There is a bench" * 20)
    with caplog.at_level(logging.WARNING, "appliance.retrieval.rerank"):
        found = _search(broken, long, tmp_path / "home")
    assert _paths(found) == ["lighthouse.txt", "garden.txt", "pump.txt"]
    assert [record.getMessage().split(":")[:2] for record in caplog.records] == [
        ["the reranker failed, the fused order stands", " pump-counter"]
    ]
