"""The options of `ask` and `search` that say which documents are meant, and what they become on the wire."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from appliance.api.schema import SearchFilter
from appliance.api.schema_documents import DocumentsReply
from appliance.client import Client

_DATE = "YYYY[-MM[-DD]]"

Collections = Annotated[
    list[str] | None,
    typer.Option(
        "--collection", metavar="NAME", help="Only this sub-folder and those in it; may be repeated."
    ),
]
Documents = Annotated[
    list[str] | None,
    typer.Option("--document", metavar="PATH", help="Only this document, as listed; may be repeated."),
]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", help="Only documents of this type (pdf, docx, …); may be repeated."),
]
Since = Annotated[
    str | None, typer.Option(metavar=_DATE, help="Only files changed then or later; local time.")
]
Until = Annotated[str | None, typer.Option(metavar=_DATE, help="Only files last changed then or earlier.")]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the options said."""

    collections: Sequence[str] | None
    documents: Sequence[str] | None
    types: Sequence[str] | None
    since: str | None
    until: str | None

    def __str__(self) -> str:
        """Say it in one line; empty when everything is meant."""
        lists = [("collection", self.collections), ("document", self.documents), ("type", self.types)]
        said = [f"{name} {' or '.join(values)}" for name, values in lists if values]
        said += [f"since {self.since}"] if self.since else []
        said += [f"until {self.until}"] if self.until else []
        return ", ".join(said)


async def search_filter(wanted: Wanted, client: Client) -> SearchFilter:
    """Return the filter; paths become ids by the daemon's list.

    Raises:
        typer.BadParameter: a date is none, or a path is not in the list.
    """
    paths = wanted.documents or ()
    listed = await client.documents() if paths else None
    return SearchFilter(
        collections=list(wanted.collections or ()),
        documents=[id for path in paths if listed for id in ids_of(path, listed)],
        formats=[name.lower().removeprefix(".") for name in wanted.types or ()],
        modified_from=None if wanted.since is None else days(wanted.since)[0].timestamp(),
        modified_until=None if wanted.until is None else days(wanted.until)[1].timestamp() - 1e-6,
    )


def ids_of(path: str, listed: DocumentsReply) -> list[int]:
    """Return the ids of a document, given as it is listed or by where the file lies.

    Raises:
        typer.BadParameter: there is none.
    """
    lies_at, folder = Path(path).resolve(), Path(listed.ingest.folder).resolve()
    names = {path, str(lies_at.relative_to(folder))} if lies_at.is_relative_to(folder) else {path}
    if found := [document.id for document in listed.documents if document.path in names]:
        return found
    near = difflib.get_close_matches(path, [document.path for document in listed.documents], n=3)
    instead = (
        f"; did you mean {' or '.join(near)}?" if near else f"; {len(listed.documents)} others are listed"
    )
    raise typer.BadParameter(f"there is no document {path!r}{instead}", param_hint="--document")


def days(date: str) -> tuple[datetime, datetime]:
    """Return the beginning of a year, month or day and that of the next one, in local time.

    Raises:
        typer.BadParameter: there is no such date.
    """
    parts = re.fullmatch(r"(\d{4})(?:-(\d\d?)(?:-(\d\d?))?)?", date)
    try:
        year, month, day = parts.groups() if parts else ("0", None, None)
        begin = datetime(int(year), int(month or 1), int(day or 1))
        if day:
            return begin, begin + timedelta(days=1)
        if month and begin.month < 12:
            return begin, begin.replace(month=begin.month + 1)
        return begin, datetime(begin.year + 1, 1, 1)
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(f"{date!r} is no date: {_DATE}", param_hint="--since/--until") from error
