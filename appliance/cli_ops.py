"""`appliance bench …`: what an administrator measures. Needs no daemon; each command a few lines over ops/."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from appliance.context import AsJson, config_of
from appliance.errors import ConfigError

bench = typer.Typer(help="Measure this machine.", no_args_is_help=True)


@bench.callback()
def _bench() -> None:
    """Keep the name of the one command."""


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

    unknown = [name for name in only or () if name not in bench_engine.CHOICES]
    if unknown:
        raise ConfigError(f"no figure {unknown[0]!r}; there are {', '.join(bench_engine.CHOICES)}")
    report = bench_engine.run(subject_of(config_of(context), model), only or (), runs, _say)
    if as_json:
        print(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
    else:
        print(report.markdown() if markdown else report.table())


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
