"""OpenDocument presentations and drawings, packed or flat: slides in order with title, text, tables and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ingest.formats.elements import child, children, local, value
from ingest.formats.odf import OdfStyles, open_odf
from ingest.formats.odf_text import DRAWN
from ingest.formats.odf_walk import Walk
from ingest.formats.odt import object_files
from ingest.formats.office import broken_notes
from ingest.formats.reading import Reading
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits
from ingest.locator import Locator
from ingest.unit import HIDDEN, Unit, UnitKind

ROW_CM = 0.25  # shapes whose tops differ by less stand beside each other
LENGTH = re.compile(r"^(-?\d+(?:\.\d+)?)(cm|mm|in|pt|pc|px)$")
CM = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "pc": 2.54 / 6, "px": 2.54 / 96}
# Names that programs give to slides; a person's name for a slide stands in its place.
SELF_NAMED = re.compile(r"^(?:page|slide|seite|folie|diapo\w*|pagina|página|dia|slajd)\s*\d+$", re.IGNORECASE)
UNREAD = frozenset({"date-time", "page-number"})
NOTES = "Notes"


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a presentation; `slide` of a locator counts the pages from 1.

    Raises:
        RefusedError: it has a password, is broken or over a limit.
    """
    odf = open_odf(data, limits)
    styles = OdfStyles(odf.roots)
    walk = Walk(odf, styles)
    walk.n_shades = 1  # backgrounds are pictures and gradients more often than not
    units: list[Unit] = []
    hidden: list[int] = []
    once: set[str] = set()
    for number, page in enumerate(children(odf.body, "page"), 1):
        found = list(_page(walk, styles, page, number, once))
        if _is_hidden(page, styles):
            hidden.append(number)
            found = [replace(unit, flags=unit.flags | {HIDDEN}) for unit in found]
        units += found
    notes = [f"slide {number} is hidden; its text is read all the same" for number in hidden]
    notes += broken_notes(odf.package) if odf.package is not None else []
    first = next((unit.text for unit in units if unit.kind is UnitKind.HEADING), "")
    return Reading(units, odf.title or first, parts=object_files(odf, limits), notes=notes)


def _is_hidden(page: Any, styles: OdfStyles) -> bool:
    style = value(page, "style-name")
    return styles.of("drawing-page", style, "drawing-page-properties", "visibility") == "hidden"


def _page(walk: Walk, styles: OdfStyles, page: Any, number: int, once: set[str]) -> Iterator[Unit]:
    """Read one slide, or one page of a drawing."""
    shapes = _in_rows([part for part in page if local(part) in DRAWN])
    title = next((text for shape in shapes if _kind(shape) == "title" and (text := _text(shape))), "")
    name = one_line(value(page, "name"))
    heading = title or ("" if SELF_NAMED.match(name) else name)
    place = Locator(slide=number) if local(page.getparent()) == "presentation" else Locator(page=number)
    place = replace(place, heading=(heading,) if heading else ())
    walk.place = place
    if title:
        yield Unit(title, place, UnitKind.HEADING)
    size = _size(page, styles)
    for shape in shapes:
        kind = _kind(shape)
        if kind in UNREAD or (kind == "title" and _text(shape) == title):
            continue
        for unit in walk.drawing(shape):
            if kind in ("footer", "header"):
                if unit.text in once:
                    continue
                once.add(unit.text)
            yield replace(unit, flags=unit.flags | {HIDDEN}) if _is_off(shape, size) else unit
    walk.place = replace(place, heading=(*place.heading, "Comments"))
    yield from walk.blocks(list(children(page, "annotation")))
    walk.place = replace(place, heading=(*place.heading, NOTES))
    for shape in children(child(page, "notes"), *DRAWN):
        if _kind(shape) in ("notes", ""):
            yield from walk.drawing(shape)


def _kind(shape: Any) -> str:
    """Return what a placeholder is for ("title", "outline", "notes", …); "" for a shape that is none."""
    return next((text for key, text in shape.attrib.items() if key.endswith("presentation:1.0}class")), "")


def _text(shape: Any) -> str:
    return one_line(" ".join(shape.itertext()))


def _size(page: Any, styles: OdfStyles) -> tuple[float, float] | None:
    master = styles.masters.get(value(page, "master-page-name"))
    layout = child(styles.layouts.get(value(master, "page-layout-name")), "page-layout-properties")
    width, height = _cm(value(layout, "page-width")), _cm(value(layout, "page-height"))
    return None if width is None or height is None else (width, height)


def _is_off(shape: Any, size: tuple[float, float] | None) -> bool:
    place = [_cm(value(shape, name)) for name in ("x", "y", "width", "height")]
    left, top, width, height = place
    if size is None or left is None or top is None or width is None or height is None:
        return False
    return not (-width < left < size[0] and -height < top < size[1])


def _in_rows(shapes: list[Any]) -> list[Any]:
    """Sort by rows from the top, each from the left; groups stand where their first placed member does."""
    rows: list[tuple[float, list[tuple[float, Any]]]] = []
    placed = sorted(((*_corner(shape), shape) for shape in shapes), key=lambda item: item[1])
    for left, top, shape in placed:
        if not rows or top - rows[-1][0] > ROW_CM:
            rows.append((top, []))
        rows[-1][1].append((left, shape))
    return [shape for _, row in rows for _, shape in sorted(row, key=lambda item: item[0])]


def _corner(shape: Any) -> tuple[float, float]:
    for part in shape.iter():
        left, top = _cm(value(part, "x")), _cm(value(part, "y"))
        if left is not None and top is not None:
            return left, top
    return 0.0, 0.0


def _cm(length: str) -> float | None:
    found = LENGTH.match(length)
    return float(found[1]) * CM[found[2]] if found else None
