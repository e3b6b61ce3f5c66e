"""Word documents: paragraphs, headings, lists, tables, notes, comments and text boxes, in reading order.

Walks the XML itself. Inserted text of tracked changes is read, deleted text and hidden text (w:vanish) are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ingest.formats import html
from ingest.formats.docx_numbering import Numbering
from ingest.formats.docx_styles import Styles
from ingest.formats.elements import child, is_on, local, value
from ingest.formats.headings import Headings
from ingest.formats.package import Package
from ingest.formats.reading import Reading, RefusedError, damaged
from ingest.formats.table import looks_like_header, row_text
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits
from ingest.locator import Locator
from ingest.unit import Unit, UnitKind

MAX_TABLES = 60  # nested in one another
MAX_CELL = 1500  # characters; a table with a longer cell lays out a page, and is read as paragraphs
MAX_MERGED = 60  # characters of a vertically merged cell that are repeated in the rows below
MAX_HEADING = 250
UNREAD = frozenset(
    "del moveFrom delText instrText delInstrText pPr rPr sectPr proofErr sdtPr sdtEndPr Fallback fldChar ruby".split()
)
BOXES = frozenset({"drawing", "pict", "object"})
NOTES = {"footnoteReference": "Footnote", "endnoteReference": "Endnote", "commentReference": "Comment"}


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a Word document. Pages are estimates, from where Word broke them when it last saved.

    Raises:
        RefusedError: the package or a part that is needed is broken, locked or over a limit.
    """
    package = Package(data, limits)
    main = next(
        (path for kind, path in package.relations("").values() if kind == "officeDocument"),
        "word/document.xml",
    )
    body = child(package.xml(main), "body")
    if body is None:
        raise damaged(f"its part {main} has no text body")
    walk = _Walk(package, main, limits, has_pages=any(_breaks_page(part) for part in body.iter()))
    units = [*walk.blocks(body), *walk.margins()]
    return Reading(units, walk.title or _core_title(package) or _first_heading(units))


def _core_title(package: Package) -> str:
    path = next((path for kind, path in package.relations("").values() if kind == "core-properties"), "")
    if not package.has(path):
        return ""
    try:
        title = one_line(child(package.xml(path), "title").text or "")
    except (RefusedError, AttributeError):  # a document is read without its properties
        return ""
    return "" if title.lower().startswith(("microsoft word", "untitled", "document")) else title


def _first_heading(units: list[Unit]) -> str:
    return next((unit.text for unit in units if unit.kind is UnitKind.HEADING), "")


class _Walk:
    """Turns blocks into units and keeps what counts along the way: page, headings, list numbers."""

    def __init__(self, package: Package, main: str, limits: ParseLimits, has_pages: bool) -> None:
        self._package = package
        self._relations = package.relations(main)
        self._limits = limits
        self._styles = Styles(self._part("styles"))
        self._numbering = Numbering(self._part("numbering"))
        self._headings = Headings()
        self._notes = {kind: self._note_texts(part) for kind, part in self._note_parts().items()}
        self._page = 1
        self._text_page = 1  # where the paragraph being read has its first words
        self._has_pages = has_pages
        self._fresh = True  # nothing was read since the last page break: the next one is the same break again
        self._n_tables = 0
        self._waiting: list[Any] = []  # text boxes and notes of the paragraph being read
        self.title = ""

    def blocks(self, parent: Any) -> Iterator[Unit]:
        """Read paragraphs and tables under an element."""
        for block in parent:
            name = local(block)
            if name == "p":
                yield from self._paragraph(block)
            elif name == "tbl":
                yield from self._table(block)
            elif name == "altChunk":
                yield from self._chunk(value(block, "id"))
            elif name not in UNREAD:
                yield from self.blocks(block)

    def margins(self) -> Iterator[Unit]:
        """Read page headers and footers, each different text once: they hold versions and dates."""
        seen = set()
        for kind, path in self._relations.values():
            if kind in ("header", "footer") and self._package.has(path):
                for block in self._package.xml(path).iter():
                    text = self._line(block) if local(block) == "p" else ""
                    if len(text) > 3 and text not in seen:
                        seen.add(text)
                        yield Unit(text, Locator())
        self._waiting.clear()

    def _part(self, kind: str) -> Any:
        path = next((path for name, path in self._relations.values() if name == kind), "")
        return self._package.xml(path) if self._package.has(path) else None

    def _note_parts(self) -> dict[str, Any]:
        return {
            "Footnote": self._part("footnotes"),
            "Endnote": self._part("endnotes"),
            "Comment": self._part("comments"),
        }

    def _note_texts(self, root: Any) -> dict[str, Any]:
        return (
            {}
            if root is None
            else {value(note, "id"): note for note in root if value(note, "type") in ("", "normal")}
        )

    def _locator(self, rows: tuple[int, int] | None = None) -> Locator:
        page = self._page if self._has_pages else None
        return Locator(page=page, page_estimated=self._has_pages, heading=self._headings.path, rows=rows)

    def _paragraph(self, block: Any) -> Iterator[Unit]:
        style = value(child(block, "pPr", "pStyle"))
        before = len(self._waiting)
        self._text_page = 0
        text = one_line("".join(self._pieces(block)))
        waiting, self._waiting = self._waiting[before:], self._waiting[:before]
        if text:
            yield self._styled(block, style, text)
        for extra in waiting:
            yield from self._extra(extra)

    def _styled(self, block: Any, style: str, text: str) -> Unit:
        level = self._styles.level(style)
        own = value(child(block, "pPr", "outlineLvl"))
        if own.isdigit() and int(own) < 9:
            level = int(own) + 1
        num_pr = child(block, "pPr", "numPr")
        num_pr = self._styles.numbering(style) if num_pr is None else num_pr
        label = self._numbering.label(num_pr) if num_pr is not None else ""
        if label:
            text = f"{label} {text}"
        kind = UnitKind.LIST_ITEM if label else UnitKind.PARAGRAPH
        if level is not None and len(text) <= MAX_HEADING:
            kind = UnitKind.HEADING
            if level:
                self._headings.enter(level, text)
            elif not self.title:
                self.title = text
        return Unit(
            text,
            replace(self._locator(), page=self._text_page or self._page)
            if self._has_pages
            else self._locator(),
            kind,
        )

    def _pieces(self, parent: Any) -> Iterator[str]:
        """Yield the visible text under a paragraph or run; page breaks are counted, boxes and notes put aside."""
        for part in parent:
            name = local(part)
            if name == "t":
                self._words(part.text or "")
                yield part.text or ""
            elif name == "r":
                if not self._is_hidden(part):
                    yield from self._pieces(part)
            elif name in ("tab", "ptab"):
                yield "\t" if local(parent) == "r" else ""
            elif name in ("br", "cr", "lastRenderedPageBreak"):
                if _breaks_page(part):
                    self._break()
                yield "\n" if name != "lastRenderedPageBreak" else ""
            elif name in ("noBreakHyphen", "softHyphen"):
                yield "-" if name == "noBreakHyphen" else ""
            elif name in NOTES:
                self._waiting.append((NOTES[name], value(part, "id")))
            elif name in BOXES:
                self._waiting += _boxes(part)
            elif name == "AlternateContent":
                yield from self._pieces(part)
            elif name == "txbxContent":
                self._waiting.append(part)
            elif name not in UNREAD:
                yield from self._pieces(part)

    def _is_hidden(self, run: Any) -> bool:
        properties = child(run, "rPr")
        if properties is None:
            return False
        own = child(properties, "vanish")
        return is_on(own) if own is not None else self._styles.is_hidden(value(child(properties, "rStyle")))

    def _words(self, text: str) -> None:
        if text.strip():
            self._fresh = False
            self._text_page = self._text_page or self._page

    def _break(self) -> None:
        """Count a page break; Word writes a hard one and then the rendered one that follows from it."""
        if not self._fresh:
            self._page += 1
        self._fresh = True

    def _line(self, block: Any) -> str:
        return one_line("".join(self._pieces(block)))

    def _extra(self, extra: Any) -> Iterator[Unit]:
        """Read a text box or note that hangs on the paragraph before."""
        if not isinstance(extra, tuple):
            yield from self.blocks(extra)
            return
        kind, note_id = extra
        note = self._notes[kind].get(note_id)
        text = (
            "" if note is None else one_line(" ".join(self._line(p) for p in note.iter() if local(p) == "p"))
        )
        if text:
            author = value(note, "author")
            lead = f"{kind} by {author}" if author else f"{kind} {note_id}"
            yield Unit(f"{lead}: {text}", self._locator())

    def _chunk(self, relation_id: str) -> Iterator[Unit]:
        _, path = self._relations.get(relation_id, ("", ""))
        if path.lower().endswith((".html", ".htm", ".xhtml")) and self._package.has(path):
            yield from html.read(self._package.read(path), self._limits.legacy_encoding).units

    def _table(self, table: Any) -> Iterator[Unit]:
        self._n_tables += 1
        if self._n_tables > MAX_TABLES:
            raise damaged(f"its tables are nested more than {MAX_TABLES} deep")
        yield from self._rows(table)
        self._n_tables -= 1

    def _rows(self, table: Any) -> Iterator[Unit]:
        rows = [row for row in _parts(table, "tr") if child(row, "trPr", "del") is None]
        page = self._page
        fresh = self._fresh
        before = len(self._waiting)
        cells = [[self._cell(cell) for cell in _parts(row, "tc")] for row in rows]
        widest = max(map(len, cells), default=0)
        if widest < 2 or any(len(cell) > MAX_CELL for row in cells for cell in row):
            del self._waiting[before:]
            self._page, self._fresh = page, fresh
            for row in rows:
                for cell in _parts(row, "tc"):
                    yield from self.blocks(cell)
            return
        _repeat_merged(rows, cells)
        yield from self._table_units(rows, cells)
        waiting, self._waiting = self._waiting[before:], self._waiting[:before]
        for extra in waiting:
            yield from self._extra(extra)

    def _table_units(self, rows: list[Any], cells: list[list[str]]) -> Iterator[Unit]:
        marked = child(rows[0], "trPr", "tblHeader")
        has_header = is_on(marked) if marked is not None else looks_like_header(cells[0], cells[1:])
        header = row_text(cells[0]) if has_header and len(cells) > 1 else ""
        for number, row in enumerate(cells[1:] if header else cells, 1):
            if text := row_text(row):
                yield Unit(text, self._locator((number, number)), UnitKind.TABLE_ROW, header)

    def _cell(self, cell: Any) -> str:
        return one_line(
            " ".join(
                self._line(part) for part in cell.iter() if local(part) == "p" and not _in_box(part, cell)
            )
        )


def _breaks_page(part: Any) -> bool:
    name = local(part)
    return name == "lastRenderedPageBreak" or (name == "br" and value(part, "type") == "page")


def _parts(parent: Any, name: str) -> list[Any]:
    """Return a table's rows or a row's cells, also those inside content controls and tracked insertions."""
    found = []
    for part in parent:
        if local(part) == name:
            found.append(part)
        elif local(part) in ("sdt", "sdtContent", "ins", "customXml", "smartTag"):
            found += _parts(part, name)
    return found


def _boxes(drawing: Any) -> list[Any]:
    """Return the text boxes of a drawing, the outermost only, and one of each pair of alternatives."""
    found: list[Any] = []
    for part in drawing:
        if local(part) == "txbxContent":
            found.append(part)
        elif local(part) != "Fallback":
            found += _boxes(part)
    return found


def _in_box(part: Any, cell: Any) -> bool:
    parent = part.getparent()
    while parent is not None and parent is not cell:
        if local(parent) in ("txbxContent", "Fallback"):
            return True
        parent = parent.getparent()
    return False


def _repeat_merged(rows: list[Any], cells: list[list[str]]) -> None:
    """Write a vertically merged cell's short text into the rows that it spans, so that each row stands alone."""
    above: dict[int, str] = {}
    for row, texts in zip(rows, cells, strict=True):
        column = 0
        for i, cell in enumerate(_parts(row, "tc")):
            merge = child(cell, "tcPr", "vMerge")
            if merge is not None and value(merge) != "restart" and not texts[i]:
                texts[i] = above.get(column, "")
            above[column] = texts[i] if merge is not None and len(texts[i]) <= MAX_MERGED else ""
            span = value(child(cell, "tcPr", "gridSpan"))
            column += int(span[:3]) if span.isdigit() else 1
