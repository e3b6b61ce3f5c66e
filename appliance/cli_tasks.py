"""`appliance summarise`, `translate`, `extract`: whole documents. Progress on stderr, results on stdout."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer
from pydantic import ValidationError

from appliance import show_tasks
from appliance.api.schema_tasks import ExtractRequest, SummariseRequest, TaskRequest, TranslateRequest
from appliance.client import Client
from appliance.context import AsJson, config_of

_INTERRUPTED = 130  # as shells say it: 128 + SIGINT
_Request = TypeVar("_Request", bound=TaskRequest)

Fresh = Annotated[bool, typer.Option("--fresh", help="Begin anew, whatever is kept of an earlier run.")]
Deadline = Annotated[
    float | None,
    typer.Option("--deadline", metavar="SECONDS", help="Break off after so long; what is done is kept."),
]


def summarise(
    context: typer.Context,
    document: Annotated[str, typer.Argument(help="Its path, the end of its path, or its id.")],
    fresh: Fresh = False,
    deadline: Deadline = None,
    as_json: AsJson = False,
) -> None:
    """Summarise a document of any length, with the place of each sentence.

    Stopped with Ctrl+C, the same command goes on where it was.
    """
    request = _request(SummariseRequest, document=document, fresh=fresh, deadline_s=deadline)
    shown = show_tasks.Summary(as_json)
    _run(context, lambda client: client.summarise(request), shown, "the same command goes on from here")


def translate(
    context: typer.Context,
    to: Annotated[str, typer.Option("--to", metavar="LANGUAGE", help="For example: German.")],
    text: Annotated[
        str | None, typer.Argument(help="The text; without it and without the options: stdin.")
    ] = None,
    passage: Annotated[int | None, typer.Option(metavar="ID", help="A passage: its chunk_id.")] = None,
    document: Annotated[str | None, typer.Option(metavar="DOCUMENT", help="A whole document.")] = None,
    page: Annotated[int | None, typer.Option(min=1, help="Only this page, or slide, of it.")] = None,
    fresh: Fresh = False,
    deadline: Deadline = None,
    as_json: AsJson = False,
) -> None:
    """Translate a text, a passage or a document; numbers that differ from the source are reported on stderr."""
    if text is None and passage is None and document is None:
        text = sys.stdin.read()
    request = _request(
        TranslateRequest, to=to, text=text, chunk_id=passage, document=document, page=page, fresh=fresh,
        deadline_s=deadline,
    )  # fmt: skip
    shown = show_tasks.Translation(as_json)
    resumes = "the same command goes on from here" if document else "nothing is kept of it"
    _run(context, lambda client: client.translate(request), shown, resumes)


def extract(
    context: typer.Context,
    documents: Annotated[
        list[str], typer.Argument(metavar="DOCUMENT…", help="Paths, ends of paths, or ids.")
    ],
    columns: Annotated[
        str | None, typer.Option(metavar="NAME,NAME…", help="What to find, separated by commas.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE", exists=True, dir_okay=False, help="JSON schema of one row.")
    ] = None,
    row: Annotated[str, typer.Option(metavar="WORDS", help='What one row is: "an invoice".')] = "",
    strict: Annotated[
        bool, typer.Option("--strict", help="Leave out values that do not stand in the document.")
    ] = False,
    format: Annotated[Literal["csv", "jsonl"], typer.Option(help="Form of the rows.")] = "csv",
    fresh: Fresh = False,
    deadline: Deadline = None,
    as_json: AsJson = False,
) -> None:
    """Take rows out of documents: as CSV, as lines of JSON, or with all that is known of them (--json).

    Stopped with Ctrl+C, the same command goes on where it was.
    """
    request = _request(
        ExtractRequest, documents=documents, row=row, strict=strict, fresh=fresh, deadline_s=deadline,
        columns=None if columns is None else columns.split(","),
        json_schema=None if schema is None else _schema(schema),
    )  # fmt: skip
    shown = show_tasks.Rows("json" if as_json else format)
    _run(context, lambda client: client.extract(request), shown, "the same command goes on from here")


def _request(kind: type[_Request], **values: Any) -> _Request:
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        said = first["msg"].removeprefix("Value error, ")
        raise typer.BadParameter(f"{place}: {said}" if place else said) from error


def _schema(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"{file} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise typer.BadParameter(f"{file}: a JSON schema is an object")
    return found


def _run(context: typer.Context, begin: Any, shown: show_tasks.Shown, resumes: str) -> None:
    async def go() -> None:
        async with Client(config_of(context).socket) as client:
            stream: AsyncGenerator[Any, None] = begin(client)
            async with aclosing(stream) as events:
                async for event in events:
                    shown.take(event)
        shown.finish()

    try:
        asyncio.run(go())
    except KeyboardInterrupt:
        shown.note(f"stopped; {resumes}")
        raise typer.Exit(_INTERRUPTED) from None
