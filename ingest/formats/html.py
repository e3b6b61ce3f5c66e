"""Web pages: headings, paragraphs, list items and table rows of the page's own text, without menus and footers.

`resiliparse` parses, and says which text is main content; the walk here keeps structure that its plain text loses.
Nothing is fetched, no script runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree, NodeType

from ingest.formats.encoding import decode_declared
from ingest.formats.headings import Headings
from ingest.formats.html_hidden import Shown
from ingest.formats.html_parts import (
    BLOCKS,
    UNREAD,
    both_texts,
    children,
    is_data,
    is_side,
    row_cells,
    shown_text,
    table_rows,
)
from ingest.formats.reading import Reading, damaged
from ingest.formats.table import row_text
from ingest.formats.tidy import one_line, visible
from ingest.locator import Locator
from ingest.unit import HIDDEN, Unit, UnitKind

MAX_DEPTH = (
    1000  # main-content extraction hangs on 100,000 nested elements; pages that people write stay under 50
)
MIN_MAIN_CHARS = 200  # below this, or below MIN_MAIN_SHARE of all text, the page is taken whole
MIN_MAIN_SHARE = 0.12
MIN_ANCHOR = 25  # characters that make a text's presence in the main content more than chance
META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
HEADINGS = {f"h{n}": n for n in range(1, 7)}
STYLESHEET = "style, link[rel=stylesheet]"


def read(data: bytes, legacy: str) -> Reading:
    """Read a web page. What the page hides from people is kept, with the flag `HIDDEN`.

    Raises:
        RefusedError: elements are nested over `MAX_DEPTH` deep.
    """
    told = META_CHARSET.search(data[:4096])
    return read_text(decode_declared(data, told[1].decode("ascii") if told else "", legacy))


def read_text(text: str) -> Reading:
    """Read a page that is decoded already; raises as `read`."""
    tree = HTMLTree.parse(text)
    return Reading(_main(_walked(tree), tree), one_line(tree.title or ""))


def units(text: str) -> list[Unit]:
    """Return all of a page, also what looks like a menu or footer: the body of a mail has none. Raises as `read`."""
    return [item.unit for item in _walked(HTMLTree.parse(text))]


def _walked(tree: Any) -> list[_Found]:
    _check_depth(tree.document)
    walk = _Walk(Shown(tree.document.query_selector(STYLESHEET) is not None))
    walk.over(tree.body or tree.document)
    return walk.found


def _check_depth(document: Any) -> None:
    node, depth = document, 0
    while node is not None:
        if node.first_child is not None:
            node, depth = node.first_child, depth + 1
            if depth > MAX_DEPTH:
                raise damaged(f"its elements are nested more than {MAX_DEPTH} deep, as no page for people is")
            continue
        while node is not None and node.next is None:
            node, depth = node.parent, depth - 1
        node = node.next if node is not None else None


@dataclass(slots=True)
class _Found:
    unit: Unit
    side: bool  # stands in a menu, footer or sidebar


@dataclass
class _Walk:
    """Turns elements into units, in document order. Iterative: pages nest deeper than Python's stack."""

    shown: Shown
    found: list[_Found] = field(default_factory=list)
    headings: Headings = field(default_factory=Headings)
    words: list[str] = field(default_factory=list)
    hidden_words: list[str] = field(default_factory=list)  # what people do not see of the same block
    n_side: int = 0
    marks: list[str] = field(default_factory=list)  # bullets and numbers of the list items being read
    counters: list[int] = field(default_factory=list)  # next number of each open list; 0: no numbers

    def over(self, root: Any) -> None:
        """Read everything under an element."""
        stack: list[tuple[bool, Any]] = [(True, root)]
        while stack:
            entering, node = stack.pop()
            if not entering:
                self._leave(node)
            elif node.type == NodeType.TEXT:
                self._say(node.value or "")
            elif node.type == NodeType.ELEMENT and node.tag not in UNREAD:
                stack += self._into(node)

    def _say(self, text: str) -> None:
        (self.hidden_words if self.shown.is_hidden else self.words).append(text)

    def _into(self, node: Any) -> list[tuple[bool, Any]]:
        """Begin an element; returns what to walk over next."""
        if node.tag in BLOCKS:
            self._flush()
        self.shown.enter(node)
        if self._enter(node):
            return [(False, node), *((True, child) for child in reversed(children(node)))]
        self.shown.leave()
        return []

    def _enter(self, node: Any) -> bool:
        """Begin an element; returns whether to walk into it."""
        tag = node.tag
        if tag == "br":
            self._say("\n")
        if tag not in BLOCKS:
            return True
        self.n_side += is_side(node)
        if tag in ("ol", "ul"):
            self.counters.append(1 if tag == "ol" else 0)
        elif tag == "li":
            self.marks.append(self._mark())
        elif tag == "table" and is_data(node):
            for caption in (part for part in children(node) if part.tag == "caption"):
                self._say(shown_text(caption))
                self._flush()
            self._rows(node)
            self.n_side -= is_side(node)
            return False
        return True

    def _leave(self, node: Any) -> None:
        tag = node.tag
        if tag not in BLOCKS:
            self.shown.leave()
            return
        self._flush(tag)
        self.shown.leave()
        self.n_side -= is_side(node)
        if tag in ("ol", "ul") and self.counters:
            self.counters.pop()
        elif tag == "li" and self.marks:
            self.marks.pop()

    def _mark(self) -> str:
        if not self.counters or not self.counters[-1]:
            return "- "
        self.counters[-1] += 1
        return f"{self.counters[-1] - 1}. "

    def _flush(self, tag: str = "p") -> None:
        """End a block: what was said of it becomes a unit, what it hides another."""
        for words, flags in ((self.words, frozenset()), (self.hidden_words, frozenset({HIDDEN}))):
            raw = "".join(words)
            words.clear()
            text = visible(raw).strip("\n") if tag == "pre" else one_line(raw)
            if text.strip():
                self._block(tag, text, flags)

    def _block(self, tag: str, text: str, flags: frozenset[str]) -> None:
        kind = UnitKind.CODE if tag == "pre" else UnitKind.PARAGRAPH
        if tag in HEADINGS and not flags:
            kind = UnitKind.HEADING
            if not self.n_side:
                self.headings.enter(HEADINGS[tag], text)
        elif self.marks and self.marks[-1]:
            kind, text, self.marks[-1] = UnitKind.LIST_ITEM, self.marks[-1] + text, ""
        self._add(Unit(text, Locator(heading=self.headings.path), kind, flags=flags))

    def _rows(self, table: Any) -> None:
        header = ""
        number = 0
        for row in table_rows(table):
            cells = row_cells(row)
            seen, hidden = self._cell_texts(row, cells)
            text = row_text(seen)
            if (
                text
                and number == 0
                and not header
                and len(cells) > 1
                and all(cell.tag == "th" for cell in cells)
            ):
                header = text
            elif text:
                number += 1
                locator = Locator(heading=self.headings.path, rows=(number, number))
                self._add(Unit(text, locator, UnitKind.TABLE_ROW, header))
            if unseen := row_text([cell for cell in hidden if cell.strip()]):
                locator = Locator(heading=self.headings.path)
                self._add(Unit(unseen, locator, UnitKind.TABLE_ROW, flags=frozenset({HIDDEN})))
        if header and number == 0:
            self._add(Unit(header, Locator(heading=self.headings.path), UnitKind.TABLE_ROW))

    def _cell_texts(self, row: Any, cells: list[Any]) -> tuple[list[str], list[str]]:
        """Return a row's texts by cell: those that people see, those that they do not."""
        self.shown.enter(row.parent)
        self.shown.enter(row)
        texts = [both_texts(cell, self.shown) for cell in cells]
        self.shown.leave()
        self.shown.leave()
        return [seen for seen, _ in texts], [hidden for _, hidden in texts]

    def _add(self, unit: Unit) -> None:
        self.found.append(_Found(unit, self.n_side > 0))


def _main(found: list[_Found], tree: Any) -> list[Unit]:
    """Keep the page's own text: from the first to the last piece of main content, without side parts."""
    main = _squashed(extract_plain_text(tree, main_content=True, alt_texts=False, list_bullets=False))
    squashed = [_squashed(item.unit.text.lstrip("- ")) for item in found]
    n_all = sum(
        len(text) for item, text in zip(found, squashed, strict=True) if HIDDEN not in item.unit.flags
    )
    own = [item.unit for item in found if not item.side]
    if len(main) < MIN_MAIN_CHARS or len(main) < n_all * MIN_MAIN_SHARE:
        return own or [item.unit for item in found]
    anchors = [i for i, text in enumerate(squashed) if len(text) >= MIN_ANCHOR and text[:60] in main]
    if not anchors:
        return own or [item.unit for item in found]
    first, last = _headed(found, anchors[0]), anchors[-1]
    kept = set(anchors)
    return [item.unit for i, item in enumerate(found) if i in kept or (first <= i <= last and not item.side)]


def _headed(found: list[_Found], first: int) -> int:
    """Move the start of the main content up over the headings and short lines right above it."""
    for i in range(first - 1, max(-1, first - 6), -1):
        if found[i].unit.kind is UnitKind.HEADING and not found[i].side:
            first = i
    return first


def _squashed(text: str) -> str:
    return "".join(text.split()).replace("|", "")
