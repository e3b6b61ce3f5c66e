"""OpenDocument texts, packed or flat: headings, lists, tables, notes, comments, text boxes, headers and footers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest.formats import embedded
from ingest.formats.elements import child, children, descendants, local, value
from ingest.formats.odf import Odf, OdfStyles, open_odf
from ingest.formats.odf_text import CLEAR
from ingest.formats.odf_walk import Walk
from ingest.formats.office import broken_notes
from ingest.formats.reading import Reading
from ingest.limits import ParseLimits
from ingest.locator import Locator
from ingest.unit import Part, Unit, UnitKind

MARGINS = ("header", "footer", "header-first", "footer-first", "header-left", "footer-left")


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a text. Pages are estimates, from where the program broke them when it last saved.

    Raises:
        RefusedError: it has a password, is broken or over a limit.
    """
    odf = open_odf(data, limits)
    styles = OdfStyles(odf.roots)
    walk = Walk(odf, styles, has_pages=_has_pages(odf.body, styles))
    walk.n_shades = int(_has_dark_pages(styles))
    units = [*walk.blocks(odf.body), *_margins(odf, styles)]
    first = next((unit.text for unit in units if unit.kind is UnitKind.HEADING), "")
    notes = broken_notes(odf.package) if odf.package is not None else []
    return Reading(units, walk.title or odf.title or first, parts=object_files(odf, limits), notes=notes)


def object_files(odf: Odf, limits: ParseLimits) -> list[Part]:
    """Return the files that a document carries; embedded OpenDocument parts are read in place."""
    if odf.package is None:
        return []
    objects = (
        value(part, "href").removeprefix("./") for part in descendants(odf.body, "object-ole", "plugin")
    )
    return embedded.files(odf.package, [("oleObject", path) for path in objects], limits)


def _has_pages(body: Any, styles: OdfStyles) -> bool:
    return any(
        local(part) == "soft-page-break"
        or styles.of("paragraph", value(part, "style-name"), "paragraph-properties", "break-before") == "page"
        for part in descendants(body, "soft-page-break", "p", "h")
    )


def _has_dark_pages(styles: OdfStyles) -> bool:
    layouts = (child(layout, "page-layout-properties") for layout in styles.layouts.values())
    return any(value(layout, "background-color").lower() not in CLEAR for layout in layouts)


def _margins(odf: Odf, styles: OdfStyles) -> Iterator[Unit]:
    """Read page headers and footers, each different text once: they hold versions and dates."""
    seen: set[str] = set()
    for master in styles.masters.values():
        for margin in children(master, *MARGINS):
            for unit in Walk(odf, styles).blocks(margin):
                if len(unit.text) > 3 and unit.text not in seen:
                    seen.add(unit.text)
                    yield Unit(unit.text, Locator(), flags=unit.flags)
