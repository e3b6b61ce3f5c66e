"""What `appliance tune` found for this machine and model: a file of the state folder, below the administrator's own.

It counts only where it was measured: with another processor, number of cores or model it is left aside.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from appliance import hardware

log = logging.getLogger(__name__)

FILE_NAME = "tuned.yaml"
ORIGIN = "tuned"  # of a setting, as `appliance config` shows it
_HEAD = """\
# Written by `appliance tune`. Delete this file to go back to `replaced`.
# What appliance.yaml or the environment sets goes before it; it counts only on this machine, with this model.
"""


class Tuned(BaseModel):
    """The winner, and where and against what it won.

    Attributes:
        engine: settings of that section → their values; `replaced`: what they were before.
        gain: seconds of a usual question before ÷ after.
        measured: date.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    cpu: str
    n_cores: int
    model: str
    engine: dict[str, int | str]
    replaced: dict[str, int | str]
    gain: float
    measured: str


def machine_key(root: Path = hardware.ROOT) -> tuple[str, int]:
    """Return what a machine is recognised by: its processor and the cores that we may use."""
    return hardware.cpu_model(root), hardware.usable_cores(root)


def write(state: Path, tuned: Tuned) -> Path:
    """Write the file of a home, whole or not at all; return its path."""
    state.mkdir(parents=True, exist_ok=True)
    file = state / FILE_NAME
    part = file.with_suffix(".part")
    part.write_text(_HEAD + yaml.safe_dump(tuned.model_dump(), sort_keys=False, allow_unicode=True), "utf-8")
    part.replace(file)
    return file


def read(state: Path, model: str | None, root: Path = hardware.ROOT) -> Mapping[str, Any]:
    """Return the engine's settings that were measured with this model on this machine; empty when there are none."""
    file = state / FILE_NAME
    try:
        tuned = Tuned.model_validate(yaml.safe_load(file.read_text("utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        log.warning("%s is left aside: %s", file, str(error).partition("\n")[0])
        return {}
    found = (*machine_key(root), model)
    if (tuned.cpu, tuned.n_cores, tuned.model) != found:
        log.info(
            "%s was measured with %s on %s, %d cores: left aside", file, tuned.model, tuned.cpu, tuned.n_cores
        )
        return {}
    return tuned.engine
