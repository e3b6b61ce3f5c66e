"""Markdown: headings, paragraphs, list items, code and tables with their lines.

Reads block structure line by line and takes inline marks off; it does not render, and knows no dialect beyond
pipe tables and front matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ingest.formats.encoding import decode
from ingest.formats.headings import Headings
from ingest.formats.reading import Reading
from ingest.formats.table import row_text
from ingest.formats.tidy import lines_kept, one_line, visible
from ingest.locator import Locator
from ingest.unit import Unit, UnitKind

ATX = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
SETEXT = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
NUMBER = re.compile(r"^[ \t]*(\d{1,9}[.)])[ \t]")
RULE = re.compile(r"^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
QUOTE = re.compile(r"^ {0,3}(?:>[ \t]?)+")
CELL = re.compile(r"(?<!\\)\|")
FRONT_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.IGNORECASE)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^()\n]*\)")
LINK = re.compile(r"\[([^\[\]]+)\]\((?:<([^<>\n]*)>|([^()\s]*))(?:[ \t][^()\n]*)?\)")
STRONG = re.compile(r"(\*\*|__|~~)(?=\S)(.{1,1000}?)(?<=\S)\1")
EMPHASIS = re.compile(
    r"(?<![\w*])\*(?=[^\s*])([^*\n]+)(?<=\S)\*(?![\w*])|(?<![\w_])_(?=[^\s_])([^_\n]+)(?<=\S)_(?![\w_])"
)
ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])")


def read(data: bytes, legacy: str) -> Reading:
    """Read a Markdown file; the title is the front matter's, else the first heading."""
    lines = _without_comments(visible(decode(data, legacy))).split("\n")
    start, title = _front_matter(lines)
    units = list(_Blocks(lines, start).units())
    if not title:
        title = next((unit.text for unit in units if unit.kind is UnitKind.HEADING), "")
    return Reading(units, title)


def units(text: str, headings: Headings) -> list[Unit]:
    """Return Markdown inside another format; `headings` are those above it, and are left as the text leaves them."""
    return list(_Blocks(_without_comments(visible(text)).split("\n"), 0, headings).units())


def inline(text: str) -> str:
    """Take Markdown's inline marks off; a link keeps its address in brackets."""
    text = IMAGE.sub(r"\1", text)
    text = LINK.sub(_link, text)
    text = STRONG.sub(r"\2", text)
    text = EMPHASIS.sub(lambda m: m[1] or m[2], text)
    return ESCAPE.sub(r"\1", TAG.sub(" ", text).replace("`", ""))


def _without_comments(text: str) -> str:
    """Blank out comments that stand on their own lines, keeping the lines; those inside code are code."""
    if "<!--" not in text:
        return text
    kept: list[str] = []
    fence, comment = "", False
    for line in text.split("\n"):
        if comment or (not fence and line.lstrip().startswith("<!--")):
            comment = "-->" not in line
            kept.append("" if comment else line.partition("-->")[2])
            continue
        mark = FENCE.match(line)
        if mark:
            fence = mark[1][:3] if not fence else "" if mark[1].startswith(fence) else fence
        kept.append(line)
    return "\n".join(kept)


def _link(match: re.Match[str]) -> str:
    label, address = match[1], match[2] or match[3] or ""
    return label if not address or address.startswith("#") or address == label else f"{label} ({address})"


def _front_matter(lines: list[str]) -> tuple[int, str]:
    """Return (index of the first line of the text, title); front matter itself is read as text after its rule."""
    if not lines or lines[0].strip() != "---":
        return 0, ""
    title = ""
    for _i, line in enumerate(lines[1:60], 1):
        if line.strip() in ("---", "..."):
            return 1, title
        if found := FRONT_TITLE.match(line):
            title = found[1].strip("\"'")
    return 0, ""


@dataclass
class _Blocks:
    """A walk over the lines; `i` is the next line to read."""

    lines: list[str]
    i: int
    headings: Headings = field(default_factory=Headings)

    def units(self) -> Iterator[Unit]:
        if self.i == 1:
            yield from self._front()
        while self.i < len(self.lines):
            yield from self._next()

    def _next(self) -> Iterator[Unit]:
        line = self.lines[self.i]
        below = self.lines[self.i + 1] if self.i + 1 < len(self.lines) else ""
        if not line.strip() or RULE.match(line):
            self.i += 1
        elif fence := FENCE.match(line):
            yield from self._code(fence[1])
        elif atx := ATX.match(line):
            yield from self._heading(len(atx[1]), atx[2], 1)
        elif "|" in line and "|" in below and TABLE_RULE.match(below):
            yield from self._table()
        elif ITEM.match(line):
            yield from self._item()
        elif line.startswith(("    ", "\t")):
            yield from self._indented()
        else:
            yield from self._paragraph()

    def _unit(self, text: str, first: int, kind: UnitKind, header: str = "") -> Iterator[Unit]:
        """Yield a unit that ends before the line to read next; `first` counts from 0."""
        if text:
            yield Unit(
                text,
                Locator(heading=self.headings.path, lines=(first + 1, max(self.i, first + 1))),
                kind,
                header,
            )

    def _front(self) -> Iterator[Unit]:
        first = self.i
        while self.lines[self.i].strip() not in ("---", "..."):
            self.i += 1
        yield from self._unit(lines_kept("\n".join(self.lines[first : self.i])), first, UnitKind.PARAGRAPH)
        self.i += 1

    def _heading(self, level: int, text: str, n_lines: int) -> Iterator[Unit]:
        first = self.i
        self.i += n_lines
        title = one_line(inline(text))
        if title:
            self.headings.enter(level, title)
        yield from self._unit(title, first, UnitKind.HEADING)

    def _code(self, fence: str) -> Iterator[Unit]:
        first = self.i
        self.i += 1
        while self.i < len(self.lines) and not self.lines[self.i].strip().startswith(fence):
            self.i += 1
        text = "\n".join(self.lines[first + 1 : self.i]).strip("\n")
        self.i = min(self.i + 1, len(self.lines))
        yield from self._unit(text, first, UnitKind.CODE)

    def _indented(self) -> Iterator[Unit]:
        first = self.i
        while self.i < len(self.lines) and self.lines[self.i].startswith(("    ", "\t")):
            self.i += 1
        yield from self._unit("\n".join(self.lines[first : self.i]).strip("\n"), first, UnitKind.CODE)

    def _table(self) -> Iterator[Unit]:
        header = row_text([inline(cell) for cell in _cells(self.lines[self.i])])
        first = self.i + 2
        self.i = first
        while self.i < len(self.lines) and "|" in self.lines[self.i]:
            text = row_text([inline(cell) for cell in _cells(self.lines[self.i])])
            self.i += 1
            if text:
                row = self.i - first
                locator = Locator(heading=self.headings.path, rows=(row, row), lines=(self.i, self.i))
                yield Unit(text, locator, UnitKind.TABLE_ROW, header)
        if self.i == first:
            yield from self._unit(header, first - 2, UnitKind.PARAGRAPH)

    def _item(self) -> Iterator[Unit]:
        first = self.i
        line = self.lines[self.i]
        number = NUMBER.match(line)
        texts = [ITEM.sub("", line)]
        self.i += 1
        while self.i < len(self.lines) and self._continues():
            texts.append(self.lines[self.i].strip())
            self.i += 1
        text = one_line(inline(COMMENT.sub(" ", " ".join(texts))))
        yield from self._unit(f"{number[1]} {text}" if number else f"- {text}", first, UnitKind.LIST_ITEM)

    def _paragraph(self) -> Iterator[Unit]:
        first = self.i
        texts: list[str] = []
        while self.i < len(self.lines) and (not texts or self._continues()):
            level = SETEXT.match(self.lines[self.i]) if texts else None
            if level:
                n_lines, self.i = self.i + 1 - first, first
                yield from self._heading(1 if level[1].startswith("=") else 2, " ".join(texts), n_lines)
                return
            texts.append(QUOTE.sub("", self.lines[self.i]))
            self.i += 1
        text = one_line(inline(COMMENT.sub(" ", "\n".join(texts))))
        yield from self._unit(text, first, UnitKind.PARAGRAPH)

    def _continues(self) -> bool:
        """Tell whether the line to read next belongs to the paragraph or item above it."""
        line = self.lines[self.i]
        if SETEXT.match(line):
            return True
        return bool(line.strip()) and not (
            ATX.match(line) or FENCE.match(line) or ITEM.match(line) or RULE.match(line)
        )


def _cells(line: str) -> list[str]:
    line = line.strip()
    line = line.removeprefix("|")
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    return [cell.replace("\\|", "|") for cell in CELL.split(line)]
