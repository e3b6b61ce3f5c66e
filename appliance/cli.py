"""The `appliance` command: each command a few lines over client.py, the models room or the daemon."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from appliance import (
    background,
    cli_evaluate,
    cli_filter,
    cli_ingest,
    cli_model,
    cli_ops,
    cli_tasks,
    offline,
    show,
    show_ingest,
)
from appliance.cli_filter import Wanted, search_filter
from appliance.client import Client, RequestFailedError
from appliance.config import walk
from appliance.context import AsJson, CommandContext, config_of
from appliance.errors import AlreadyRunningError, ApplianceError, ConfigError, NotRunningError
from appliance.exits import Exit

app = typer.Typer(
    name="appliance",
    no_args_is_help=False,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(cli_evaluate.app, name="evaluate")
app.add_typer(cli_ingest.app, name="ingest")
app.add_typer(cli_model.app, name="model")
app.add_typer(cli_ops.bench, name="bench")
app.add_typer(cli_ops.tune, name="tune")
app.command()(cli_tasks.summarise)
app.command()(cli_tasks.translate)
app.command()(cli_tasks.extract)


def main() -> None:
    """Run the command line; every error is one line on stderr and a telling exit code."""
    try:
        app()  # exits by itself: 0, the code of a `typer.Exit`, or 2 with a word on how to use it
    except Exception as error:
        sys.exit(_report(error))


def _report(error: Exception) -> Exit:
    from ingest.errors import IngestError
    from models.errors import ModelError, UnknownModelError

    if not isinstance(error, ApplianceError | IngestError | ModelError | OSError):
        raise error
    print(f"appliance: {error}", file=sys.stderr)
    if isinstance(error, NotRunningError):
        return Exit.NOT_RUNNING
    if isinstance(error, ConfigError | AlreadyRunningError | FileNotFoundError | UnknownModelError):
        return Exit.USER_ERROR
    if isinstance(error, RequestFailedError) and not error.retryable and error.status < 500:
        return Exit.USER_ERROR
    return Exit.FAILURE


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    home: Annotated[
        Path | None, typer.Option(help="Home folder of the appliance (or $APPLIANCE_HOME).")
    ] = None,
) -> None:
    """An offline assistant that answers from your own documents. Without a command, in a terminal: the screen."""
    offline.enforce(os.environ)
    context.obj = CommandContext(home)
    if context.invoked_subcommand is None:
        if not sys.stdout.isatty():
            print(context.get_help())
            raise typer.Exit(Exit.USER_ERROR)
        tui(context)


@app.command()
def serve(
    context: typer.Context,
    detach: Annotated[
        bool, typer.Option("--detach", help="Return once it answers; it logs to daemon.log.")
    ] = False,
) -> None:
    """Run the daemon, in the foreground where not told otherwise."""
    config = config_of(context)
    if detach:
        print(f"daemon started, pid {background.start(config)}; log: {background.log_of(config)}")
        return
    logging.basicConfig(level=config.settings.log_level, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel("WARNING")
    from ingest.memory import use_one_arena

    use_one_arena()  # before the daemon's imports: some of them start threads
    from appliance import daemon

    daemon.main(config, os.environ.get("NOTIFY_SOCKET"))


@app.command()
def stop(context: typer.Context) -> None:
    """Stop the daemon."""
    pid = background.stop(config_of(context))
    print("no daemon was running" if pid is None else f"daemon stopped, pid {pid}")


@app.command()
def tui(context: typer.Context) -> None:
    """Open the screen."""
    # A program of its own: the screen knows the socket's client, and nothing here knows the screen.
    os.execv(sys.executable, [sys.executable, "-m", "tui", str(config_of(context).socket)])


@app.command()
def ask(
    context: typer.Context,
    question: str,
    conversation: Annotated[str | None, typer.Option(help="Go on with an earlier conversation.")] = None,
    collection: cli_filter.Collections = None,
    document: cli_filter.Documents = None,
    kind: cli_filter.Types = None,
    since: cli_filter.Since = None,
    until: cli_filter.Until = None,
    as_json: AsJson = False,
) -> None:
    """Ask a question: the passages first, then the answer as it is made, then its sources.

    Exit code 4: the documents do not say.
    """

    wanted = Wanted(collection, document, kind, since, until)

    async def go() -> bool:
        async with Client(config_of(context).socket) as client:
            only = await search_filter(wanted, client)
            show.confined(str(wanted), as_json)
            answer = show.Answer(as_json)
            async for event in client.ask(question, conversation=conversation, only=only):
                answer.take(event)
            return answer.finish()

    if not _run(go()):
        raise typer.Exit(Exit.NOT_ANSWERED)


@app.command()
def search(
    context: typer.Context,
    query: str,
    n: Annotated[
        int, typer.Option("-n", min=1, max=100, help="How many passages, before neighbours are joined.")
    ] = 5,
    collection: cli_filter.Collections = None,
    document: cli_filter.Documents = None,
    kind: cli_filter.Types = None,
    since: cli_filter.Since = None,
    until: cli_filter.Until = None,
    as_json: AsJson = False,
) -> None:
    """Find passages, without an answer."""

    wanted = Wanted(collection, document, kind, since, until)

    async def go() -> None:
        async with Client(config_of(context).socket) as client:
            only = await search_filter(wanted, client)
            show.confined(str(wanted), as_json)
            show.passages(await client.search(query, n, only=only), as_json)

    _run(go())


@app.command()
def add(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", exists=True, dir_okay=False, readable=True)],
    replace: Annotated[bool, typer.Option("--replace", help="Replace files of the same name.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put files into the watched folder."""

    async def go() -> None:
        async with Client(config_of(context).socket) as client:
            for file in files:
                with file.open("rb") as content:
                    show_ingest.added(await client.add(file.name, content, replace=replace), as_json)

    _run(go())


@app.command()
def documents(
    context: typer.Context,
    collection: Annotated[str | None, typer.Option(help="Only this sub-folder and those in it.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the documents, their state and what is wrong with those that are not ready."""

    async def go() -> None:
        async with Client(config_of(context).socket) as client:
            show_ingest.documents(await client.documents(collection), as_json)

    _run(go())


@app.command()
def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Show the engine, the folder and the index at a glance."""

    async def go() -> None:
        async with Client(config_of(context).socket) as client:
            show.status(await client.status(), as_json)

    _run(go())


@app.command()
def parse(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False)],
    as_json: AsJson = False,
) -> None:
    """Print what the machine reads from a file. Needs no daemon."""
    from ingest.parser import Parser
    from ingest.whole import read_whole

    parser = Parser(config_of(context).parse_limits)
    parser.start()
    try:
        parsed = read_whole(parser, file)
    finally:
        parser.stop()
    show_ingest.parsed(parsed, as_json)
    if parsed.outcome != "ok":
        raise typer.Exit(Exit.FAILURE)


@app.command()
def config(context: typer.Context, as_json: AsJson = False) -> None:
    """Print every setting, its value and where it came from."""
    found = config_of(context)
    show.settings(found, list(walk(found.settings)), as_json)


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)
