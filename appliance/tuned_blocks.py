"""What `appliance tune blocks` found for each model: whether its answers stand when passages' cells are joined.

A file of the state folder, which `engine.blocks: auto` reads. It counts for the very model file that was measured, on
any machine: what it is about is answers, not speed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from appliance.engine.request import Reuse
from appliance.settings import EngineSettings
from models.catalogue import Catalogue
from models.registry import InstalledModel

log = logging.getLogger(__name__)

FILE_NAME = "tuned-blocks.yaml"
_HEAD = """\
# Written by `appliance tune blocks`; `engine.blocks: auto` takes it. Delete this file to go back to the catalogue's.
"""


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TunedBlocks(_Entry):
    """What was picked for one model.

    Attributes:
        sha256: of the model's file.
        n_fresh: with "blend", tokens of each passage's beginning that are computed anew.
        figures: what was measured, by the names of `appliance bench blocks`.
        measured: date.
    """

    model: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    mode: Literal["exact", "blocks", "blend"]
    n_fresh: int = Field(default=0, ge=0, le=8192)
    figures: dict[str, float] = {}
    measured: str

    @property
    def reuse(self) -> Reuse:
        """The choice as the engine takes it."""
        return Reuse(self.mode, self.n_fresh)


class _File(_Entry):
    models: tuple[TunedBlocks, ...] = ()


def write(state: Path, tuned: TunedBlocks) -> Path:
    """Put a model's choice into the file of a home, in place of an earlier one; return its path."""
    state.mkdir(parents=True, exist_ok=True)
    others = [each for each in read(state) if each.sha256 != tuned.sha256]
    tree = _File(models=(*others, tuned)).model_dump(mode="json")
    file = state / FILE_NAME
    part = file.with_suffix(".part")
    part.write_text(_HEAD + yaml.safe_dump(tree, sort_keys=False, allow_unicode=True), "utf-8")
    part.replace(file)
    return file


def read(state: Path) -> Sequence[TunedBlocks]:
    """Return every model's choice; none where there is no file, or one that cannot be used."""
    file = state / FILE_NAME
    try:
        return _File.model_validate(yaml.safe_load(file.read_text("utf-8"))).models
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        log.warning("%s is left aside: %s", file, str(error).partition("\n")[0])
        return ()


def chosen(settings: EngineSettings, state: Path, model: InstalledModel, catalogue: Catalogue) -> Reuse:
    """Return what becomes of passages that this model has read before.

    What is set goes before what was measured with this file, and that before what the catalogue says of the model.
    """
    if settings.blocks != "auto":
        return Reuse(settings.blocks, settings.blend_tokens if settings.blocks == "blend" else 0)
    for tuned in read(state):
        if tuned.sha256 == model.sha256:
            return tuned.reuse
    return _of_catalogue(model, catalogue)


def _of_catalogue(model: InstalledModel, catalogue: Catalogue) -> Reuse:
    for known in catalogue.models:
        # Another file under a catalogue's name is another model.
        if known.name == model.name and known.sha256 in (None, model.sha256):
            mode, _, n_fresh = known.reuse.partition(" ")
            return (
                Reuse("blend", int(n_fresh)) if n_fresh else Reuse("blocks" if mode == "blocks" else "exact")
            )
    return Reuse()
