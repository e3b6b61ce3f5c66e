"""What a parser hands on: units of text, each with its place, and the outcome of the whole file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from ingest.locator import Locator


class Outcome(StrEnum):
    """How reading one file ended. `OK` is followed by embedding; every other value is final for these bytes."""

    OK = "ok"
    EMPTY = "empty"
    NEEDS_PASSWORD = "needs_password"
    UNSUPPORTED = "unsupported"
    DAMAGED = "damaged"
    TOO_LARGE = "too_large"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    NEEDS_OCR = "needs_ocr"


class UnitKind(StrEnum):
    """What a unit is; the chunker never splits rows and never leaves a heading at a chunk's end."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    CODE = "code"


# What a reader should be warned of; a chunk carries the flags of its units.
HIDDEN = "hidden"  # white, invisible, off the page, tiny, on a hidden sheet or slide
INSTRUCTION = "instruction-like"  # words that address the machine rather than a reader
OCR = "ocr"  # read from a picture: letters and figures may be wrong


@dataclass(frozen=True, slots=True)
class Unit:
    """One heading, paragraph, list item or table row, in reading order.

    Attributes:
        header: for a table row, the table's header row, repeated in each chunk that holds its rows.
        flags: any of `HIDDEN`, `INSTRUCTION` and `OCR`; empty for plain text.
    """

    text: str
    locator: Locator
    kind: UnitKind = UnitKind.PARAGRAPH
    header: str = ""
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Part:
    """A file inside a file.

    Attributes:
        key: how the reader of the outer file finds it again ("2", a member's name); means nothing to others.
        name: what people call it, outermost first: ("message 3", "invoice.pdf").
    """

    key: str
    name: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parsed:
    """One file, read.

    Attributes:
        reason: plain words for staff; empty when `outcome` is `OK`.
        format: the type the content shows ("pdf", "docx", …), never taken from the name alone.
        seconds: wall time in the child.
        peak_mb: peak resident memory of the child, MiB.
        sha256: of exactly the bytes that were read, hex; empty where they were not read.
        size: of those bytes.
        mtime_ns: of the file before it was read: a file that changed since then differs from it.
        parts: files inside it that are still to be read, each in a child of its own.
        scans: its pages, from 1, that are still to be read by OCR, each in a child of its own.
        notes: plain sentences for staff about what was left out, or read less well than the rest.
        n_readers_left: other readers of this format that have not been tried.
    """

    outcome: Outcome
    reason: str = ""
    format: str = ""
    title: str = ""
    units: tuple[Unit, ...] = field(default=())
    n_pages: int | None = None
    seconds: float = 0.0
    peak_mb: float = 0.0
    sha256: str = ""
    size: int = 0
    mtime_ns: int = 0
    parts: tuple[Part, ...] = ()
    scans: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    n_readers_left: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON; `from_json` reads it back."""
        rest = asdict(replace(self, units=()))  # copies all that it holds, slowly: not the units
        return rest | {"units": [unit_to_json(unit) for unit in self.units]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Parsed:
        """Read what `to_json` wrote, and nothing else: the writer has read a hostile file.

        Raises:
            ValueError, TypeError, KeyError: `data` is not such JSON.
        """
        units = tuple(unit_from_json(unit) for unit in data["units"])
        parts = tuple(Part(part["key"], tuple(part["name"])) for part in data.get("parts", ()))
        read = {
            "outcome": Outcome(data["outcome"]), "units": units, "parts": parts,
            "scans": tuple(data.get("scans", ())), "notes": tuple(data.get("notes", ())),
        }  # fmt: skip
        parsed = cls(**(data | read))
        texts = (parsed.reason, parsed.format, parsed.title, parsed.sha256, *parsed.notes)
        names = (text for part in parts for text in (part.key, *part.name))
        numbers = (
            parsed.seconds,
            parsed.peak_mb,
            parsed.size,
            parsed.mtime_ns,
            parsed.n_pages or 0,
            *parsed.scans,
        )
        if not all(isinstance(text, str) for text in (*texts, *names)) or not all(
            isinstance(n, int | float) for n in (*numbers, *parsed.scans)
        ):
            raise TypeError("a field of the parser's answer has the wrong type")
        return parsed


def unit_to_json(unit: Unit) -> dict[str, Any]:
    """Return plain JSON; `unit_from_json` reads it back."""
    data: dict[str, Any] = {"text": unit.text, "locator": unit.locator.to_json(), "kind": unit.kind}
    if unit.header:
        data["header"] = unit.header
    if unit.flags:
        data["flags"] = sorted(unit.flags)
    return data


def unit_from_json(data: dict[str, Any]) -> Unit:
    """Read what `unit_to_json` wrote.

    Raises:
        ValueError, TypeError, KeyError: `data` is not such JSON.
    """
    text, header, flags = data["text"], data.get("header", ""), data.get("flags", [])
    if not isinstance(text, str) or not isinstance(header, str) or not all(isinstance(f, str) for f in flags):
        raise TypeError("a unit of the parser's answer has the wrong type")
    return Unit(text, Locator.from_json(data["locator"]), UnitKind(data["kind"]), header, frozenset(flags))
