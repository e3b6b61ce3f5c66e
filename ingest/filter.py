"""Which documents a search is about: what is asked for (`Filter`), and what that means today (`Scope`). Pure."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ingest.errors import NotInLibraryError
from ingest.stored import printable

_N_NAMED = 10  # of what there is, in an error's message
_LAST_S = 9.2e9  # the year 2261: nanoseconds in 64 bits end there


@dataclass(frozen=True, slots=True)
class Filter:
    """Documents that a search is confined to; empty and None let everything in.

    Attributes:
        collections: names of sub-folders of the watched folder, deeper ones included; "" is the folder itself alone.
        documents: ids.
        formats: kinds as the record names them ("pdf", "docx").
        modified_from, modified_until: Unix seconds, both inclusive, of the file's last change.
    """

    collections: tuple[str, ...] = ()
    documents: tuple[int, ...] = ()
    formats: tuple[str, ...] = ()
    modified_from: float | None = None
    modified_until: float | None = None


EVERYTHING = Filter()


@dataclass(frozen=True, slots=True)
class Scope:
    """What a filter lets in at this moment, for one viewer.

    Attributes:
        documents: ids.
        n_chunks: of all of them together.
    """

    documents: frozenset[int]
    n_chunks: int


def conditions(only: Filter, folders: Iterable[bytes]) -> tuple[str, dict[str, object]]:
    """Return a filter as SQL over `documents d`, and its values; `folders` are those of its collections."""
    parts = [
        (only.collections, "hex(d.folder) IN (SELECT value FROM json_each(:folders))"),
        (only.documents, "d.id IN (SELECT value FROM json_each(:ids))"),
        (only.formats, "d.format IN (SELECT value FROM json_each(:formats))"),
        (only.modified_from is not None, "d.mtime_ns >= :modified_from"),
        (only.modified_until is not None, "d.mtime_ns <= :modified_until"),
    ]
    values = {
        "folders": json.dumps([folder.hex().upper() for folder in folders]),
        "ids": json.dumps(only.documents),
        "formats": json.dumps(only.formats),
        "modified_from": _nanoseconds(only.modified_from),
        "modified_until": _nanoseconds(only.modified_until),
    }
    return " AND ".join(sql for is_asked, sql in parts if is_asked) or "1", values


def folders_of(collections: Iterable[str], folders: Collection[bytes]) -> list[bytes]:
    """Return those of the folders that the collections name or hold.

    Raises:
        NotInLibraryError: a collection is none of the folders and holds none.
    """
    names = {folder: printable(os.fsdecode(folder)) for folder in folders}
    found: set[bytes] = set()
    for collection in collections:
        wanted = collection.rstrip("/")
        inside = {f for f, name in names.items() if name == wanted or name.startswith(wanted + "/")}
        if not inside:
            raise NotInLibraryError("collection", repr(collection), _named(filter(None, names.values())))
        found |= inside
    return sorted(found)


def check_documents(wanted: Iterable[int], known: Collection[int]) -> None:
    """Check that there are such documents.

    Raises:
        NotInLibraryError: there is none of an id.
    """
    if unknown := sorted(set(wanted) - set(known)):
        raise NotInLibraryError("document", str(unknown[0]), "the documents that are listed, with their ids")


def check_formats(wanted: Iterable[str], known: Collection[str]) -> None:
    """Check that there are documents of these types.

    Raises:
        NotInLibraryError: there is none of a type.
    """
    if unknown := sorted(set(wanted) - set(known)):
        raise NotInLibraryError("document of type", repr(unknown[0]), _named(filter(None, known)))


def _nanoseconds(seconds: float | None) -> int:
    """Unix seconds as the record keeps them; a time that no file can have is the first or last one that it can."""
    return 0 if seconds is None else round(min(max(seconds, -_LAST_S), _LAST_S) * 1e9)


def _named(names: Iterable[str]) -> str:
    found = sorted(set(names))
    more = f" and {len(found) - _N_NAMED} more" if len(found) > _N_NAMED else ""
    return ", ".join(found[:_N_NAMED]) + more
