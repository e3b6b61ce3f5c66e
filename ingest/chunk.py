"""Units to chunks: pieces that fit the embedder, cut where the document's structure cuts. Pure, linear in the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ingest.locator import PATH, Locator, merged
from ingest.token_cut import TokenCut, Tokenizer
from ingest.unit import Unit, UnitKind

MIN_MAX_TOKENS = 16
TINY = 24  # tokens; a section this short joins the next rather than become a chunk that says nothing
CONTEXT_SHARE = 0.25  # of max_tokens, at most, for title and headings in front of what is embedded
HEADER_SHARE = 0.4  # of max_tokens, at most, for a table's repeated header


@dataclass(frozen=True, slots=True)
class Chunk:
    """One indexed piece.

    Attributes:
        text: what is shown and quoted.
        n_tokens: of `text`.
        embed_text: `text` with title and heading path in front, at most `max_tokens` long.
        flags: of all units in it.
    """

    text: str
    locator: Locator
    n_tokens: int
    embed_text: str
    flags: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Draft:
    """A chunk being filled: its texts, the units they come from, and what they cost."""

    texts: list[str] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)
    header: str = ""

    @property
    def n_tokens(self) -> int:
        return sum(self.costs)

    def add(self, text: str, unit: Unit, cost: int) -> None:
        self.texts.append(text)
        self.units.append(unit)
        self.costs.append(cost + 1)  # 1 for the line end, which some tokenizers count

    def trailing_headings(self) -> _Draft:
        """Take the headings off the end: they belong to what follows."""
        taken = _Draft()
        n_kept = len(self.units)
        while n_kept and self.units[n_kept - 1].kind is UnitKind.HEADING:
            n_kept -= 1
        for text, unit, cost in zip(
            self.texts[n_kept:], self.units[n_kept:], self.costs[n_kept:], strict=True
        ):
            taken.add(text, unit, cost - 1)
        del self.texts[n_kept:], self.units[n_kept:], self.costs[n_kept:]
        return taken


def cut(units: Iterable[Unit], tokenizer: Tokenizer, max_tokens: int, title: str = "") -> list[Chunk]:
    """Cut a document into chunks, all at once; see `stream`."""
    return list(stream(units, tokenizer, max_tokens, title))


def stream(units: Iterable[Unit], tokenizer: Tokenizer, max_tokens: int, title: str = "") -> Iterator[Chunk]:
    """Cut a document into chunks, in order, as they are asked for.

    A chunk keeps to one section and one page, unless the section is tiny or the pages are estimates; a heading stays
    with what follows it; rows stay whole and carry their table's header; nothing is left out.

    Args:
        max_tokens: of `embed_text`, at least 16.
        title: of the document, for `embed_text`.
    """
    if max_tokens < MIN_MAX_TOKENS:
        raise ValueError(f"max_tokens is {max_tokens}, must be {MIN_MAX_TOKENS} or more")
    return _Cutter(tokenizer, max_tokens, title).chunks(units)


class _Cutter:
    """One document being cut."""

    def __init__(self, tokenizer: Tokenizer, max_tokens: int, title: str) -> None:
        self._tokenizer = tokenizer
        self._cut = TokenCut(tokenizer)
        self._max_tokens = max_tokens
        self._title = title
        self._draft = _Draft()
        self._rooms: dict[tuple[str, ...], int] = {}
        self._headers: dict[str, tuple[str, int]] = {}

    def chunks(self, units: Iterable[Unit]) -> Iterator[Chunk]:
        """Fill drafts with units; each full one becomes a chunk."""
        for unit in self._with_long_headers(units):
            cost = self._cut.count(unit.text)
            if self._draft.units and not self._fits(unit, cost):
                yield from self._next(unit)
            yield from self._place(unit, cost)
        yield from self._finished(self._draft)

    def _with_long_headers(self, units: Iterable[Unit]) -> Iterator[Unit]:
        """Put a header that is too long to be repeated in full in front of its table, once."""
        for unit in units:
            if not unit.text.strip():
                continue
            is_new = unit.header not in self._headers
            if unit.header and is_new and self._header(unit.header)[0] != unit.header:
                yield Unit(unit.header, unit.locator, UnitKind.PARAGRAPH, flags=unit.flags)
            yield unit

    def _fits(self, unit: Unit, cost: int) -> bool:
        """Tell whether the unit may join the draft: there is room, and the document's structure does not part them."""
        draft = self._draft
        first, last = draft.units[0], draft.units[-1]
        if draft.n_tokens + self._header_cost(unit) + cost + 1 > self._room(first):
            return False
        if not _same_page(first, unit) or first.flags != unit.flags:
            return False
        if unit.locator.heading == last.locator.heading or last.kind is UnitKind.HEADING:
            return True
        return draft.n_tokens < TINY

    def _next(self, unit: Unit) -> Iterator[Chunk]:
        """Finish the draft and begin another; headings at its end go with what follows on the same page."""
        done, self._draft = self._draft, _Draft()
        if _same_page(done.units[-1], unit) and done.units[-1].flags == unit.flags:
            carried = done.trailing_headings()
            if carried.n_tokens * 2 <= self._room(unit):
                self._draft = carried
            else:
                yield from self._finished(done)
                done = carried
        yield from self._finished(done)

    def _place(self, unit: Unit, cost: int) -> Iterator[Chunk]:
        """Put a unit into the draft, cut to as many pieces as it needs."""
        first = self._room(self._draft.units[0] if self._draft.units else unit)
        first -= self._draft.n_tokens + self._header_cost(unit) + 1
        if cost <= first:
            self._put(unit, unit.text, cost)
            return
        rest = self._room(unit) - self._header(unit.header)[1] - 2
        if first * 2 < rest:
            yield from self._finish()
            first = rest
        for i, text in enumerate(self._cut.pieces(unit.text, first, rest)):
            if i:
                yield from self._finish()
            self._put(unit, text, self._cut.count(text))

    def _finish(self) -> Iterator[Chunk]:
        done, self._draft = self._draft, _Draft()
        yield from self._finished(done)

    def _put(self, unit: Unit, text: str, cost: int) -> None:
        header, header_cost = self._header(unit.header)
        if header and header != self._draft.header:
            self._draft.add(header, unit, header_cost)
            self._draft.header = header
        self._draft.add(text, unit, cost)

    def _room(self, unit: Unit) -> int:
        """Return the tokens for text in a chunk that begins with this unit."""
        path = unit.locator.path
        if path not in self._rooms:
            n_context = self._tokenizer.count_tokens(self._context(path, ()))
            self._rooms[path] = self._max_tokens - n_context - 1
        return self._rooms[path]

    def _context(self, path: Sequence[str], shown: Sequence[str]) -> str:
        """Return title and names above the text that it does not show itself, outermost first, within their share."""
        parts = [part for part in dict.fromkeys((self._title, *path)) if part and part not in shown]
        return self._cut.first(PATH.join(parts), int(self._max_tokens * CONTEXT_SHARE))

    def _header(self, header: str) -> tuple[str, int]:
        """Return the header as it is repeated, and its tokens."""
        if not header:
            return "", 0
        if header not in self._headers:
            short = self._cut.first(header, int(self._max_tokens * HEADER_SHARE))
            self._headers[header] = short, self._tokenizer.count_tokens(short)
        return self._headers[header]

    def _header_cost(self, unit: Unit) -> int:
        header, cost = self._header(unit.header)
        return cost + 1 if header and header != self._draft.header else 0

    def _finished(self, draft: _Draft) -> Iterator[Chunk]:
        if not draft.units:
            return
        text = "\n".join(draft.texts)
        locator = _place_of(draft.units)
        n_tokens = self._tokenizer.count_tokens(text)
        context = self._context(locator.path, draft.texts)
        embed_text = f"{context}\n{text}" if context else text
        if self._tokenizer.count_tokens(embed_text) > self._max_tokens:
            embed_text = self._cut.first(embed_text, self._max_tokens)
        yield Chunk(
            text, locator, n_tokens, embed_text, frozenset().union(*(unit.flags for unit in draft.units))
        )


def _same_page(one: Unit, other: Unit) -> bool:
    """Tell whether one place is right for both; pages that are only estimated are no reason to cut."""
    a, b = one.locator, other.locator
    if (a.part, a.slide, a.sheet) != (b.part, b.slide, b.sheet):
        return False
    return a.page == b.page or (a.page_estimated and b.page_estimated)


def _place_of(units: Sequence[Unit]) -> Locator:
    """Return the place of several units that stand one after the other."""
    body = merged(
        [unit.locator for unit in units if unit.kind is not UnitKind.HEADING] or [units[-1].locator]
    )
    return replace(merged([unit.locator for unit in units]), heading=body.heading, rows=body.rows)
