"""The registry: pull, add, use and verify on a folder, with the real test models."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from models.catalogue import Catalogue, load_catalogue
from models.errors import CompileError, DigestError, FetchError, ModelFileError, UnknownModelError
from models.fetch import Means
from models.install import pull
from models.registry import MANIFEST_FILE, Registry
from tests.models.wheelhouse import entry

SMOL = "smollm2-135m-instruct"
MINILM = "all-minilm-l6-v2"


def _silent(_what: str, _done: int, _total: int) -> None: ...


def _refuse(requirement: str, _folder: Path, _report: Callable[[int, int], None]) -> Path:
    raise FetchError(f"{requirement} was asked for")


@pytest.fixture
def means(models_folder: Path) -> Means:
    """The test models' folder as the only source."""
    return Means(folders=[models_folder], endpoint="http://127.0.0.1:9", download=_refuse)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "models")


def test_an_empty_registry_has_nothing_and_says_how_to_fetch(registry: Registry) -> None:
    assert registry.installed() == []
    assert registry.active("chat") is None
    with pytest.raises(UnknownModelError, match=f"appliance model pull {SMOL}"):
        registry.get(SMOL)
    with pytest.raises(UnknownModelError):
        registry.use(SMOL)


def test_the_first_chat_model_that_is_pulled_is_put_to_use(registry: Registry, means: Means) -> None:
    model = pull(SMOL, registry, load_catalogue(), _silent, means=means)
    assert model.path == registry.folder / SMOL / "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert (model.role, model.n_ctx_train, model.hash_origin) == ("chat", 8192, "publisher")
    assert registry.active("chat") == model
    assert Registry(registry.folder).installed() == [model]


def test_pulling_again_does_no_work(registry: Registry, means: Means) -> None:
    first = pull(SMOL, registry, load_catalogue(), _silent, means=means)
    steps: list[str] = []
    no_source = Means(endpoint="http://127.0.0.1:9", download=_refuse)
    again = pull(
        SMOL, registry, load_catalogue(), lambda what, _done, _total: steps.append(what), means=no_source
    )
    assert again == first
    assert steps == []


def test_a_file_that_vanished_is_pulled_again(registry: Registry, means: Means) -> None:
    pull(SMOL, registry, load_catalogue(), _silent, means=means).path.unlink()
    assert pull(SMOL, registry, load_catalogue(), _silent, means=means).path.exists()


def test_an_added_model_is_linked_and_can_be_used(
    registry: Registry, means: Means, models_folder: Path
) -> None:
    pull(SMOL, registry, load_catalogue(), _silent, means=means)
    file = models_folder / SMOL / "SmolLM2-135M-Instruct.Q4_1.gguf"
    added = registry.add(file, "mine")
    assert (added.name, added.n_ctx_train, added.hash_origin, added.active) == ("mine", 8192, "added", False)
    assert file.exists()
    assert registry.use("mine").active
    assert not registry.get(SMOL).active
    assert registry.add(file).name == "smollm2-135m-instruct.q4_1"  # named after its file


def test_a_name_is_not_given_twice(registry: Registry, models_folder: Path, tmp_path: Path) -> None:
    file = models_folder / SMOL / "SmolLM2-135M-Instruct.Q4_1.gguf"
    registry.add(file, "mine")
    other = tmp_path / "other.gguf"
    other.write_bytes(file.read_bytes() + b"\0")
    with pytest.raises(ModelFileError, match="another model is installed as mine"):
        registry.add(other, "mine")
    assert registry.get("mine").size == file.stat().st_size


def test_a_file_that_is_no_model_is_not_added(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "page.gguf").write_bytes(b"<!DOCTYPE html>")
    with pytest.raises(ModelFileError, match="a web page"):
        registry.add(tmp_path / "page.gguf")
    assert registry.installed() == []


def test_verify_finds_changed_bytes_and_missing_files(
    registry: Registry, means: Means, tmp_path: Path
) -> None:
    whole = pull(SMOL, registry, load_catalogue(), _silent, means=means)
    changed, gone = (tmp_path / name for name in ("changed.gguf", "gone.gguf"))
    for file in (changed, gone):
        shutil.copyfile(whole.path, file)
        registry.add(file)
    with registry.get("changed").path.open("r+b") as stream:
        stream.seek(50_000_000)
        stream.write(b"bad sector")
    registry.get("gone").path.unlink()
    verdicts = {verdict.name: verdict for verdict in registry.verify(_silent)}
    assert verdicts[SMOL].ok
    assert "expected sha256 b179c952" in verdicts["changed"].problem
    assert "No such file" in verdicts["gone"].problem


def test_an_embedder_is_usable_once_it_is_compiled(
    registry: Registry, means: Means, models_folder: Path
) -> None:
    fetched = pull(MINILM, registry, load_catalogue(), _silent, compile=None, means=means)
    assert not fetched.compiled
    assert fetched.path == registry.folder / MINILM / "source"
    # What `python -m models.compile_embedder` leaves in another environment:
    shutil.copytree(models_folder / MINILM / "onnx", registry.folder / MINILM / "onnx")
    compiled = registry.active("embed")
    assert compiled is not None
    assert compiled.compiled
    assert compiled.path == registry.folder / MINILM / "onnx"
    assert [verdict.ok for verdict in registry.verify(_silent)] == [True]
    assert pull(MINILM, registry, load_catalogue(), _silent, compile=None, means=means) == compiled


def test_an_embedder_that_cannot_be_compiled_here_is_kept_and_the_command_told(
    registry: Registry, means: Means
) -> None:
    """An interpreter without the compile packages: the real one, with torch hidden from it."""
    pull(MINILM, registry, load_catalogue(), _silent, compile=None, means=means)
    script = (
        "import sys; from pathlib import Path; sys.modules['torch'] = sys.modules['sentence_transformers'] = None\n"
        "from models.catalogue import load_catalogue; from models.install import pull\n"
        "from models.registry import Registry\n"
        f"pull({MINILM!r}, Registry(Path({str(registry.folder)!r})), load_catalogue(), lambda *step: None)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert CompileError.__name__ in ended.stderr
    folder = registry.folder / MINILM
    assert f"python -m models.compile_embedder {folder / 'source'} {folder / 'onnx'}" in ended.stderr
    assert not registry.get(MINILM).compiled


def test_a_hash_that_was_not_known_is_recorded_and_held_to(registry: Registry, tmp_path: Path) -> None:
    catalogue = Catalogue(models=(entry(b"weights", [{"kind": "huggingface", "repo": "a/b"}], sha256=None),))
    (tmp_path / "tiny.gguf").write_bytes(b"weights")
    means = Means(folders=[tmp_path], endpoint="http://127.0.0.1:9")
    model = pull("tiny", registry, catalogue, _silent, means=means)
    assert model.hash_origin == "first fetch"
    model.path.unlink()
    (tmp_path / "tiny.gguf").unlink()
    (tmp_path / "tiny.gguf").write_bytes(b"another")
    with pytest.raises(DigestError) as caught:
        pull("tiny", registry, catalogue, _silent, means=means)
    assert caught.value.expected == model.sha256


def test_a_manifest_that_was_half_written_is_never_seen(registry: Registry, means: Means) -> None:
    pull(SMOL, registry, load_catalogue(), _silent, means=means)
    before = (registry.folder / MANIFEST_FILE).read_bytes()
    # Killed while writing: the new file lies beside the old one, which still counts.
    (registry.folder / f".{MANIFEST_FILE}.new").write_bytes(before[:40])
    assert [model.name for model in registry.installed()] == [SMOL]
    registry.use(SMOL)
    assert json.loads((registry.folder / MANIFEST_FILE).read_bytes()) == json.loads(before)


def test_a_damaged_manifest_is_named_and_files_are_kept(registry: Registry, means: Means) -> None:
    path = pull(SMOL, registry, load_catalogue(), _silent, means=means).path
    (registry.folder / MANIFEST_FILE).write_text('{"version": 1, "mod', encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"manifest\.json: cannot be read"):
        registry.installed()
    (registry.folder / MANIFEST_FILE).unlink()
    inode = path.stat().st_ino
    nothing = Means(endpoint="http://127.0.0.1:9", download=_refuse)
    assert pull(SMOL, registry, load_catalogue(), _silent, means=nothing).path.stat().st_ino == inode


def _add(folder: Path, file: Path) -> None:
    Registry(folder).add(file)


def test_two_processes_that_add_at_once_both_succeed(
    registry: Registry, models_folder: Path, tmp_path: Path
) -> None:
    model = models_folder / SMOL / "SmolLM2-135M-Instruct.Q4_1.gguf"
    files = [tmp_path / f"copy{n}.gguf" for n in range(4)]
    context = multiprocessing.get_context("spawn")
    for file in files:
        os.symlink(model.absolute(), file)
    workers = [context.Process(target=_add, args=(registry.folder, file)) for file in files]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert [each.name for each in registry.installed()] == [f"copy{n}" for n in range(4)]
