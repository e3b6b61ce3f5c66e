"""Lines of PDF pages to units: running heads dropped, headings found, lines joined to paragraphs. Pure."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from ingest.formats.headings import Headings
from ingest.formats.pdf_page import Page
from ingest.formats.pdf_rows import HYPHEN, Line
from ingest.formats.pdf_table import header_of, table_at
from ingest.formats.table import SEPARATOR
from ingest.formats.tidy import one_line
from ingest.locator import Locator
from ingest.unit import Unit, UnitKind

Outline = dict[int, list[tuple[int, str]]]  # page index → (level from 1, squashed title)

HEADING_RATIO = (
    1.12  # of the body's size; found about what other extractors find (shared measurements, 2026-11-30)
)
MAX_HEADING = 120
MAX_HEADING_LINES = 3
MAX_LEVELS = 4
N_EDGE = 2  # lines at a page's top and bottom where running heads stand
NUMBER = re.compile(r"^(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?|[A-Z]\.|[IVX]{1,5}\.)\s+")
ITEM = re.compile(r"^(?:[•◦▪‣●○■\-–—*]|\d{1,2}[.)]|[a-z][.)]|\([a-z0-9]{1,3}\))(?:\s|$)")
BULLET = re.compile(r"^[•◦▪‣●○■]\s*")
MARK = re.compile(r"^(?:[•◦▪‣●○■\-–—*]|[\dA-Za-z]{1,3}[.)]|\([a-z0-9]{1,3}\))$")
NUMBER_MARK = re.compile(r"^\d{1,2}(?:\.\d{1,2}){0,4}\.?$")
PAGE_NUMBER = re.compile(
    r"^[-–|\s]*(?:(?:page|seite|página|pagina|p\.|s\.|sida|side)\s*)?(?:\d{1,4}|[ivxl]{1,6})"
    r"(?:\s*(?:/|of|von|de)\s*\d{1,4})?[-–|\s]*$"
)
SENTENCE_END = (".", "!", "?", ":", ";", "。")


def squashed(text: str) -> str:
    """Return a title for comparing: no white space, no case."""
    return "".join(one_line(text).split()).casefold()


def paragraphs(
    pages: Sequence[Page | None], labels: Sequence[str | None], outline: Outline
) -> Iterator[Unit]:
    """Yield a document's units in reading order; pages without plausible text are None."""
    sizes = _sizes([line for page in pages if page for line in page.lines])
    headings = Headings()
    for i, lines in enumerate(_without_running(pages, labels)):
        if lines:
            yield from _PageUnits(
                lines, i + 1, labels[i], outline.get(i, []), sizes, bool(outline), headings
            ).units()


def _without_running(pages: Sequence[Page | None], labels: Sequence[str | None]) -> Iterator[list[Line]]:
    """Yield each page's lines without heads, feet and page numbers that an earlier page had.

    They are lines at the edge of half of all pages, alike but for the page's own number; other numbers are data.
    """
    edges: list[dict[Line, str]] = []
    for i, page in enumerate(pages):
        by_height = sorted(page.lines, key=lambda line: line.y0) if page else []
        edge = (*by_height[:N_EDGE], *by_height[-N_EDGE:])
        edges.append({line: _pattern(line, i, labels[i], len(pages)) for line in edge})
    counts = Counter(pattern for edge in edges for pattern in set(edge.values()))
    running = {pattern for pattern, n in counts.items() if n >= max(2, len(pages) / 2)}
    seen: set[str] = set()
    for page, patterns in zip(pages, edges, strict=True):
        lines = page.lines if page else []
        kept = [line for line in lines if patterns.get(line) not in running or patterns.get(line) not in seen]
        seen.update(patterns.values())
        yield kept or lines  # pages that differ in nothing else, as forms do, are kept whole


def _pattern(line: Line, i: int, label: str | None, n_pages: int) -> str:
    """Return a line with its page's numbers taken out."""
    text = one_line(line.text).casefold()
    if PAGE_NUMBER.match(text):
        return "#"
    own = {str(i + 1), str(n_pages), (label or "").casefold()}
    return " ".join("#" if word.strip(".,/|-–·()") in own else word for word in text.split())


def _sizes(lines: Sequence[Line]) -> list[float]:
    """Return [body size, largest heading size, next, …]: sizes are line heights rounded to half points."""
    chars: Counter[float] = Counter()
    for line in lines:
        chars[_size(line)] += len(line.text)
    if not chars:
        return [0.0]
    body = chars.most_common(1)[0][0]
    larger = sorted((size for size in chars if size >= body * HEADING_RATIO), reverse=True)
    return [body, *larger[:20]]


def _size(line: Line) -> float:
    return round(line.height * 2) / 2


class _PageUnits:
    """Builds the units of one page; the headings go on from page to page."""

    def __init__(
        self,
        lines: Sequence[Line],
        page: int,
        label: str | None,
        titles: Sequence[tuple[int, str]],
        sizes: Sequence[float],
        has_outline: bool,
        headings: Headings,
    ) -> None:
        self._lines = _joined_markers(lines)
        self._page = page
        self._label = label
        self._titles = {title: level for level, title in titles}
        self._sizes = sizes
        self._has_outline = has_outline
        self._headings = headings
        steps = [b.y0 - a.y0 for a, b in itertools.pairwise(lines) if 0 < b.y0 - a.y0 < 4 * a.height]
        self._step = median(steps) if steps else 0.0

    def units(self) -> Iterator[Unit]:
        """Yield headings, rows and paragraphs in order."""
        i = 0
        while i < len(self._lines):
            rows, n_lines = table_at(self._lines, i)
            if rows:
                header = header_of(rows)
                for row in rows[1:] if header else rows:
                    yield self._unit(row.text, UnitKind.TABLE_ROW, row.lines, header)
                i += n_lines
                continue
            level, n_lines = self._heading(i)
            if level:
                text = _join(self._lines[i : i + n_lines]).replace(SEPARATOR, " ")
                self._headings.enter(level, text)
                yield self._unit(text, UnitKind.HEADING, self._lines[i : i + n_lines])
            else:
                n_lines = self._n_paragraph(i)
                yield self._paragraph(self._lines[i : i + n_lines])
            i += n_lines

    def _unit(self, text: str, kind: UnitKind, lines: Sequence[Line], header: str = "") -> Unit:
        locator = Locator(page=self._page, page_label=self._label, heading=self._headings.path)
        flags = frozenset({"hidden"}) if any(line.hidden for line in lines) else frozenset()
        return Unit(text, locator, kind, header, flags)

    def _heading(self, i: int) -> tuple[int, int]:
        """Return (level, number of lines) of a heading that begins here, (0, 0) for none."""
        if self._titles:
            for n_lines in range(1, MAX_HEADING_LINES + 1):
                text = _join(self._lines[i : i + n_lines])
                level = self._titles.get(squashed(text)) or self._titles.get(squashed(NUMBER.sub("", text)))
                if level:
                    return level, n_lines
        line = self._lines[i]
        if self._has_outline or len(line.cells) > 1 or not self._is_short(line):
            return 0, 0
        size = _size(line)
        if size >= self._sizes[0] * HEADING_RATIO and size in self._sizes[1:]:
            n_lines = 1
            while n_lines < MAX_HEADING_LINES and i + n_lines < len(self._lines):
                below = self._lines[i + n_lines]
                if (
                    _size(below) != size
                    or not self._is_short(below)
                    or not self._is_next(self._lines[i + n_lines - 1], below)
                ):
                    break
                n_lines += 1
            return min(self._sizes.index(size), MAX_LEVELS), n_lines
        if line.bold and NUMBER.match(line.text):
            return min(len(self._sizes) - 1, 2) + line.text.split()[0].rstrip(".").count(".") + 1, 1
        return 0, 0

    def _is_short(self, line: Line) -> bool:
        text = line.text
        letters = sum(ch.isalpha() for ch in text)
        return (
            letters >= 3
            and letters * 2 > len(text)
            and len(text) <= MAX_HEADING
            and not text.endswith((".", ",", ";"))
        )

    def _is_next(self, above: Line, below: Line) -> bool:
        """Tell the line below another from one further away or in the next column."""
        step = below.y0 - above.y0
        return 0 < step <= max(1.35 * self._step, 1.2 * above.height)

    def _n_paragraph(self, i: int) -> int:
        n_lines = 1
        width = max((line.x1 for line in self._lines), default=0.0) - min(
            (line.x0 for line in self._lines), default=0.0
        )
        while i + n_lines < len(self._lines) and self._goes_on(i + n_lines, width):
            n_lines += 1
        return n_lines

    def _goes_on(self, i: int, width: float) -> bool:
        above, line = self._lines[i - 1], self._lines[i]
        if (
            line.hidden != above.hidden
            or self._heading(i)[0]
            or table_at(self._lines, i)[1]
            or ITEM.match(line.text)
        ):
            return False
        if abs(_size(line) - _size(above)) > 0.12 * above.height and len(line.text) > 3:
            return False
        if line.y0 < above.y0:  # the next column
            return above.text.endswith(HYPHEN) or (
                not above.text.endswith(SENTENCE_END) and line.text[:1].islower()
            )
        if not self._is_next(above, line):
            return False
        ended = above.text.rstrip().endswith(SENTENCE_END)
        ended_early = above.x1 < line.x1 - 0.15 * width
        indented = line.x0 > above.x0 + 0.8 * line.height
        return not (ended and (ended_early or indented))

    def _paragraph(self, lines: Sequence[Line]) -> Unit:
        text = _join(lines)
        kind = UnitKind.LIST_ITEM if ITEM.match(text) else UnitKind.PARAGRAPH
        return self._unit(BULLET.sub("- ", text), kind, lines)


def _joined_markers(lines: Sequence[Line]) -> list[Line]:
    """Put list marks and heading numbers that stand apart back to their text: "1.2 | Scope" is no table row.

    A bare number among rows is a row's number and stays a cell.
    """
    joined = []
    for i, line in enumerate(lines):
        mark = line.cells[0]
        among_rows = any(len(other.cells) > 1 for other in (*lines[max(0, i - 1) : i], *lines[i + 1 : i + 2]))
        if len(line.cells) == 2 and (MARK.match(mark) or (NUMBER_MARK.match(mark) and not among_rows)):
            line = replace(line, cells=(" ".join(line.cells),), starts=line.starts[:1])
        joined.append(line)
    return joined


def _join(lines: Sequence[Line]) -> str:
    """Join lines to one text; a hyphen that only the line's end made goes, a real one keeps its word together."""
    text = ""
    for line in lines:
        part = line.text
        if text.endswith(HYPHEN):
            text = text[:-1] + part
        elif text.endswith("-") and text[-2:-1].isalpha() and part[:1].islower():
            text += part
        else:
            text = f"{text} {part}" if text else part
    return one_line(text[:-1] + "-" if text.endswith(HYPHEN) else text)
