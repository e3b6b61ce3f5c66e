"""The walk through OpenDocument text, the same in documents, on slides and in embedded objects.

Inserted text of tracked changes is read, deleted text is not. What cannot be seen is read and marked.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ingest.formats.elements import child, children, descendants, local, number, value
from ingest.formats.headings import Headings
from ingest.formats.odf import Odf, OdfStyles
from ingest.formats.odf_lists import Counter
from ingest.formats.odf_table import CELLS, header_of, own_paragraphs, repeat_merged, repeats, rows_of
from ingest.formats.odf_text import DRAWN, is_tinted, words_of
from ingest.formats.reading import damaged
from ingest.formats.table import row_text
from ingest.formats.tidy import one_line
from ingest.locator import Locator
from ingest.unit import HIDDEN, Unit, UnitKind

MAX_TABLES = 60  # nested in one another
MAX_OBJECTS = 200  # embedded documents and charts
MAX_CELL = 1500  # characters; a table with a longer cell lays out a page, and is read as paragraphs
MAX_HEADING = 250
TITLES = frozenset({"title", "titel", "titre", "titolo", "título"})
UNREAD = frozenset(
    "tracked-changes forms sequence-decls variable-decls user-field-decls settings title desc event-listeners".split()
)


class Walk:
    """Turns blocks into units.

    Attributes:
        place: where the text being read stands; headings and pages are added to it.
        title: the first paragraph styled as one; "" until it was read.
    """

    def __init__(self, odf: Odf, styles: OdfStyles, has_pages: bool = False) -> None:
        self.place = Locator()
        self.title = ""
        self.n_shades = 0  # grounds that may be dark around the text being read
        self._odf = odf
        self._styles = styles
        self._has_pages = has_pages
        self._page = 1
        self._fresh = True  # nothing was read since the last page break
        self._headings = Headings()
        self._outline = Counter(styles.outline)
        self._lists: dict[str, Counter] = {}
        self._n_tables = 0
        self._n_objects = 0
        self._n_hidden = 0  # hidden sections around the text being read

    def blocks(self, parent: Any) -> Iterator[Unit]:
        """Read headings, paragraphs, lists, tables and drawings under an element."""
        for block in parent:
            name = local(block)
            if name in ("p", "h"):
                yield from self._paragraph(block)
            elif name == "list":
                yield from self._list(block)
            elif name == "table":
                yield from self._table(block)
            elif name == "soft-page-break":
                self._break()
            elif name == "section":
                yield from self._section(block)
            elif name in DRAWN:
                yield from self.drawing(block)
            elif name == "annotation":
                yield from self._comment(block)
            elif name not in UNREAD and not name.endswith("-source"):
                yield from self.blocks(block)

    def drawing(self, shape: Any) -> Iterator[Unit]:
        """Read the text of a shape, of a group's members, of a frame's box, table or object."""
        self.n_shades += 1  # a shape may be filled
        for part in shape:
            name = local(part)
            if name in DRAWN:
                yield from self.drawing(part)
            elif name == "object":
                yield from self._object(part)
            elif name in ("text-box", "p", "list", "table"):
                yield from self.blocks(part if name == "text-box" else (part,))
        self.n_shades -= 1

    def unit(self, text: str, kind: UnitKind = UnitKind.PARAGRAPH, hidden: bool = False) -> Unit:
        """Return a unit at this place."""
        flags = frozenset({HIDDEN}) if hidden or self._n_hidden else frozenset()
        return Unit(text, self._locator(), kind, flags=flags)

    def _locator(self) -> Locator:
        heading = (*self.place.heading, *self._headings.path)
        if not self._has_pages:
            return replace(self.place, heading=heading)
        return replace(self.place, heading=heading, page=self._page, page_estimated=True)

    def _break(self) -> None:
        """Count a page break where the program's layout had one."""
        self._page += 1
        self._fresh = True

    def _hard_break(self) -> None:
        """Count a break that the author wants; one before anything was read is the document's own beginning."""
        self._page += not self._fresh
        self._fresh = True

    def _paragraph(self, block: Any, label: str | None = None) -> Iterator[Unit]:
        style = value(block, "style-name")
        if self._breaks_before(style) and not self._n_tables:
            self._hard_break()
        page = self._page
        words = words_of(block, self._styles, self.n_shades > 0, self._break)
        if words.text:
            self._fresh = False
            unit = self._styled(block, words.text, label)
            yield replace(unit, locator=replace(unit.locator, page=page)) if self._has_pages else unit
        if words.hidden:
            yield self.unit(words.hidden, hidden=True)
        for part in words.aside:
            yield from self._aside(part)

    def _styled(self, block: Any, text: str, label: str | None) -> Unit:
        if local(block) == "h":
            return self._heading(block, text, label)
        if label:
            return self.unit(f"{label} {text}", UnitKind.LIST_ITEM)
        names = self._styles.chain("paragraph", value(block, "style-name"))
        if not self.title and any(value(style, "name").lower() in TITLES for style in names):
            self.title = text
            return self.unit(text, UnitKind.HEADING)
        return self.unit(text)

    def _heading(self, block: Any, text: str, label: str | None) -> Unit:
        level = max(1, min(number(value(block, "outline-level")) or 1, 9))
        if label is None and value(block, "is-list-header") != "true":
            label = self._outline.next(level, number(value(block, "start-value")))
        text = f"{label} {text}" if label and label != "-" else text
        if len(text) > MAX_HEADING:
            return self.unit(text)
        if not self._n_hidden:
            self._headings.enter(level, text)
        return self.unit(text, UnitKind.HEADING)

    def _breaks_before(self, style: str) -> bool:
        if not self._has_pages or not style:
            return False
        return self._styles.of("paragraph", style, "paragraph-properties", "break-before") == "page"

    def _aside(self, part: Any) -> Iterator[Unit]:
        name = local(part)
        if name == "annotation":
            yield from self._comment(part)
        elif name == "note":
            kind = "Endnote" if value(part, "note-class") == "endnote" else "Footnote"
            citation = child(part, "note-citation")
            mark = one_line(citation.text or "") if citation is not None else ""
            if text := self._plain(child(part, "note-body")):
                yield self.unit(f"{kind} {mark}".strip() + f": {text}")
        else:
            yield from self.drawing(part)

    def _comment(self, part: Any) -> Iterator[Unit]:
        creator = child(part, "creator")
        author = one_line(creator.text or "") if creator is not None else ""
        if text := self._plain(part):
            yield self.unit(f"Comment by {author}: {text}" if author else f"Comment: {text}")

    def _plain(self, parent: Any) -> str:
        """Return all paragraphs under an element as one line."""
        found = (words_of(p, self._styles, True, _nothing) for p in descendants(parent, "p", "h"))
        return one_line(" ".join(f"{words.text} {words.hidden}" for words in found))

    def _section(self, section: Any) -> Iterator[Unit]:
        off = value(section, "display") == "none" or value(section, "is-hidden") == "true"
        self._n_hidden += off
        yield from self.blocks(section)
        self._n_hidden -= off

    def _list(self, block: Any) -> Iterator[Unit]:
        style = value(block, "style-name")
        continues = value(block, "continue-numbering") == "true" or bool(value(block, "continue-list"))
        if not continues or style not in self._lists:
            self._lists[style] = Counter(self._styles.lists.get(style))
        yield from self._items(block, self._lists[style], 1)

    def _inner(self, block: Any, counter: Counter, level: int) -> Iterator[Unit]:
        """Read a list inside an item; it goes on in the outer list's style unless it names another."""
        style = self._styles.lists.get(value(block, "style-name"))
        same = style is None or style is counter.style
        yield from self._items(block, counter if same else Counter(style), level)

    def _items(self, block: Any, counter: Counter, level: int) -> Iterator[Unit]:
        for item in children(block, "list-item", "list-header"):
            label: str | None = None
            for part in item:
                name = local(part)
                if name == "list":
                    yield from self._inner(part, counter, level + 1)
                elif name in ("p", "h"):
                    if label is None and local(item) == "list-item":
                        label = counter.next(level, number(value(item, "start-value")))
                        yield from self._paragraph(part, label)
                    else:
                        yield from self._paragraph(part, "")
                else:
                    yield from self.blocks((part,))

    def _object(self, part: Any) -> Iterator[Unit]:
        """Read an embedded chart, table or text; a flat file holds it in place."""
        root = child(part, "document")
        package = self._odf.package
        if root is None and package is not None and self._n_objects < MAX_OBJECTS:
            path = posixpath.normpath(value(part, "href"))
            root = package.optional(posixpath.join(path, "content.xml"))
        self._n_objects += 1
        body = child(root, "body")
        for content in body if body is not None else ():
            chart = child(content, "chart")
            if chart is not None and (title := self._plain(child(chart, "title"))):
                yield self.unit(f"Chart: {title}")
            for table in children(content if chart is None else chart, "table"):
                yield from self._table(table)
            if local(content) == "text":
                yield from self.blocks(content)

    def _table(self, table: Any) -> Iterator[Unit]:
        self._n_tables += 1
        if self._n_tables > MAX_TABLES:
            raise damaged(f"its tables are nested more than {MAX_TABLES} deep")
        rows = list(rows_of(table))
        aside: list[Any] = []
        hidden: list[str] = []
        cells = [self._row(row, aside, hidden) for row in rows]
        if max(map(len, cells), default=0) < 2 or any(len(cell) > MAX_CELL for row in cells for cell in row):
            for row in rows:
                for cell in children(row, "table-cell"):
                    yield from self.blocks(cell)
        else:
            yield from self._table_units(table, rows, cells)
            for text in hidden:
                yield self.unit(text, hidden=True)
            for part in aside:
                yield from self._aside(part)
        self._n_tables -= 1

    def _table_units(self, table: Any, rows: list[Any], cells: list[list[str]]) -> Iterator[Unit]:
        repeat_merged(rows, cells)
        header = header_of(table, cells)
        for place, row in enumerate(cells[1:] if header else cells, 1):
            if text := row_text(row):
                unit = self.unit(text, UnitKind.TABLE_ROW)
                yield replace(unit, header=header, locator=replace(unit.locator, rows=(place, place)))
        self._page += sum(1 for _ in descendants(table, "soft-page-break"))

    def _row(self, row: Any, aside: list[Any], hidden: list[str]) -> list[str]:
        texts: list[str] = []
        for cell in children(row, *CELLS):
            tinted = is_tinted(self._styles, "table-cell", value(cell, "style-name"))
            self.n_shades += tinted
            found = [words_of(p, self._styles, self.n_shades > 0, _nothing) for p in own_paragraphs(cell)]
            self.n_shades -= tinted
            for words in found:
                aside += words.aside
                hidden += [words.hidden] if words.hidden else []
            texts += [one_line(" ".join(words.text for words in found))] * repeats(cell)
        while texts and not texts[-1]:
            texts.pop()
        return texts


def _nothing() -> None:
    pass
