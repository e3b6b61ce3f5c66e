"""What the command line's commands share: the home they were given, and the --json switch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from appliance.config import Config, load

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What was said before the command.

    Attributes:
        home: the --home argument.
    """

    home: Path | None


def config_of(context: typer.Context) -> Config:
    """Return the settings of the home that the command line names."""
    found = context.find_object(CommandContext)
    assert found is not None, "the root command sets it"
    return load(found.home)
