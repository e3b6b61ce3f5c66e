"""The blocks a laid-out document is made of; write_pdf.py and write_docx.py each draw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is a chapter."""

    text: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; only DOCX draws the footnote, which hangs on the paragraph's end."""

    text: str
    footnote: str = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list without order."""

    items: Sequence[str]


@dataclass(frozen=True, slots=True)
class Steps:
    """A numbered list."""

    items: Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a header row.

    Attributes:
        widths: share of the text width for each column; they add up to 1.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    widths: Sequence[float]


@dataclass(frozen=True, slots=True)
class Note:
    """A boxed paragraph that opens with its label in bold."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Panel:
    """The drawing of the generator's control panel, with numbered parts."""


Block = Heading | Text | Bullets | Steps | Table | Note | Panel
