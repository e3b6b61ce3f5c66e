"""Presentations: slides in the order they are shown, each with its title, text, tables, charts, notes and comments.

Walks the XML itself. Shapes and their order are `pptx_shapes`, paragraphs `pptx_text`. Pictures are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest.formats import embedded
from ingest.formats.elements import child, children, descendants, relation_id, value
from ingest.formats.office import broken_notes, core_title
from ingest.formats.package import Package
from ingest.formats.pptx_comments import Authors, comments
from ingest.formats.pptx_shapes import shapes
from ingest.formats.pptx_slide import Slide
from ingest.formats.pptx_text import plain
from ingest.formats.reading import Reading, damaged
from ingest.limits import ParseLimits
from ingest.locator import Locator
from ingest.unit import HIDDEN, Part, Unit, UnitKind

MAX_SLIDES = 5_000
NOTES = "Notes"
NOT_NOTES = frozenset({"sldImg", "sldNum", "hdr", "ftr", "dt"})


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a presentation, a template or a show, with macros or without.

    Raises:
        RefusedError: the package or the list of slides is broken, locked or over a limit.
    """
    package = Package(data, limits)
    deck = _Deck(package, limits)
    units = list(deck.units())
    title = core_title(package) or next((unit.text for unit in units if unit.kind is UnitKind.HEADING), "")
    return Reading(units, title, parts=deck.parts, notes=[*deck.notes(), *broken_notes(package)])


class _Deck:
    """Reads slide by slide; remembers what is told once (footers, texts of masters) and what is left out."""

    def __init__(self, package: Package, limits: ParseLimits) -> None:
        self._package = package
        self._limits = limits
        self._main = package.main("ppt/presentation.xml")
        self._root = package.xml(self._main)
        self._relations = package.relations(self._main)
        self._authors = Authors(self._part("commentAuthors"), self._part("authors"))
        self._once: set[str] = set()
        self._roots: dict[str, Any] = {}
        self._hidden: list[int] = []
        self.parts: list[Part] = []

    def units(self) -> Iterator[Unit]:
        """Read all slides, then what stands on their masters."""
        paths = self._slides()
        if not paths:
            raise damaged("it has no slides that can be found")
        for number, path in enumerate(paths[:MAX_SLIDES], 1):
            root = self._package.optional(path)
            if root is not None:
                yield from self._slide(number, path, root)
        yield from self._masters()

    def notes(self) -> list[str]:
        """Return what staff should know about what was read."""
        if not self._hidden:
            return []
        named = ", ".join(map(str, self._hidden[:20])) + (", …" if len(self._hidden) > 20 else "")
        one = len(self._hidden) == 1
        return [
            f"slide {named} is hidden; its text is read all the same"
            if one
            else f"slides {named} are hidden; their text is read all the same"
        ]

    def _slides(self) -> list[str]:
        """Return the slides' members as the presentation lists them; without a list, as its relations do."""
        listed = [relation_id(item) for item in children(child(self._root, "sldIdLst"), "sldId")]
        paths = [self._relations[key][1] for key in listed if key in self._relations]
        return paths or [path for kind, path in self._relations.values() if kind == "slide"]

    def _slide(self, number: int, path: str, root: Any) -> Iterator[Unit]:
        relations = self._package.relations(path)
        if value(root, "show") in ("0", "false"):
            self._hidden.append(number)
        slide = Slide(self._package, number, root, self._layouts(path, root), self._size())
        found = list(slide.units(relations, self._once))
        found += self._notes(relations, number, slide.title)
        for kind, comment_path in relations.values():
            if kind == "comments":
                place = Locator(slide=number, heading=(*slide.heading, "Comments"))
                found += comments(self._package.optional(comment_path), self._authors, place)
        self.parts += embedded.files(self._package, relations.values(), self._limits)
        off = number in self._hidden[-1:]
        for unit in found:
            yield (
                Unit(unit.text, unit.locator, unit.kind, unit.header, unit.flags | {HIDDEN}) if off else unit
            )

    def _notes(self, relations: dict[str, tuple[str, str]], number: int, title: str) -> Iterator[Unit]:
        path = next((path for kind, path in relations.values() if kind == "notesSlide"), "")
        root = self._package.optional(path)
        place = Locator(slide=number, heading=(title, NOTES) if title else (NOTES,))
        for shape in shapes(root, []) if root is not None else ():
            if shape.placeholder not in NOT_NOTES:
                for paragraph in descendants(child(shape.element, "txBody"), "p"):
                    text = plain([paragraph])
                    if text:
                        yield Unit(text, place)

    def _layouts(self, path: str, root: Any) -> list[tuple[str, Any]]:
        """Return (member, root) of a slide, its layout and its master, as far as they are there."""
        chain = [(path, root)]
        for kind in ("slideLayout", "slideMaster"):
            relations = self._package.relations(chain[-1][0]).values()
            target = next((target for name, target in relations if name == kind), "")
            if target not in self._roots:
                self._roots[target] = self._package.optional(target)
            if self._roots[target] is not None:
                chain.append((target, self._roots[target]))
        return chain

    def _masters(self) -> Iterator[Unit]:
        """Read texts that stand on every slide of a master, once: a classification, a department."""
        for root in self._roots.values():
            for shape in shapes(root, []) if root is not None else ():
                text = "" if shape.placeholder else plain(child(shape.element, "txBody"))
                if len(text) > 3 and text not in self._once:
                    self._once.add(text)
                    yield Unit(text, Locator())

    def _size(self) -> tuple[int, int]:
        size = child(self._root, "sldSz")
        width, height = value(size, "cx"), value(size, "cy")
        both = width.isdecimal() and height.isdecimal() and len(width + height) < 24
        return (int(width), int(height)) if both else (0, 0)

    def _part(self, kind: str) -> Any:
        return self._package.optional(
            next((path for name, path in self._relations.values() if name == kind), "")
        )
