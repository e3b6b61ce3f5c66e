"""Bringing a model into the registry: fetch, record, and compile where it is an embedder or a reranker.

Compiling needs packages that the running appliance does without. There, `pull` with `compile=None` fetches,
`python -m models.compile_embedder` or `…compile_reranker` compiles in an environment that has them, and the registry
sees it.
"""

from __future__ import annotations

import fcntl
import importlib.util
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from models.card import CARDS, WEIGHTS_FILE
from models.catalogue import Catalogue, CatalogueModel, FolderSource, Role
from models.digest import Progress, sha256_of
from models.errors import CompileError, FetchError, ModelFileError
from models.fetch import SOURCE_FOLDER, Means, fetch
from models.registry import COMPILED_FOLDER, InstalledModel, Registry

Compile = Callable[[Role, Path, Path, Progress], object]
"""Compile the model of a role, from a source folder into a target folder; CompileError when it cannot be done here."""


def can_compile_here() -> bool:
    """Tell whether this interpreter has the packages for compiling."""
    return all(
        importlib.util.find_spec(name) for name in ("torch", "sentence_transformers", "onnx", "onnxscript")
    )


def compile_here(role: Role, source: Path, target: Path, progress: Progress) -> object:
    """Compile in this interpreter.

    Raises:
        CompileError: it lacks the packages, or the model cannot be compiled.
    """
    from models.compile_embedder import compile_embedder
    from models.compile_reranker import compile_reranker

    compile = compile_reranker if role == "rerank" else compile_embedder
    try:
        return compile(source, target, progress)
    except CompileError as error:
        raise CompileError(
            f"{error}\nThe model is fetched. In an environment with the `compile` extra, run\n"
            f"  python -m {CARDS[role].COMPILER} {source} {target}"
        ) from error


def pull(
    name: str,
    registry: Registry,
    catalogue: Catalogue,
    progress: Progress,
    *,
    compile: Compile | None = compile_here,
    means: Means | None = None,
) -> InstalledModel:
    """Install a model of the catalogue; what is done already is not done again.

    Args:
        compile: how a folder's model is compiled; None leaves it uncompiled (`InstalledModel.compiled` tells).
    Raises:
        UnknownModelError, FetchError, DigestError, NoSpaceError: as `fetch`; nothing was changed.
        CompileError: the model is fetched and recorded, but not compiled; the message says how.
    """
    model = catalogue.get(name)
    with _alone(registry.folder / name):
        known = next((each for each in registry.installed() if each.name == name), None)
        if known is None or not _is_current(model, known, registry):
            target = fetch(_held_to(model, known), registry.folder, progress, means)
            known = registry.record(model, target, progress)
        if not known.compiled and compile is not None:
            place = registry.folder / name
            compile(known.role, place / SOURCE_FOLDER, place / COMPILED_FOLDER, progress)
    return registry.get(name)


def add_folder(
    folder: Path,
    name: str | None,
    registry: Registry,
    progress: Progress,
    *,
    compile: Compile | None = compile_here,
) -> InstalledModel:
    """Install an embedder or reranker of one's own, from a sentence-transformers folder, which stays as it is.

    Args:
        name: the folder's name in lower case, where not given.
    Raises:
        ModelFileError: it is no such folder, or the name is taken by another model.
        CompileError: as `pull`.
    """
    name = (name or folder.absolute().name).lower().replace(" ", "-")
    config, weights = _configuration(folder), folder / WEIGHTS_FILE
    role = _role(folder, config)
    if not weights.is_file():
        raise ModelFileError(f"{folder}: has no {WEIGHTS_FILE}")
    sha256 = sha256_of(weights, progress)
    known = next((each for each in registry.installed() if each.name == name), None)
    if known is not None and (known.role, known.sha256) != (role, sha256):
        raise ModelFileError(f"{folder}: another model is installed as {name}; give this one another name")
    try:
        model = CatalogueModel(
            name=name, role=role, about="added", quantisation="F32", file=WEIGHTS_FILE, size=weights.stat().st_size,
            sha256=None, n_ctx=config.get("max_position_embeddings", 512), licence="its own", min_memory_gb=0,
            sources=(FolderSource(kind="folder", paths=(folder,)),),
        )  # fmt: skip
    except ValidationError as error:
        raise ModelFileError(f"{name!r} cannot be a model's name") from error
    return pull(name, registry, Catalogue(models=(model,)), progress, compile=compile)


def _configuration(folder: Path) -> dict[str, Any]:
    file = folder / "config.json"
    try:
        return dict(json.loads(file.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise ModelFileError(f"{file}: {error}; is this a folder of sentence-transformers?") from error


def _role(folder: Path, config: dict[str, Any]) -> Role:
    """Tell what a sentence-transformers folder holds."""
    if any(str(name).endswith("ForSequenceClassification") for name in config.get("architectures") or ()):
        return "rerank"
    if (folder / "modules.json").exists():
        return "embed"
    raise ModelFileError(f"{folder}: neither an embedder nor a cross-encoder of sentence-transformers")


def _is_current(model: CatalogueModel, known: InstalledModel, registry: Registry) -> bool:
    """Tell whether the model is here as the catalogue wants it; hashing it again is `verify`'s work."""
    return model.sha256 in (None, known.sha256) and registry.is_present(model.name)


def _held_to(model: CatalogueModel, known: InstalledModel | None) -> CatalogueModel:
    """Return the model with the hash recorded at its first fetch, where its publisher's is not known."""
    if model.sha256 is not None or known is None:
        return model
    return model.model_copy(update={"sha256": known.sha256})


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".pull.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FetchError(f"{place.name} is being pulled by another process; wait for it") from error
        yield
