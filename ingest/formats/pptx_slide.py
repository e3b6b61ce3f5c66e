"""One slide: its shapes' text, tables, charts and diagrams as units, with what nobody can see marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ingest.formats.chart import chart_units
from ingest.formats.diagram import diagram_lines
from ingest.formats.elements import child, children, descendants, local, relation_id, value
from ingest.formats.package import Package
from ingest.formats.pptx_colour import Colours, colours_of, is_filled
from ingest.formats.pptx_shapes import TITLES, Box, Shape, shapes
from ingest.formats.pptx_text import lines, plain
from ingest.formats.table import looks_like_header, row_text
from ingest.formats.tidy import one_line
from ingest.locator import Locator
from ingest.unit import HIDDEN, Unit, UnitKind

UNREAD = frozenset({"sldNum", "dt"})
MARGINS = frozenset({"ftr", "hdr"})  # the same on every slide: read once
BODIES = frozenset({"body", "obj"})
MAX_FILLS = 2_000  # a drawing of more shapes than that is not looked through for hidden text
MAX_MERGED = 60  # characters of a vertically merged cell that are repeated in the rows below
Relations = dict[str, tuple[str, str]]


class Slide:
    """Reads one slide.

    Attributes:
        title: "" where it has none.
    """

    def __init__(
        self, package: Package, number: int, root: Any, chain: list[tuple[str, Any]], size: tuple[int, int]
    ) -> None:
        """Take a slide apart.

        Args:
            chain: (member, root) of the slide, its layout and its master, as far as they are there.
            size: of a slide in EMU; (0, 0) where it is not known.
        """
        self._package = package
        self._number = number
        self._size = size
        self._shapes = shapes(root, [layout for _, layout in chain[1:]])
        self._colours: Colours = colours_of(package, chain)
        # What may lie behind text, with its place in the pile; the layout's shapes lie below all.
        layouts = [shape for _, layout in chain[1:] for shape in shapes(layout, []) if not shape.placeholder]
        self._fills = [(-1, shape.box) for shape in layouts if is_filled(shape.element)]
        self._fills += [(shape.ground, shape.box) for shape in self._shapes if is_filled(shape.element)]
        titles = (shape for shape in self._shapes if shape.placeholder in TITLES)
        self.title = next(filter(None, (plain(child(shape.element, "txBody")) for shape in titles)), "")

    @property
    def heading(self) -> tuple[str, ...]:
        """The slide's title as a path of headings."""
        return (self.title,) if self.title else ()

    def units(self, relations: Relations, once: set[str]) -> Iterator[Unit]:
        """Read the shapes in order.

        Args:
            once: texts of footers that were read on a slide before; those read here are added.
        """
        for shape in self._shapes:
            if shape.placeholder in UNREAD:
                continue
            flags = frozenset({HIDDEN}) if shape.hidden or self._is_off(shape.box) else frozenset()
            for unit in self._shape(shape, relations):
                if shape.placeholder in MARGINS:
                    if unit.text in once:
                        continue
                    once.add(unit.text)
                yield replace(unit, flags=unit.flags | flags)

    def _locator(self, rows: tuple[int, int] | None = None) -> Locator:
        return Locator(slide=self._number, heading=self.heading, rows=rows)

    def _is_off(self, box: Box | None) -> bool:
        width, height = self._size
        if box is None or not width:
            return False
        inside = -box.width < box.left < width and -box.height < box.top < height
        return not inside

    def _shape(self, shape: Shape, relations: Relations) -> Iterator[Unit]:
        if local(shape.element) == "graphicFrame":
            yield from self._graphic(child(shape.element, "graphic", "graphicData"), relations)
            return
        body = child(shape.element, "txBody")
        if body is None:
            return
        behind = self._ground(shape)
        is_title = shape.placeholder in TITLES
        found = list(lines(body, self._colours, behind, bulleted=_is_list(shape, body)))
        if is_title and (title := one_line(" ".join(line.text for line in found))):
            yield Unit(title, self._locator(), UnitKind.HEADING)
        for line in found:
            if line.text and not is_title:
                kind = UnitKind.LIST_ITEM if line.listed else UnitKind.PARAGRAPH
                yield Unit(line.text, self._locator(), kind)
            if line.unseen:
                yield Unit(line.unseen, self._locator(), flags=frozenset({HIDDEN}))

    def _ground(self, shape: Shape) -> str | None:
        """Return the colour behind a shape's text; None where a picture or another shape may lie there."""
        own = self._colours.of(child(shape.element, "spPr"))
        if own is not None:
            return own
        if is_filled(shape.element) or shape.box is None:
            return None
        if len(self._fills) > MAX_FILLS:
            return None
        covered = any(
            place < shape.ground and (box is None or box.meets(shape.box)) for place, box in self._fills
        )
        return None if covered else self._colours.background

    def _graphic(self, data: Any, relations: Relations) -> Iterator[Unit]:
        table = child(data, "tbl")
        if table is not None:
            yield from self._table(table)
        for part in descendants(data, "chart", "relIds"):
            name = "dm" if local(part) == "relIds" else "id"
            root = self._package.optional(relations.get(relation_id(part, name), ("", ""))[1])
            if root is None:
                continue
            if name == "id":
                yield from chart_units(root, self._locator())
            else:
                for line in diagram_lines(root):
                    kind = UnitKind.LIST_ITEM if line.startswith("- ") else UnitKind.PARAGRAPH
                    yield Unit(line, self._locator(), kind)

    def _table(self, table: Any) -> Iterator[Unit]:
        unseen: list[str] = []
        rows = [[self._cell(cell, unseen) for cell in children(row, "tc")] for row in children(table, "tr")]
        _repeat_merged(table, rows)
        if not rows:
            return
        told = value(child(table, "tblPr"), "firstRow")
        has_header = told in ("1", "true") if told else looks_like_header(rows[0], rows[1:])
        header = row_text(rows[0]) if has_header and len(rows) > 1 else ""
        for place, row in enumerate(rows[1:] if header else rows, 1):
            if text := row_text(row):
                yield Unit(text, self._locator((place, place)), UnitKind.TABLE_ROW, header)
        for text in unseen:
            yield Unit(text, self._locator(), flags=frozenset({HIDDEN}))

    def _cell(self, cell: Any, unseen: list[str]) -> str:
        """Return a cell's text; a cell that does not say its colour has that of the table's style, not known here."""
        found = list(lines(child(cell, "txBody"), self._colours, self._colours.of(child(cell, "tcPr"))))
        unseen += [line.unseen for line in found if line.unseen]
        return one_line(" ".join(line.text for line in found))


def _is_list(shape: Shape, body: Any) -> bool:
    """Tell a placeholder of points from one of prose: the layout gives it bullets, and it has several."""
    return shape.placeholder in BODIES and sum(1 for _ in children(body, "p")) > 1


def _repeat_merged(table: Any, rows: list[list[str]]) -> None:
    """Write a vertically merged cell's short text into the rows that it spans, so that each row stands alone."""
    above: dict[int, str] = {}
    for row, texts in zip(children(table, "tr"), rows, strict=True):
        for column, cell in enumerate(children(row, "tc")):
            if value(cell, "vMerge") in ("1", "true") and not texts[column]:
                texts[column] = above.get(column, "")
            above[column] = texts[column] if len(texts[column]) <= MAX_MERGED else ""
