"""Named values (records, lists, texts) to units that read alone: what JSON and XML share. Parses nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingest.formats import html
from ingest.formats.reading import damaged
from ingest.formats.tidy import one_line, visible
from ingest.locator import Locator
from ingest.unit import Unit, UnitKind

SEPARATOR = " · "
MAX_DEPTH = 100  # data that programs write for people stays under 20
MAX_UNITS = 20_000  # the same as the rows of a spreadsheet
MAX_RECORD = 1_200  # characters of one unit; a longer record is read field by field
MAX_FIELD = 300  # characters; a longer text stands alone
MAX_NUMBERS = 12  # of a list; a longer one (the outline of a country, a waveform) is counted, not read
MAX_WRAPPERS = 4
MAX_WORD = 400  # characters without a space: packed data (base64), no text
TITLES = ("title", "name", "headline", "label", "subject", "heading", "summary", "id")
NEVER_SHORT = " " * (MAX_RECORD + 1)
NAMELESS = frozenset({"", "p", "para", "li", "td", "th", "tr", "row", "cell", "data", "div", "span", "body"})
# Names that say nothing of what is under them: a feed's, a document's own parts. Their titles are headings instead.
SILENT = NAMELESS | frozenset(
    "item entry channel feed encoded content description value text section sec sect1 sect2 sect3 chapter appendix"
    " topic front back book article".split()
)
MIN_PROSE = 100  # characters; a list with such a text is read as paragraphs
MARKUP = re.compile(r"<(?:p|br|div|a|b|i|ul|ol|li|h[1-6]|strong|em|table|span|img)[\s/>]", re.IGNORECASE)


class Number(str):
    """A number as it was written, so that 1.10 stays 1.10."""

    __slots__ = ()


@dataclass(slots=True)
class Record:
    """Fields in their order; a name may come twice."""

    fields: list[tuple[str, Value]]

    def title(self) -> str:
        """Return the text that names this record, or ""."""
        texts = {name.lower(): one_line(text) for name, text in self.fields if isinstance(text, str)}
        found = next((texts[name] for name in TITLES if texts.get(name)), "")
        return found if len(found) <= MAX_FIELD else ""


Value = str | bool | None | Record | list["Value"]


@dataclass(slots=True)
class Records:
    """One file's values on their way to units."""

    notes: list[str] = field(default_factory=list)

    def units(self, value: Value) -> list[Unit]:
        """Return a tree of values as units, in order, `MAX_UNITS` at most; `notes` then says what was left out.

        Raises:
            RefusedError: it is nested over `MAX_DEPTH` deep.
        """
        found: list[Unit] = []
        for unit in self._over(value, (), None):
            if len(found) == MAX_UNITS:
                self.notes.append(f"only the first {MAX_UNITS:,} entries are read")
                break
            found.append(unit)
        return found

    def _over(self, value: Value, path: tuple[str, ...], row: int | None) -> Iterator[Unit]:
        if len(path) > MAX_DEPTH:
            raise too_deep()
        if isinstance(value, list):
            yield from self._series(value, path)
        elif isinstance(value, Record):
            yield from self._record(value, path, row)
        else:
            yield from _long_text(value if isinstance(value, str) else _leaf(value), path)

    def _record(self, record: Record, path: tuple[str, ...], row: int | None) -> Iterator[Unit]:
        rows = (row, row) if row else None
        whole = _short(record, MAX_RECORD)
        if whole is not None and (row or not _has_records(record, 0)):
            if whole:
                yield Unit(whole, Locator(heading=path, rows=rows), _kind(row))
            return
        title = record.title()
        if row or title:
            path = (*path, title or f"entry {row}")
            yield Unit(path[-1], Locator(heading=path, rows=rows), UnitKind.HEADING)
        pending: list[str] = []
        for name, value in record.fields:
            if title and isinstance(value, str) and one_line(value) == title:
                title = ""
                continue
            text = _short(value, MAX_FIELD, name)
            if text is not None and not _has_records(value, 1):
                pending += [text] if text else []
                continue
            yield from _packed(pending, path, rows)
            pending = []
            yield from self._field(name, value, path)
        yield from _packed(pending, path, rows)

    def _field(self, name: str, value: Value, path: tuple[str, ...]) -> Iterator[Unit]:
        """Read a value too long for one line under its name."""
        if name.lower() in SILENT:
            yield from self._over(value, path, None)
            return
        below = (*path, name)
        if not isinstance(value, str):
            yield Unit(name, Locator(heading=below), UnitKind.HEADING)
        yield from self._over(value, below, None)

    def _series(self, values: list[Value], path: tuple[str, ...]) -> Iterator[Unit]:
        pending: list[str] = []
        is_prose = _is_prose(values)
        for i, value in enumerate(values, 1):
            text = None if is_prose or isinstance(value, Record) else _short(value, MAX_FIELD)
            if text is not None:
                pending += [text] if text else []
                continue
            yield from _packed(pending, path, None)
            pending = []
            yield from (
                self._over(value, path, i) if isinstance(value, Record) else self._nested(value, path, i)
            )
        yield from _packed(pending, path, None)

    def _nested(self, value: Value, path: tuple[str, ...], number: int) -> Iterator[Unit]:
        yield from self._over(value, (*path, f"entry {number}") if isinstance(value, list) else path, None)


def too_deep() -> Exception:
    """Return the refusal of data nested deeper than any program writes for people."""
    return damaged(f"its entries are nested more than {MAX_DEPTH} deep, as no data for people is")


def _kind(row: int | None) -> UnitKind:
    return UnitKind.TABLE_ROW if row else UnitKind.PARAGRAPH


def _has_records(value: Value, depth: int) -> bool:
    """Tell whether a list of records, whose rows are units of their own however short, stands near the top."""
    if isinstance(value, list):
        return sum(isinstance(item, Record) for item in value) > 1
    if isinstance(value, Record) and depth < MAX_WRAPPERS:
        return any(_has_records(item, depth + 1) for _, item in value.fields)
    return False


def _packed(texts: Sequence[str], path: tuple[str, ...], rows: tuple[int, int] | None) -> Iterator[Unit]:
    """Join short fields to units of at most about `MAX_RECORD` characters."""
    batch: list[str] = []
    n_chars = 0
    for text in texts:
        if batch and n_chars + len(text) > MAX_RECORD:
            yield Unit(SEPARATOR.join(batch), Locator(heading=path, rows=rows))
            batch, n_chars = [], 0
        batch.append(text)
        n_chars += len(text) + len(SEPARATOR)
    if batch:
        yield Unit(SEPARATOR.join(batch), Locator(heading=path, rows=rows))


def _short(value: Value, room: int, name: str = "") -> str | None:
    """Return "name: value · name: value" of everything under a value, or None when it is too long for one unit."""
    parts: list[str] = []
    for text in _leaves(value, name, 0):
        room -= len(text) + len(SEPARATOR)
        if room < 0:
            return None
        parts.append(text)
    return SEPARATOR.join(parts)


def _leaves(value: Value, name: str, depth: int) -> Iterator[str]:
    """Yield "name: value" of each leaf; the caller stops early, so a large tree costs no more than it has room for."""
    if depth > MAX_DEPTH:
        raise too_deep()
    if isinstance(value, Record):
        for inner, item in value.fields:
            yield from _leaves(item, f"{name}.{inner}" if name and inner else name or inner, depth + 1)
    elif not isinstance(value, list):
        text = NEVER_SHORT if isinstance(value, str) and MARKUP.search(value) else _leaf(value)
        if text:
            yield f"{name}: {text}" if name.rpartition(".")[2].lower() not in NAMELESS else text
    elif all(isinstance(item, Number) for item in value) and len(value) > MAX_NUMBERS:
        yield f"{name}: ({len(value):,} numbers)" if name else f"({len(value):,} numbers)"
    elif any(isinstance(item, list | Record) for item in value):
        if _is_numbers(value, depth):
            yield f"{name}: (many numbers)" if name else "(many numbers)"
            return
        for item in value:
            yield from _leaves(item, name, depth + 1)
    else:
        is_long = len(value) > MAX_RECORD or _is_prose(value)
        joined = NEVER_SHORT if is_long else ", ".join(filter(None, map(_leaf, value)))  # type: ignore[arg-type]
        if joined:
            yield f"{name}: {joined}" if name else joined


def _is_prose(values: list[Value]) -> bool:
    return len(values) > 1 and any(
        isinstance(item, str) and len(item) >= MIN_PROSE for item in values[:MAX_RECORD]
    )


def _is_numbers(values: list[Value], depth: int) -> bool:
    """Tell nested lists of numbers (the outline of an area) by their first entries."""
    first: Value = values
    while isinstance(first, list) and first and depth < MAX_DEPTH:
        first, depth = first[0], depth + 1
    return isinstance(first, Number)


def _leaf(value: str | bool | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"({len(value):,} characters of packed data)" if _is_packed(value) else one_line(value)


def _is_packed(text: str) -> bool:
    return len(text) > MAX_WORD and text.isascii() and " " not in text[:MAX_WORD]


def _long_text(text: str, path: tuple[str, ...]) -> Iterator[Unit]:
    """Yield a long text by its paragraphs; markup in it, as feeds carry it, is read as a page."""
    text = text.strip()
    if MARKUP.search(text):
        for unit in html.units(text):
            heading = (*path, *unit.locator.heading)
            yield Unit(
                unit.text,
                Locator(heading=heading, rows=unit.locator.rows),
                unit.kind,
                unit.header,
                unit.flags,
            )
        return
    for block in re.split(r"\n[ \t]*\n", visible(text)):
        if line := one_line(block):
            yield Unit(line, Locator(heading=path))
