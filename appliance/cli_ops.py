"""`appliance bench …` and `appliance tune …`: what an administrator measures. A few lines each over ops/; no daemon."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.config import Config
from appliance.context import AsJson, config_of
from appliance.errors import ConfigError

if TYPE_CHECKING:
    from appliance.ops.block_report import BlocksReport
    from appliance.ops.report import Report
    from models.registry import InstalledModel

bench = typer.Typer(help="Measure this machine.", no_args_is_help=True)
tune = typer.Typer()

Questions = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Golden questions; else the home's, if 20 have an answer; else made ones."
    ),
]
Docs = Annotated[Path | None, typer.Option(metavar="DIR", help="Their documents; else the watched folder.")]
Limit = Annotated[
    int, typer.Option(min=1, help="Only so many questions, spread evenly over the file: always the same.")
]
Fresh = Annotated[
    list[int] | None,
    typer.Option(
        metavar="N", min=1, max=8192,
        help="Tokens of each passage that blend computes anew; else engine.blend_tokens; may be repeated.",
    ),
]  # fmt: skip


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


@bench.command()
def blocks(
    context: typer.Context,
    model: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="Model to measure; else the chat model in use.")
    ] = None,
    questions: Questions = None,
    docs: Docs = None,
    limit: Limit = 60,
    fresh: Fresh = None,
    as_json: AsJson = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a section for a Markdown page.")
    ] = False,
) -> None:
    """Measure what passages whose cells are kept spare, and what that costs in answers: a private daemon.

    Takes four answers a question and more. Leave the machine alone meanwhile. docs/benchmarks.md says what each
    figure means.
    """
    from appliance.ops import bench_blocks
    from appliance.ops.rig import subject_of

    config = config_of(context)
    subject = subject_of(config, model)
    with bench_blocks.task_of(config, questions, docs, limit, fresh or ()) as task:
        _show(bench_blocks.run(subject, task, _say), as_json, markdown)


Model = Annotated[
    str | None, typer.Option(metavar="NAME", help="Model to tune for; else the chat model in use.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what is better; write nothing.")]


@tune.callback(invoke_without_command=True)
def tune_engine(
    context: typer.Context, model: Model = None, dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Find the engine's fastest settings for this machine and model; takes less than three minutes.

    What is better goes to state/tuned.yaml in the home; what appliance.yaml or the environment sets is left alone.
    """
    import asyncio

    from appliance import tuned
    from appliance.ops import tune as tuning

    if context.invoked_subcommand is not None:
        return
    config = config_of(context)
    chosen = _chosen(config, model)
    result = asyncio.run(tuning.run(config, chosen, _say))
    file = None if dry_run or not result.changes else tuned.write(config.state, result.tuned())
    if as_json:
        print(json.dumps(result.to_json() | {"file": file and str(file)}, indent=2))
        return
    print(result.verdict())
    if file:
        print(f"written to {file}; a running daemon takes it when it starts again")


@tune.command("blocks")
def tune_blocks(
    context: typer.Context,
    model: Model = None,
    questions: Questions = None,
    docs: Docs = None,
    limit: Limit = 150,
    fresh: Fresh = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Find out whether a model's answers stand when passages that it has read before are not computed again.

    The fastest mode within two points of `exact` goes to state/tuned-blocks.yaml in the home, which engine.blocks auto
    takes. It makes the answers of `appliance bench blocks`, to more questions: two points are one question of fifty.
    """
    from appliance import tuned_blocks as tuned
    from appliance.ops import bench_blocks
    from appliance.ops import tune_blocks as tuning
    from appliance.ops.rig import subject_of

    config = config_of(context)
    chosen = _chosen(config, model)
    with bench_blocks.task_of(config, questions, docs, limit, fresh or ()) as task:
        report = bench_blocks.run(subject_of(config, chosen.name), task, _say)
    file = None if dry_run else tuned.write(config.state, tuning.tuned(report, chosen))
    if as_json:
        print(json.dumps(report.to_json() | {"file": file and str(file)}, indent=2, ensure_ascii=False))
        return
    print(report.table())
    print(tuning.verdict(report))
    if file:
        print(f"written to {file}; a running daemon takes it when it starts again")
    if config.settings.engine.blocks != "auto":
        print(
            f"engine.blocks is set to {config.settings.engine.blocks}, which goes before it (auto: as measured)"
        )


def _chosen(config: Config, model: str | None) -> InstalledModel:
    """Return the model to tune for; warn when a daemon runs beside."""
    from appliance.lock import owner
    from models.registry import Registry

    chosen = Registry(config.models).chosen("chat", model or config.settings.engine.model)
    if chosen is None:
        raise ConfigError("no chat model is installed: `appliance model pull NAME` first")
    if pid := owner(config.home):
        _say(f"a daemon is running here (pid {pid}): ask it nothing meanwhile, or the figures mean little")
    return chosen


def _check_names(asked: Sequence[str], known: Sequence[str]) -> None:
    if unknown := [name for name in asked if name not in known]:
        raise ConfigError(f"no figure {unknown[0]!r}; there are {', '.join(known)}")


def _show(report: Report | BlocksReport, as_json: bool, markdown: bool) -> None:
    if as_json:
        print(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
    else:
        print(report.markdown() if markdown else report.table())


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
