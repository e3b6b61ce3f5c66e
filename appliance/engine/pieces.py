"""Where a message's text is cut into pieces, and which of them are passages of documents. Pure.

A passage is marked in the text itself, by three control characters that no document's or person's text may hold, so
that a turn is cut in the same places when it is sent again as history: each piece is turned into tokens apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

START, OWNER, END = "\x1e", "\x1f", "\x1d"  # ASCII's record, unit and group separators
_BLOCK = re.compile(f"{START}([0-9a-f]{{8,64}}){OWNER}([^{START}{OWNER}{END}]*){END}")
_MARKS = dict.fromkeys(map(ord, (START, OWNER, END)))


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that is turned into tokens apart.

    Attributes:
        owner: of a passage, its document's version (hexadecimal); empty: ordinary text.
    """

    text: str
    owner: str = ""


def block(owner: str, text: str) -> str:
    """Return a passage's text marked as a block of its own.

    Raises:
        ValueError: `owner` is not 8 to 64 hexadecimal digits.
    """
    marked = f"{START}{owner}{OWNER}{without_marks(text)}{END}"
    if not _BLOCK.fullmatch(marked):
        raise ValueError(f"{owner!r} is no version of a document")
    return marked


def pieces(content: str) -> list[Piece]:
    """Return a content cut before and behind each block, without empty pieces; stray marks vanish."""
    found: list[Piece] = []
    end = 0
    for match in _BLOCK.finditer(content):
        found += [Piece(unmarked(content[end : match.start()])), Piece(match[2], match[1])]
        end = match.end()
    found.append(Piece(unmarked(content[end:])))
    return [piece for piece in found if piece.text]


def unmarked(text: str) -> str:
    """Return a person's or a document's text as it stands, without the characters that marks are made of."""
    return text.translate(_MARKS)


def without_marks(content: str) -> str:
    """Return a content as one text."""
    return "".join(piece.text for piece in pieces(content))
