"""`appliance bench …` and `appliance tune`: what an administrator measures. A few lines each over ops/; no daemon."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.context import AsJson, config_of
from appliance.errors import ConfigError

if TYPE_CHECKING:
    from appliance.ops.report import Report

bench = typer.Typer(help="Measure this machine.", no_args_is_help=True)


@bench.command()
def engine(
    context: typer.Context,
    model: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="Model to measure; else the chat model in use.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="FIGURE", help="Measure this figure only; may be repeated.")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, max=100, help="Runs, of which the median is taken.")] = 5,
    as_json: AsJson = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a section for a Markdown page.")
    ] = False,
) -> None:
    """Measure the engine on this machine: private daemons, about ten minutes for a small model on two cores.

    Leave the machine alone meanwhile. docs/benchmarks.md says what each figure means.
    """
    from appliance.ops import bench_engine
    from appliance.ops.rig import subject_of

    _check_names(only or (), bench_engine.CHOICES)
    _show(bench_engine.run(subject_of(config_of(context), model), only or (), runs, _say), as_json, markdown)


@bench.command()
def ingest(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR", exists=True, file_okay=False, help="Documents to measure; else made ones."
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="FIGURE", help="Measure this figure only; may be repeated.")
    ] = None,
    small: Annotated[
        bool, typer.Option("--small", help="A tenth of everything, or less: to try it out.")
    ] = False,
    as_json: AsJson = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a section for a Markdown page.")
    ] = False,
) -> None:
    """Measure ingest on this machine: private homes and daemons, about half an hour on two cores.

    Leave the machine alone meanwhile. docs/benchmarks.md says what each figure means.
    """
    from appliance.ops import bench_ingest
    from appliance.ops.ingest_figures import FULL, NAMES, SMALL

    _check_names(only or (), NAMES)
    sizes = SMALL if small else FULL
    _show(bench_ingest.run(config_of(context), folder, only or (), sizes, _say), as_json, markdown)


def tune(
    context: typer.Context,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Model to tune for; else the chat model in use.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what is better; write nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find the engine's fastest settings for this machine and model; takes less than three minutes.

    What is better goes to state/tuned.yaml in the home; what appliance.yaml or the environment sets is left alone.
    """
    import asyncio

    from appliance import tuned
    from appliance.lock import owner
    from appliance.ops import tune as tuning
    from models.registry import Registry

    config, registry = config_of(context), Registry(config_of(context).models)
    name = model or config.settings.engine.model
    chosen = registry.chosen("chat", name)
    if chosen is None:
        raise ConfigError("no chat model is installed: `appliance model pull NAME` first")
    if pid := owner(config.home):
        _say(f"a daemon is running here (pid {pid}): ask it nothing meanwhile, or the figures mean little")
    result = asyncio.run(tuning.run(config, chosen, _say))
    file = None if dry_run or not result.changes else tuned.write(config.state, result.tuned())
    if as_json:
        print(json.dumps(result.to_json() | {"file": file and str(file)}, indent=2))
        return
    print(result.verdict())
    if file:
        print(f"written to {file}; a running daemon takes it when it starts again")


def _check_names(asked: Sequence[str], known: Sequence[str]) -> None:
    if unknown := [name for name in asked if name not in known]:
        raise ConfigError(f"no figure {unknown[0]!r}; there are {', '.join(known)}")


def _show(report: Report, as_json: bool, markdown: bool) -> None:
    if as_json:
        print(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
    else:
        print(report.markdown() if markdown else report.table())


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
