"""What is installed, and which model is in use: a folder of model files and its manifest.

`FOLDER/manifest.json`, `FOLDER/NAME/<publisher's file name>`, and of an embedder or reranker `FOLDER/NAME/source/`
and, compiled, `FOLDER/NAME/onnx/`.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from models.card import CARDS, MODEL_FILE, read_card
from models.catalogue import CatalogueModel, Role
from models.digest import Progress, sha256_of
from models.errors import ModelError, ModelFileError, UnknownModelError
from models.fetch import link_or_copy, weights_of
from models.gguf import read_header

MANIFEST_FILE = "manifest.json"
COMPILED_FOLDER = "onnx"

HashOrigin = Literal["publisher", "first fetch", "added"]


class _Entry(BaseModel):
    """A model as the manifest has it; `file` is relative to the registry's folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    role: Role
    file: str
    sha256: str
    size: int
    n_ctx_train: int | None
    hash_origin: HashOrigin


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    active: dict[Role, str] = {}
    models: dict[str, _Entry] = {}


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model that is here.

    Attributes:
        path: a chat model's file; of others the compiled folder, or the source folder until it is compiled.
        sha256, size: of the publisher's file; `hash_origin` says who vouches for the hash.
        n_ctx_train: tokens it was trained for; None where the file does not say.
        compiled: always True for a chat model.
        active: in use for its role.
    """

    name: str
    role: Role
    path: Path
    sha256: str
    size: int
    n_ctx_train: int | None
    hash_origin: HashOrigin
    compiled: bool
    active: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `verify` found of one model; `problem` is empty when all is well."""

    name: str
    problem: str

    @property
    def ok(self) -> bool:
        """Tell whether the model is whole."""
        return not self.problem


class Registry:
    """The installed models of one folder. Several processes may use it; each change is one atomic step."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def installed(self) -> list[InstalledModel]:
        """Return every installed model, by name."""
        manifest = self._read()
        return [self._model(entry, manifest) for _, entry in sorted(manifest.models.items())]

    def get(self, name: str) -> InstalledModel:
        """Return an installed model.

        Raises:
            UnknownModelError: it is not installed.
        """
        for model in self.installed():
            if model.name == name:
                return model
        raise UnknownModelError(f"{name} is not installed; `appliance model pull {name}` fetches it")

    def active(self, role: Role) -> InstalledModel | None:
        """Return the model in use for a role; None when there is none."""
        return next((model for model in self.installed() if model.role == role and model.active), None)

    def chosen(self, role: Role, name: str) -> InstalledModel | None:
        """Return what a setting names: `auto` is the model in use for the role, None when there is none.

        Raises:
            UnknownModelError: another name is not installed.
        """
        return self.active(role) if name == "auto" else self.get(name)

    def use(self, name: str) -> InstalledModel:
        """Make an installed model the one in use for its role.

        Raises:
            UnknownModelError: it is not installed.
        """
        role = self.get(name).role
        with self._changing() as manifest:
            self._write(manifest.model_copy(update={"active": {**manifest.active, role: name}}))
        return self.get(name)

    def add(self, file: Path, name: str | None = None, progress: Progress | None = None) -> InstalledModel:
        """Install a GGUF file of one's own; it is linked or copied, the original stays.

        Args:
            name: the file's name in lower case, without .gguf, where not given.
        Raises:
            ModelFileError: it is no usable GGUF file, or the name is taken by another model.
        """
        header = read_header(file)
        name = (name or file.stem).lower().replace(" ", "-")
        if "/" in name or name.startswith("."):
            raise ModelFileError(f"{name!r} cannot be a model's name")
        sha256 = sha256_of(file, progress)
        known = self._read().models.get(name)
        if known is not None and known.sha256 != sha256:
            raise ModelFileError(f"{file}: another model is installed as {name}; give this one another name")
        if known is not None and self.is_present(name):
            return self.get(name)
        target = self.folder / name / file.name
        if not (target.exists() and target.samefile(file)):
            target.parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(file, target, progress or _silent)
        entry = _Entry(
            name=name,
            role="chat",
            file=str(target.relative_to(self.folder)),
            sha256=sha256,
            size=target.stat().st_size,
            n_ctx_train=header.n_ctx_train,
            hash_origin="added",
        )
        return self._put(entry)

    def record(self, model: CatalogueModel, target: Path, progress: Progress) -> InstalledModel:
        """Note that a catalogue's model has been fetched to `target`, as `fetch` returned it, checked."""
        weights = weights_of(model, target)
        entry = _Entry(
            name=model.name,
            role=model.role,
            file=str(weights.relative_to(self.folder)),
            sha256=model.sha256 or sha256_of(weights, progress),
            size=weights.stat().st_size,
            n_ctx_train=model.n_ctx,
            hash_origin="publisher" if model.sha256 else "first fetch",
        )
        return self._put(entry)

    def verify(self, progress: Progress) -> list[Verdict]:
        """Hash every installed file again, and compare."""
        manifest = self._read()
        return [
            Verdict(name, self._problem(entry, progress)) for name, entry in sorted(manifest.models.items())
        ]

    def is_present(self, name: str) -> bool:
        """Tell whether an installed model's file is there, of the recorded size; `verify` looks closer."""
        entry = self._read().models[name]
        file = self.folder / entry.file
        return file.is_file() and file.stat().st_size == entry.size

    def _problem(self, entry: _Entry, progress: Progress) -> str:
        try:
            expected = {self.folder / entry.file: entry.sha256}
            compiled = self._compiled_folder(entry)
            if compiled is not None:
                expected[compiled / MODEL_FILE] = read_card(compiled, CARDS[entry.role]).model_sha256
            for file, sha256 in expected.items():
                found = sha256_of(file, progress)
                if found != sha256:
                    return f"{file}: expected sha256 {sha256}, found {found}; pull or compile it again"
        except (OSError, ModelError) as error:
            return f"{error}; pull or compile it again"
        return ""

    def _model(self, entry: _Entry, manifest: _Manifest) -> InstalledModel:
        weights = self.folder / entry.file
        compiled = self._compiled_folder(entry)
        return InstalledModel(
            name=entry.name,
            role=entry.role,
            path=weights if entry.role == "chat" else compiled or weights.parent,
            sha256=entry.sha256,
            size=entry.size,
            n_ctx_train=entry.n_ctx_train,
            hash_origin=entry.hash_origin,
            compiled=entry.role == "chat" or compiled is not None,
            active=manifest.active.get(entry.role) == entry.name,
        )

    def _compiled_folder(self, entry: _Entry) -> Path | None:
        if entry.role == "chat":
            return None
        folder = self.folder / entry.name / COMPILED_FOLDER
        try:
            return folder if read_card(folder, CARDS[entry.role]).source_sha256 == entry.sha256 else None
        except ModelError:
            return None  # never compiled, or damaged: either way, compiling is what helps

    def _put(self, entry: _Entry) -> InstalledModel:
        with self._changing() as manifest:
            active = {entry.role: entry.name, **manifest.active}  # the first of its role is put to use
            self._write(_Manifest(active=active, models={**manifest.models, entry.name: entry}))
        return self.get(entry.name)

    def _read(self) -> _Manifest:
        file = self.folder / MANIFEST_FILE
        try:
            return _Manifest.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            return _Manifest()
        except (OSError, ValidationError) as error:
            raise ModelFileError(
                f"{file}: cannot be read: {error}; remove it and pull the models again; whole files are kept"
            ) from error

    def _write(self, manifest: _Manifest) -> None:
        file = self.folder / MANIFEST_FILE
        new = file.with_name(f".{MANIFEST_FILE}.new")
        with new.open("w", encoding="utf-8") as stream:
            stream.write(manifest.model_dump_json(indent=2) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        new.replace(file)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)  # the rename too must survive a power cut
        finally:
            os.close(folder)

    @contextmanager
    def _changing(self) -> Iterator[_Manifest]:
        """Hold the lock that keeps two processes from writing over each other; give the newest manifest."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f".{MANIFEST_FILE}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self._read()


def _silent(_what: str, _done: int, _total: int) -> None: ...
