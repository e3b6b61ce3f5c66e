"""A whole file: the file itself, the files inside it, its scanned pages; each read in a child of its own, joined here.

Knows no record and no queue. A part that cannot be read costs a note, not the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ingest.limits import MIB
from ingest.locator import PATH
from ingest.unit import Outcome, Parsed, Part, Unit

DOUBT = "letters and figures may be wrong"
MAX_CHARS = 64 * MIB  # of all units: as much as one child may answer


class Parser(Protocol):
    """What is needed of the parse server's client."""

    def parse(self, path: Path, part: str | None = None, page: int | None = None) -> Parsed:
        """Read the file, the part of it, or the scanned page."""


class PageShelf(Protocol):
    """Pages read by OCR, kept while their document is unfinished; `part` is "" for the file itself."""

    def page_text(self, sha256: str, part: str, page: int) -> Sequence[Unit] | None:
        """Return what was read on a page, or None when it was not read yet."""

    def keep_page_text(self, sha256: str, part: str, page: int, units: Sequence[Unit]) -> None:
        """Keep what was read on a page."""


class NoShelf:
    """Keeps nothing."""

    def page_text(self, sha256: str, part: str, page: int) -> Sequence[Unit] | None:
        """Return None: nothing is kept."""

    def keep_page_text(self, sha256: str, part: str, page: int, units: Sequence[Unit]) -> None:
        """Keep nothing."""


@dataclass(frozen=True, slots=True)
class Step:
    """Where the reading of one file is.

    Attributes:
        part: of the file inside the file that is read; empty for the file itself.
        page: page being read by OCR, from 1; None when the text is simply there.
        n_done: pages and parts that are finished, of `n_steps`.
    """

    part: tuple[str, ...]
    page: int | None
    n_done: int
    n_steps: int


def read_whole(
    parser: Parser,
    path: Path,
    shelf: PageShelf | None = None,
    step: Callable[[Step], None] = lambda step: None,
) -> Parsed:
    """Read a file with everything in it.

    Args:
        step: called before each part and each page; what it raises ends the reading, and pages read so far are kept.
    Raises:
        ParserStoppedError: the parser was stopped; and whatever `step` raises.
    """
    return _Reading(parser, path, NoShelf() if shelf is None else shelf, step).whole()


class _Reading:
    def __init__(self, parser: Parser, path: Path, shelf: PageShelf, step: Callable[[Step], None]) -> None:
        self._parser = parser
        self._path = path
        self._shelf = shelf
        self._step = step
        self._part: tuple[str, ...] = ()
        self._n_done, self._n_steps = 0, 1

    def whole(self) -> Parsed:
        self._say()
        outer = self._parser.parse(self._path)
        if outer.outcome is not Outcome.OK:
            return outer
        self._n_steps += len(outer.parts) + len(outer.scans)
        self._n_done += 1
        whole, failed = self._with_scans(outer, "")
        n_chars = _n_chars(whole)
        for n_read, part in enumerate(outer.parts):
            read = self._read_part(part)
            n_chars += _n_chars(read)
            if n_chars > MAX_CHARS:
                n_left = len(outer.parts) - n_read
                left_out = f"left out for holding too much text together: {n_left} of the files inside it"
                whole = replace(whole, notes=(*whole.notes, left_out))
                break
            if read.outcome not in (Outcome.OK, Outcome.EMPTY):
                failed.append(read)
            whole = _with_part(whole, part, read)
        return _concluded(whole, failed)

    def _read_part(self, part: Part) -> Parsed:
        self._part = part.name
        self._say()
        read = self._parser.parse(self._path, part.key)
        self._n_done += 1
        if read.outcome is not Outcome.OK:
            return read
        inner_files = [f"{PATH.join(inner.name)}: not opened, it lies two files deep" for inner in read.parts]
        self._n_steps += len(read.scans)
        read, failed = self._with_scans(replace(read, parts=(), notes=(*read.notes, *inner_files)), part.key)
        return _concluded(read, failed)

    def _with_scans(self, parsed: Parsed, part: str) -> tuple[Parsed, list[Parsed]]:
        """Read the pages that are pictures and put them in their places; those that failed are returned too."""
        pages: dict[int, Sequence[Unit]] = {}
        failed: dict[int, Parsed] = {}
        told: dict[str, None] = {}  # what every page says (a language is missing) is said once
        for page in parsed.scans:
            self._say(page)
            units = self._shelf.page_text(parsed.sha256, part, page)
            if units is None:
                read = self._parser.parse(self._path, part or None, page)
                if read.outcome is Outcome.NEEDS_OCR:  # no page can be read on this machine
                    return _without_scans(parsed, read), [read]
                if read.outcome in (Outcome.OK, Outcome.EMPTY):
                    self._shelf.keep_page_text(parsed.sha256, part, page, read.units)
                else:
                    failed[page] = read
                units = read.units
                told |= dict.fromkeys(read.notes)
            pages[page] = units
            self._n_done += 1
        notes = (*parsed.notes, *_scan_notes(parsed.n_pages, pages, failed), *told)
        units = tuple(_in_order(parsed.units, pages)) if pages else parsed.units
        return replace(parsed, units=units, scans=(), notes=notes), list(failed.values())

    def _say(self, page: int | None = None) -> None:
        self._step(Step(self._part, page, self._n_done, self._n_steps))


def _in_order(units: Sequence[Unit], pages: Mapping[int, Sequence[Unit]]) -> Iterator[Unit]:
    """Put the pages' units among the others, which are in the order of their pages."""
    left = dict(sorted(pages.items()))
    for unit in units:
        for page in [page for page in left if unit.locator.page is not None and page < unit.locator.page]:
            yield from left.pop(page)
        yield unit
    for page_units in left.values():
        yield from page_units


def _scan_notes(
    n_pages: int | None, pages: Mapping[int, Sequence[Unit]], failed: Mapping[int, Parsed]
) -> Iterator[str]:
    if read := [page for page, units in pages.items() if units]:
        yield f"{_which(read, n_pages)} read from {'a picture' if len(read) == 1 else 'pictures'}: {DOUBT}"
    for page, parsed in failed.items():
        yield f"page {page} is a picture that was not read: {parsed.reason}"


def _which(pages: Sequence[int], n_pages: int | None) -> str:
    if n_pages == 1:
        return "its text is"
    if len(pages) == n_pages:
        return "all its pages are"
    return f"{_pages(pages)} {'are' if len(pages) > 1 else 'is'}"


def _n_chars(parsed: Parsed) -> int:
    return sum(len(unit.text) for unit in parsed.units)


def _pages(pages: Sequence[int]) -> str:
    """Return "page 3" or "pages 3–5, 9"."""
    spans: list[list[int]] = []
    for page in pages:
        if spans and page == spans[-1][1] + 1:
            spans[-1][1] = page
        else:
            spans.append([page, page])
    words = ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in spans)
    return f"page{'s' if len(pages) > 1 else ''} {words}"


def _without_scans(parsed: Parsed, refused: Parsed) -> Parsed:
    return replace(parsed, scans=(), notes=(*parsed.notes, f"{_pages(parsed.scans)}: {refused.reason}"))


def _with_part(whole: Parsed, part: Part, read: Parsed) -> Parsed:
    name = PATH.join(part.name)
    placed = tuple(
        replace(unit, locator=replace(unit.locator, part=(*part.name, *unit.locator.part)))
        for unit in read.units
    )
    notes = [f"{name}: {note}" for note in read.notes]
    if read.outcome is not Outcome.OK:
        notes.append(f"{name}: {read.reason}")
    return replace(
        whole, units=(*whole.units, *placed), notes=(*whole.notes, *notes),
        seconds=whole.seconds + read.seconds, peak_mb=max(whole.peak_mb, read.peak_mb),
    )  # fmt: skip


def _concluded(whole: Parsed, failed: Sequence[Parsed]) -> Parsed:
    """Return the reading with the outcome of the whole: where nothing was read, of what failed in it."""
    if whole.units or whole.outcome is not Outcome.OK:
        return replace(whole, parts=())
    if failed:
        return replace(whole, outcome=failed[0].outcome, reason=failed[0].reason, parts=())
    return replace(whole, outcome=Outcome.EMPTY, reason="there is no text in it", parts=())
