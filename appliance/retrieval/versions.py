"""Whether two documents are versions of one, by their names, and which is the newer one. Pure; reads no text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

from ingest.stored import StoredDocument

_DATE = re.compile(
    r"(?<!\d)(?:(?P<year>(?:19|20)\d\d)(?:[-_.]?(?P<month>0[1-9]|1[0-2])(?:[-_.]?(?P<day>0[1-9]|[12]\d|3[01]))?)?"
    r"|(?P<d>0?[1-9]|[12]\d|3[01])\.(?P<m>0?[1-9]|1[0-2])\.(?P<y>(?:19|20)\d\d))(?!\d)"
)
_WORD_START, _WORD_END = r"(?<![^\W_])", r"(?![^\W_])"
_VERSION = re.compile(
    rf"{_WORD_START}(?:v|ver|version|rev|revision|ausgabe)[\s._-]*(?P<number>\d+(?:\.\d+)*){_WORD_END}"
    rf"|{_WORD_START}(?:rev|revision)[\s._-]*(?P<letter>[a-z]){_WORD_END}"
)
# What file managers and downloads add.
_COPY = re.compile(
    rf"\(\d{{1,3}}\)|{_WORD_START}(?:copy|kopie)(?:\s+(?:of|von))?(?:\s+\d{{1,2}})?{_WORD_END}"
)
_STALE = frozenset(
    "old alt archive archived archiv backup bak draft entwurf superseded obsolete veraltet previous prev".split()
)
_CURRENT = frozenset("final new neu latest current aktuell updated".split())


@dataclass(frozen=True, slots=True)
class _Name:
    """A path, taken apart.

    Attributes:
        subject: what is left without marks and dates; a folder that was nothing but a mark is gone.
        dates: as (year, month, day), 0 where not given.
        version: (2, 1) for "v2.1"; None where no version is named.
        is_stale: the name, or that of a folder, says that it is not the current one.
    """

    subject: tuple[str, ...]
    dates: tuple[tuple[int, int, int], ...]
    version: tuple[int, ...] | None
    is_stale: bool


def same_but_for_version(one: StoredDocument, other: StoredDocument) -> bool:
    """Tell whether two names differ by marks of versions and copies alone ("v2", "(1)", "_old"); dates must agree."""
    return same_but_for_date(one, other) and _taken_apart(one.path).dates == _taken_apart(other.path).dates


def same_but_for_date(one: StoredDocument, other: StoredDocument) -> bool:
    """Tell whether two names differ by marks and dates alone: versions, or two years' reports; their texts say which.

    A name that differs by its ending alone is another form of the same, no version.
    """
    if PurePath(one.path).with_suffix("") == PurePath(other.path).with_suffix(""):
        return False
    return _taken_apart(one.path).subject == _taken_apart(other.path).subject


def is_newer(one: StoredDocument, other: StoredDocument) -> bool:
    """Tell which of two versions is the newer: what their names say goes before the files' times."""
    a, b = _taken_apart(one.path), _taken_apart(other.path)
    if a.is_stale != b.is_stale:
        return b.is_stale
    if a.version is not None and b.version is not None and a.version != b.version:
        return a.version > b.version
    if a.dates and b.dates and a.dates != b.dates:
        return a.dates > b.dates
    return (one.mtime_ns, one.id) > (other.mtime_ns, other.id)


@lru_cache(maxsize=10_000)
def _taken_apart(path: str) -> _Name:
    pure = PurePath(path.casefold())
    parts = [*pure.parts[:-1], pure.stem]
    words = [_words(part) for part in parts]
    dates = [date for part in parts for date in _dates(part)]
    versions = [version for part in parts for version in _versions(_DATE.sub(" ", part))]
    subjects = [" ".join(word for word in each if word not in _STALE | _CURRENT) for each in words]
    return _Name(
        (*filter(None, subjects[:-1]), subjects[-1]),
        tuple(dates),
        versions[-1] if versions else None,
        any(word in _STALE for each in words for word in each),
    )


def _words(part: str) -> list[str]:
    for mark in (_DATE, _VERSION, _COPY):
        part = mark.sub(" ", part)
    return re.findall(r"[^\W_]+", part)


def _dates(part: str) -> list[tuple[int, int, int]]:
    found = []
    for match in _DATE.finditer(part):
        year, month, day = (
            match["year"] or match["y"],
            match["month"] or match["m"],
            match["day"] or match["d"],
        )
        found.append((int(year), int(month or 0), int(day or 0)))
    return found


def _versions(part: str) -> list[tuple[int, ...]]:
    return [
        tuple(int(n) for n in match["number"].split("."))
        if match["number"]
        else (ord(match["letter"]) - ord("a") + 1,)
        for match in _VERSION.finditer(part)
    ]
