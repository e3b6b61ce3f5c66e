"""PDFs: pages, headings, paragraphs and table rows from the text layer; pages that are pictures are listed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import Any

import pypdfium2

from ingest.formats import pdf_attachments, pdf_fields
from ingest.formats.pdf_fields import Extra
from ingest.formats.pdf_open import BROKEN, mended, open_pdf
from ingest.formats.pdf_page import Page, read_page
from ingest.formats.pdf_plausible import is_plausible, is_scan, is_text
from ingest.formats.pdf_text import Outline, paragraphs, squashed
from ingest.formats.reading import Reading, RefusedError, damaged, too_large
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits
from ingest.locator import Locator
from ingest.unit import Outcome, Part, Unit, UnitKind

MAX_BOOKMARKS = 5_000
MAX_LABEL = 20
MIN_JUDGED = 12  # characters of a unit that can be told from signs
RESCUED = "the file is broken: what could be rescued was read"
XFA = "this is a form (XFA) that only Adobe Reader shows: open it there, print it to a new PDF and use that"
JUNK_TITLES = (
    "(anonymous)",
    "(unspecified)",
    "microsoft word",
    "untitled",
    "document",
    "powerpoint",
    "microsoft powerpoint",
)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """One page as it was found; `page` is None where it is broken."""

    page: Page | None
    extras: Sequence[Extra] = ()
    pinned: Sequence[Part] = ()


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a PDF's text layer, filled form fields and notes.

    Raises:
        RefusedError: it has a password, is broken, has too many pages, or is a form that only Adobe Reader shows.
    """
    with closing(open_pdf(data)) as document:
        return _read_document(document, limits)


def rescue(data: bytes, limits: ParseLimits) -> Reading:
    """Read what can be found in a broken PDF.

    Raises:
        RefusedError: as `read`; broken where nothing can be found.
    """
    with closing(open_pdf(mended(data))) as document:
        reading = _read_document(document, limits)
    # Fonts that were lost with the rest leave lines of signs among the others.
    units = [
        unit for unit in reading.units if len(unit.text) < MIN_JUDGED or is_text("".join(unit.text.split()))
    ]
    if not (units or reading.scans):
        raise damaged(BROKEN)
    return replace(reading, units=units, notes=(RESCUED, *reading.notes))


def _read_document(document: Any, limits: ParseLimits) -> Reading:
    form = pdf_fields.open_form(document)
    n_pages = len(document)
    if n_pages > limits.max_pages:
        raise too_large(f"it has {n_pages} pages, more than the limit of {limits.max_pages}")
    sheets = [_sheet(document, i, form, limits) for i in range(n_pages)]
    labels = [page_label(document, i) for i in range(n_pages)]
    texts = [sheet.page if is_plausible(sheet.page) else None for sheet in sheets]
    body = paragraphs(texts, labels, _outline(document))
    units = list(_with_extras(body, [sheet.extras for sheet in sheets], labels))
    scans = [i + 1 for i, sheet in enumerate(sheets) if is_scan(sheet.page)]
    broken = [i + 1 for i, sheet in enumerate(sheets) if sheet.page is None]
    parts = [*pdf_attachments.parts(document, limits), *(part for sheet in sheets for part in sheet.pinned)]
    if broken and not (units or scans or parts):
        raise damaged(BROKEN)
    if pdf_fields.asks_for_another_reader(document, " ".join(unit.text for unit in units)):
        raise RefusedError(Outcome.UNSUPPORTED, XFA)
    title = _title(document) or _first_heading(units)
    return Reading(units, title, n_pages, parts, scans, _notes(broken))


def _sheet(document: Any, i: int, form: Any, limits: ParseLimits) -> _Sheet:
    """Read one page; PDFium cannot open all of them in a file that was cut off and mended."""
    try:
        page = document[i]
    except pypdfium2.PdfiumError:
        return _Sheet(None)
    with closing(page):
        extras, pinned = pdf_fields.extras(page, form), pdf_attachments.pinned(page, i + 1)
        try:
            return _Sheet(read_page(page, limits.max_page_chars), extras, pinned)
        except pypdfium2.PdfiumError:
            return _Sheet(None, extras, pinned)


def _with_extras(
    units: Iterator[Unit], extras: Sequence[Sequence[Extra]], labels: Sequence[str | None]
) -> Iterator[Unit]:
    """Put fields and notes at the end of their pages, under the heading that stands last there."""
    by_page = {page: list(own) for page, own in groupby(units, key=lambda unit: unit.locator.page)}
    heading: tuple[str, ...] = ()
    for i, label in enumerate(labels):
        own = by_page.get(i + 1, [])
        yield from own
        heading = own[-1].locator.heading if own else heading
        for extra in extras[i]:
            yield extra.unit(Locator(page=i + 1, page_label=label, heading=heading))


def _notes(broken: Sequence[int]) -> list[str]:
    if not broken:
        return []
    numbers = ", ".join(str(page) for page in broken[:10]) + (", …" if len(broken) > 10 else "")
    return [f"page{'s' if len(broken) > 1 else ''} {numbers}: broken, not read"]


def page_label(document: Any, i: int) -> str | None:
    """Return a page's printed label where it differs from its number."""
    try:
        label = one_line(document.get_page_label(i))
    except (pypdfium2.PdfiumError, UnicodeDecodeError):
        return None
    return label if label and label != str(i + 1) and len(label) <= MAX_LABEL else None


def _outline(document: Any) -> Outline:
    """Return the bookmarks as page index → (level from 1, squashed title)."""
    outline: Outline = {}
    try:
        for mark in islice(document.get_toc(), MAX_BOOKMARKS):
            target = mark.get_dest()
            index = target.get_index() if target is not None else None
            title = squashed(mark.get_title())
            if index is not None and title:
                outline.setdefault(index, []).append((mark.level + 1, title))
    except (pypdfium2.PdfiumError, UnicodeDecodeError, RecursionError):
        return outline  # a broken outline costs headings, not the text
    return outline


def _title(document: Any) -> str:
    try:
        title = one_line(document.get_metadata_value("Title"))
    except (pypdfium2.PdfiumError, UnicodeDecodeError):
        return ""
    junk = title.lower().startswith(JUNK_TITLES) or title.lower().endswith(
        (".doc", ".docx", ".indd", ".pdf", ".tex")
    )
    return "" if junk or len(title) < 4 else title


def _first_heading(units: list[Unit]) -> str:
    return next((unit.text for unit in units[:50] if unit.kind is UnitKind.HEADING), "")
