"""What a parser hands on: units of text, each with its place, and the outcome of the whole file."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class Unit:
    """One heading, paragraph, list item or table row, in reading order.

    Attributes:
        header: for a table row, the table's header row, repeated in each chunk that holds its rows.
        flags: what a reader should be warned of ("hidden", "instruction-like"); empty for plain text.
    """

    text: str
    locator: Locator
    kind: UnitKind = UnitKind.PARAGRAPH
    header: str = ""
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Parsed:
    """One file, read.

    Attributes:
        reason: plain words for staff; empty when `outcome` is `OK`.
        format: the type the content shows ("pdf", "docx", …), never taken from the name alone.
        seconds: wall time in the child.
        peak_mb: peak resident memory of the child, MiB.
    """

    outcome: Outcome
    reason: str = ""
    format: str = ""
    title: str = ""
    units: tuple[Unit, ...] = field(default=())
    n_pages: int | None = None
    seconds: float = 0.0
    peak_mb: float = 0.0
