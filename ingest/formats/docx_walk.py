"""The walk through a Word document's text: page, headings and list numbers are counted along the way.

Inserted text of tracked changes is read, deleted text is not. What cannot be seen is read and marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ingest.formats import html
from ingest.formats.chart import chart_units
from ingest.formats.diagram import diagram_lines
from ingest.formats.docx_numbering import Numbering
from ingest.formats.docx_run import Sight, field_text, is_shaded, sight, symbol
from ingest.formats.docx_styles import Styles
from ingest.formats.docx_table import cells_of, header_of, may_be_dark, own_paragraphs, repeat_merged, rows_of
from ingest.formats.elements import child, descendants, local, relation_id, value
from ingest.formats.headings import Headings
from ingest.formats.package import Package
from ingest.formats.reading import damaged
from ingest.formats.table import row_text
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits
from ingest.locator import Locator
from ingest.unit import HIDDEN, Unit, UnitKind

MAX_TABLES = 60  # nested in one another
MAX_CELL = 1500  # characters; a table with a longer cell lays out a page, and is read as paragraphs
MAX_HEADING = 250
UNREAD = frozenset(
    "del moveFrom delText instrText delInstrText pPr rPr sectPr proofErr sdtPr sdtEndPr Fallback rt".split()
)
DRAWN = frozenset({"drawing", "pict", "object"})
INSETS = frozenset({"txbxContent", "chart", "relIds"})  # what a drawing may hold: text, a chart, SmartArt
NOTES = {"footnoteReference": "Footnote", "endnoteReference": "Endnote", "commentReference": "Comment"}
NOTE_PARTS = {"Footnote": "footnotes", "Endnote": "endnotes", "Comment": "comments"}
UNSEEN = frozenset({HIDDEN})


class Walk:
    """Turns blocks into units.

    Attributes:
        relations: of the main part, id → (last word of the type, member).
        title: the paragraph styled as one; "" until it was read.
    """

    def __init__(self, package: Package, main: str, limits: ParseLimits, root: Any) -> None:
        self._package = package
        self._limits = limits
        self.relations = package.relations(main)
        self.title = ""
        self._styles = Styles(self._part("styles"))
        self._numbering = Numbering(self._part("numbering"), self._styles)
        self._headings = Headings()
        self._notes = {kind: _by_id(self._part(part)) for kind, part in NOTE_PARTS.items()}
        self._page = 1
        self._text_page = 1  # where the paragraph being read has its first words
        self._has_pages = any(_breaks_page(part) for part in root.iter())
        self._fresh = True  # nothing was read since the last page break: the next one is the same break again
        self._n_tables = 0
        self._waiting: list[Any] = []  # text boxes and notes of the paragraph being read
        # Grounds that may be dark around the text being read; a page colour counts as one.
        self._n_shades = 1 if child(root, "background") is not None else 0
        self._unseen: list[str] = []  # text that cannot be seen, of the block being read
        self._n_left_out = 0

    def blocks(self, parent: Any) -> Iterator[Unit]:
        """Read paragraphs and tables under an element."""
        for block in parent:
            name = local(block)
            if name == "p":
                yield from self._paragraph(block)
            elif name == "tbl":
                yield from self._table(block)
            elif name == "altChunk":
                yield from self._chunk(relation_id(block))
            elif name not in UNREAD:
                yield from self.blocks(block)

    def margins(self) -> Iterator[Unit]:
        """Read page headers and footers, each different text once: they hold versions and dates."""
        seen = set()
        for kind, path in self.relations.values():
            if kind not in ("header", "footer"):
                continue
            for block in descendants(self._package.optional(path), "p"):
                text = self._line(block)
                if len(text) > 3 and text not in seen:
                    seen.add(text)
                    yield Unit(text, Locator())
        yield from self._unseen_units(Locator())
        self._waiting.clear()

    def notes(self) -> list[str]:
        """Return what was left out."""
        if not self._n_left_out:
            return []
        count = "a passage" if self._n_left_out == 1 else f"{self._n_left_out} passages"
        return [f"{count} inside visible paragraphs, formatted as hidden text in Word, left out"]

    def _part(self, kind: str) -> Any:
        return self._package.optional(
            next((path for name, path in self.relations.values() if name == kind), "")
        )

    def _locator(self, rows: tuple[int, int] | None = None) -> Locator:
        page = self._page if self._has_pages else None
        return Locator(page=page, page_estimated=self._has_pages, heading=self._headings.path, rows=rows)

    def _paragraph(self, block: Any) -> Iterator[Unit]:
        before = len(self._waiting)
        self._text_page = 0
        text = self._line(block)
        waiting, self._waiting = self._waiting[before:], self._waiting[:before]
        page = self._text_page or self._page
        if text:
            unit = self._styled(block, text)
            yield replace(unit, locator=replace(unit.locator, page=page)) if self._has_pages else unit
        yield from self._unseen_units(self._locator())
        for extra in waiting:
            yield from self._extra(extra)

    def _unseen_units(self, locator: Locator) -> Iterator[Unit]:
        unseen, self._unseen = self._unseen, []
        for text in unseen:
            yield Unit(text, locator, flags=UNSEEN)

    def _styled(self, block: Any, text: str) -> Unit:
        style = value(child(block, "pPr", "pStyle"))
        level = self._styles.level(style)
        own = value(child(block, "pPr", "outlineLvl"))
        if own.isdigit():
            level = int(own) + 1 if int(own) < 9 else None
        label = self._numbering.paragraph_label(child(block, "pPr", "numPr"), style)
        if label:
            text = f"{label} {text}"
        kind = UnitKind.LIST_ITEM if label else UnitKind.PARAGRAPH
        if level is not None and len(text) <= MAX_HEADING:
            kind = UnitKind.HEADING
            if level:
                self._headings.enter(level, text)
            elif not self.title:
                self.title = text
        return Unit(text, self._locator(), kind)

    def _line(self, block: Any) -> str:
        """Return a paragraph's visible text; what cannot be seen is put aside."""
        seen: dict[Sight, list[str]] = {kind: [] for kind in Sight}
        properties = child(block, "pPr")
        style = value(child(properties, "pStyle"))
        shaded = is_shaded(properties) or self._styles.is_shaded(style)
        self._n_shades += shaded
        self._pieces(block, seen, Sight.VANISHED if self._styles.is_hidden(style) else Sight.SEEN)
        self._n_shades -= shaded
        text, unseen, vanished = (one_line("".join(seen[kind])) for kind in Sight)
        # Words that vanish inside a sentence are what its author took out of it (or an index's marks); a whole
        # paragraph of them is a message to someone.
        if vanished and (text or unseen):
            self._n_left_out += 1
            vanished = ""
        self._unseen += [hidden for hidden in (unseen, vanished) if hidden]
        return text

    def _pieces(self, parent: Any, seen: dict[Sight, list[str]], state: Sight) -> None:
        """Collect the text under a paragraph or run; page breaks are counted, boxes and notes put aside."""
        for part in parent:
            name = local(part)
            if name == "t":
                self._words(part.text or "")
                seen[state].append(part.text or "")
            elif name == "r":
                self._pieces(part, seen, sight(part, self._styles, self._n_shades > 0, state))
            elif name in NOTES:
                self._waiting.append((NOTES[name], value(part, "id")))
            elif name in DRAWN:
                self._waiting += _insets(part)
            elif name == "txbxContent":
                self._waiting.append(part)
            elif name not in UNREAD:
                seen[state].append(self._sign(part, name, parent))
                self._pieces(part, seen, state)

    def _sign(self, part: Any, name: str, parent: Any) -> str:
        """Return what an element stands for that holds no text of its own."""
        if _breaks_page(part):
            self._break()
        if name in ("tab", "ptab"):
            return "\t" if local(parent) == "r" else ""
        if name == "sym":
            return symbol(part)
        if name == "fldChar":
            return field_text(part)
        return {"br": "\n", "cr": "\n", "noBreakHyphen": "-"}.get(name, "")

    def _words(self, text: str) -> None:
        if text.strip():
            self._fresh = False
            self._text_page = self._text_page or self._page

    def _break(self) -> None:
        """Count a page break; Word writes a hard one and then the rendered one that follows from it."""
        if not self._fresh:
            self._page += 1
        self._fresh = True

    def _extra(self, extra: Any) -> Iterator[Unit]:
        """Read what hangs on the paragraph before: a note, a text box, a chart, SmartArt."""
        if isinstance(extra, tuple):
            yield from self._note(*extra)
        elif local(extra) == "txbxContent":
            self._n_shades += 1  # a box may be filled
            yield from self.blocks(extra)
            self._n_shades -= 1
        else:
            name = "id" if local(extra) == "chart" else "dm"
            root = self._package.optional(self.relations.get(relation_id(extra, name), ("", ""))[1])
            if root is not None and name == "id":
                yield from chart_units(root, self._locator())
            elif root is not None:
                yield from (Unit(line, self._locator()) for line in diagram_lines(root))

    def _note(self, kind: str, note_id: str) -> Iterator[Unit]:
        note = self._notes[kind].get(note_id)
        text = one_line(" ".join(self._line(p) for p in descendants(note, "p")))
        if text:
            author = value(note, "author")
            lead = f"{kind} by {author}" if author else f"{kind} {note_id}"
            yield Unit(f"{lead}: {text}", self._locator())
        yield from self._unseen_units(self._locator())

    def _chunk(self, relation: str) -> Iterator[Unit]:
        """Read a web page that Word would take in when it opens the document; other chunks are parts."""
        path = self.relations.get(relation, ("", ""))[1]
        if path.lower().endswith((".html", ".htm", ".xhtml")) and self._package.has(path):
            yield from html.read(self._package.read(path), self._limits.legacy_encoding).units

    def _table(self, table: Any) -> Iterator[Unit]:
        self._n_tables += 1
        if self._n_tables > MAX_TABLES:
            raise damaged(f"its tables are nested more than {MAX_TABLES} deep")
        dark = may_be_dark(table)
        self._n_shades += dark
        yield from self._rows(table)
        self._n_shades -= dark
        self._n_tables -= 1

    def _rows(self, table: Any) -> Iterator[Unit]:
        rows = rows_of(table)
        mark = (self._page, self._fresh, self._n_left_out, len(self._unseen))
        before = len(self._waiting)
        cells = [[self._cell(cell) for cell in cells_of(row)] for row in rows]
        widest = max(map(len, cells), default=0)
        if widest < 2 or any(len(cell) > MAX_CELL for row in cells for cell in row):
            # A frame around text: read it again, as blocks.
            del self._waiting[before:], self._unseen[mark[3] :]
            self._page, self._fresh, self._n_left_out = mark[:3]
            for row in rows:
                for cell in cells_of(row):
                    yield from self.blocks(cell)
            return
        repeat_merged(rows, cells)
        header = header_of(rows, cells)
        for number, row in enumerate(cells[1:] if header else cells, 1):
            if text := row_text(row):
                yield Unit(text, self._locator((number, number)), UnitKind.TABLE_ROW, header)
        yield from self._unseen_units(self._locator())
        waiting, self._waiting = self._waiting[before:], self._waiting[:before]
        for extra in waiting:
            yield from self._extra(extra)

    def _cell(self, cell: Any) -> str:
        return one_line(" ".join(self._line(part) for part in own_paragraphs(cell)))


def _by_id(root: Any) -> dict[str, Any]:
    """Return the notes of a part without the separators, which are notes to Word."""
    notes = root if root is not None else ()
    return {value(note, "id"): note for note in notes if value(note, "type") in ("", "normal")}


def _breaks_page(part: Any) -> bool:
    name = local(part)
    return name == "lastRenderedPageBreak" or (name == "br" and value(part, "type") == "page")


def _insets(drawing: Any) -> list[Any]:
    """Return what a drawing holds to read, the outermost only, and one of each pair of alternatives."""
    found: list[Any] = []
    for part in drawing:
        if local(part) in INSETS:
            found.append(part)
        elif local(part) != "Fallback":
            found += _insets(part)
    return found
