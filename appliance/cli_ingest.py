"""`appliance ingest …`: what the folder's reading is doing, and steering it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

import typer

from appliance import show_ingest
from appliance.client import Client
from appliance.context import AsJson, config_of

app = typer.Typer(help="See and steer how files are taken in.", no_args_is_help=True)


@app.command()
def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Show what is being read, how fast, and what stands still."""

    async def go(client: Client) -> None:
        show_ingest.status((await client.status()).ingest, as_json)

    _with_client(context, go)


@app.command()
def pause(context: typer.Context) -> None:
    """Read no more files until `resume`, over restarts too."""
    _control(context, "pause", "paused; `appliance ingest resume` goes on")


@app.command()
def resume(context: typer.Context) -> None:
    """Go on reading files."""
    _control(context, "resume", "goes on")


@app.command()
def confirm(context: typer.Context) -> None:
    """Believe that the many files which are missing were deleted on purpose."""
    _control(context, "confirm", "confirmed: documents without a file are removed")


@app.command()
def retry(
    context: typer.Context,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH…", help="As `appliance documents` prints them.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read failed documents again: those named, or all."""

    async def go(client: Client) -> None:
        show_ingest.retried(await client.retry(paths or None), as_json)

    _with_client(context, go)


@app.command()
def plan(context: typer.Context, as_json: AsJson = False) -> None:
    """Show what the next look at the folder would do, without doing it."""

    async def go(client: Client) -> None:
        show_ingest.plan(await client.plan(), as_json)

    _with_client(context, go)


def _control(context: typer.Context, action: Literal["pause", "resume", "confirm"], done: str) -> None:
    async def go(client: Client) -> None:
        await client.control_ingest(action)
        print(f"ingest {done}")

    _with_client(context, go)


def _with_client(context: typer.Context, work: Callable[[Client], Awaitable[None]]) -> None:
    async def go() -> None:
        async with Client(config_of(context).socket) as client:
            await work(client)

    asyncio.run(go())
