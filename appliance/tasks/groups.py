"""Consecutive chunks of a document, packed so that each group fits one prompt of the model.

Counting is the model's; packing, halving and naming the range of a group are pure.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from ingest.locator import Locator
from ingest.stored import StoredChunk

Count = Callable[[Sequence[str]], Awaitable[list[int]]]

_COUNTED_AT_ONCE = 500  # texts a message to the engine: some 400 KB
_MIN_CHARACTERS = 8  # a piece of so few is not halved any more, whatever it counts
_JOIN = 2  # tokens of the blank line between two pieces, generously


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk, or a part of one that is too long by itself."""

    text: str
    chunk: StoredChunk | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Pieces that are sent together."""

    pieces: tuple[Piece, ...]
    n_tokens: int

    @property
    def text(self) -> str:
        """The pieces, a blank line between them."""
        return "\n\n".join(piece.text for piece in self.pieces)

    @property
    def chunks(self) -> list[StoredChunk]:
        """The chunks that it holds, each once."""
        return list({p.chunk.id: p.chunk for p in self.pieces if p.chunk is not None}.values())

    def halves(self) -> tuple[Group, Group] | None:
        """Return the group as two; None where it is one piece."""
        if len(self.pieces) < 2:
            return None
        middle = len(self.pieces) // 2
        return tuple(Group(part, self.n_tokens // 2) for part in (self.pieces[:middle], self.pieces[middle:]))  # type: ignore[return-value]


async def pack(pieces: Sequence[Piece], limit: int, count: Count) -> list[Group]:
    """Pack pieces, in their order, into as few groups as hold at most `limit` tokens each.

    A piece that is longer by itself is halved, at white space where there is any.
    """
    counted = await _counted(pieces, count)
    while any(_too_long(piece, n, limit) for piece, n in counted):
        halved = [half for piece, n in counted if _too_long(piece, n, limit) for half in _halved(piece)]
        fresh = iter(await _counted(halved, count))
        counted = [
            each
            for piece, n in counted
            for each in ((next(fresh), next(fresh)) if _too_long(piece, n, limit) else ((piece, n),))
        ]
    return _packed(counted, limit)


def _packed(counted: Sequence[tuple[Piece, int]], limit: int) -> list[Group]:
    groups: list[Group] = []
    pieces: list[Piece] = []
    total = 0
    for piece, n in counted:
        if pieces and total + n + _JOIN > limit:
            groups.append(Group(tuple(pieces), total))
            pieces, total = [], 0
        pieces.append(piece)
        total += n + _JOIN
    return [*groups, Group(tuple(pieces), total)] if pieces else groups


async def _counted(pieces: Sequence[Piece], count: Count) -> list[tuple[Piece, int]]:
    counts: list[int] = []
    for start in range(0, len(pieces), _COUNTED_AT_ONCE):
        counts += await count([piece.text for piece in pieces[start : start + _COUNTED_AT_ONCE]])
    return list(zip(pieces, counts, strict=True))


def _too_long(piece: Piece, n_tokens: int, limit: int) -> bool:
    return n_tokens > limit and len(piece.text) >= 2 * _MIN_CHARACTERS


def _halved(piece: Piece) -> tuple[Piece, Piece]:
    """Cut at the end of a line, a sentence or a word near the middle, in the middle where there is none."""
    text, middle = piece.text, len(piece.text) // 2
    ends = (
        text.rfind(mark, middle // 2, middle + middle // 2) + len(mark) for mark in ("\n", ". ", "。", " ")
    )
    cut = next((end for end in ends if end > middle // 2), middle)
    return Piece(text[:cut], piece.chunk), Piece(text[cut:], piece.chunk)


def place_of(chunks: Sequence[StoredChunk]) -> str:
    """Return where a run of chunks stands: "pages 3–7", or its first and its last place."""
    if not chunks:
        return ""
    first, last = chunks[0].locator, chunks[-1].locator
    if first == last:
        return str(first)
    for word, number in (("page", "page"), ("slide", "slide")):
        start, end = getattr(first, number), getattr(last, number)
        if start and end and first.part == last.part:
            return (
                f"{word}s {_label(first, start)}–{_label(last, end)}"
                if start != end
                else f"{word} {_label(first, start)}"
            )
    if first.lines and last.lines and first.part == last.part:
        return f"lines {first.lines[0]}–{last.lines[1]}"
    return f"{first} – {last}" if str(first) != str(last) else str(first)


def _label(locator: Locator, number: int) -> str:
    return locator.page_label or str(number) if locator.page else str(number)
