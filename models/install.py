"""Pulling a model from the catalogue into the registry: fetch, record, and compile where it is an embedder.

Compiling needs packages that the running appliance does without. There, `pull` with `compile=None` fetches,
`python -m models.compile_embedder` compiles in an environment that has them, and the registry sees it.
"""

from __future__ import annotations

import fcntl
import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from models.catalogue import Catalogue, CatalogueModel
from models.digest import Progress
from models.errors import CompileError, FetchError
from models.fetch import SOURCE_FOLDER, Means, fetch
from models.registry import COMPILED_FOLDER, InstalledModel, Registry

Compile = Callable[[Path, Path, Progress], object]
"""Compile the model in a source folder into a target folder; CompileError when that cannot be done here."""


def can_compile_here() -> bool:
    """Tell whether this interpreter has the packages for compiling."""
    return all(
        importlib.util.find_spec(name) for name in ("torch", "sentence_transformers", "onnx", "onnxscript")
    )


def compile_here(source: Path, target: Path, progress: Progress) -> object:
    """Compile in this interpreter.

    Raises:
        CompileError: it lacks the packages, or the model cannot be compiled.
    """
    from models.compile_embedder import compile_embedder

    try:
        return compile_embedder(source, target, progress)
    except CompileError as error:
        raise CompileError(
            f"{error}\nThe model is fetched. In an environment with the `compile` extra, run\n"
            f"  python -m models.compile_embedder {source} {target}"
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
        compile: how an embedder is compiled; None leaves it uncompiled (`InstalledModel.compiled` tells).
    Raises:
        UnknownModelError, FetchError, DigestError, NoSpaceError: as `fetch`; nothing was changed.
        CompileError: the embedder is fetched and recorded, but not compiled; the message says how.
    """
    model = catalogue.get(name)
    with _alone(registry.folder / name):
        known = next((each for each in registry.installed() if each.name == name), None)
        if known is None or not _is_current(model, known, registry):
            target = fetch(_held_to(model, known), registry.folder, progress, means)
            known = registry.record(model, target, progress)
        if not known.compiled and compile is not None:
            place = registry.folder / name
            compile(place / SOURCE_FOLDER, place / COMPILED_FOLDER, progress)
    return registry.get(name)


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
