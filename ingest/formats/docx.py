"""Word documents: paragraphs, headings, lists, tables, notes, comments, text boxes and charts, in reading order.

Reads the XML itself: the text is walked by `docx_walk`. Pictures are not read; embedded files are listed as parts.
"""

from __future__ import annotations

from ingest.formats import embedded
from ingest.formats.docx_walk import Walk
from ingest.formats.elements import child
from ingest.formats.office import broken_notes, core_title
from ingest.formats.package import Package
from ingest.formats.reading import Reading, damaged
from ingest.limits import ParseLimits
from ingest.unit import Unit, UnitKind

WEB_CHUNKS = (".html", ".htm", ".xhtml")  # read in place


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a Word document. Pages are estimates, from where Word broke them when it last saved.

    Raises:
        RefusedError: the package or its main part is broken, locked or over a limit.
    """
    package = Package(data, limits)
    main = package.main("word/document.xml")
    root = package.xml(main)
    body = child(root, "body")
    if body is None:
        raise damaged(f"its part {main} has no text body")
    walk = Walk(package, main, limits, root)
    units = [*walk.blocks(body), *walk.margins()]
    inside = [one for one in walk.relations.values() if not one[1].lower().endswith(WEB_CHUNKS)]
    parts = embedded.files(package, inside, limits)
    notes = [*walk.notes(), *broken_notes(package)]
    return Reading(
        units, walk.title or core_title(package) or _first_heading(units), parts=parts, notes=notes
    )


def _first_heading(units: list[Unit]) -> str:
    return next((unit.text for unit in units if unit.kind is UnitKind.HEADING), "")
