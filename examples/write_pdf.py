"""Writes PDF files. Knows nothing of the clinic.

The same blocks give the same bytes on every machine: no dates, no random identifiers, streams left
uncompressed (zlib's output differs from build to build) and the standard fonts, which are not embedded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from clinic.blocks import Block, Heading
from pdf_blocks import GREY, RULE, Drawer, Look
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageBreak, PageTemplate, Spacer

N_FRONT_PAGES = 2  # cover and contents, numbered i and ii


def write_manual(
    path: Path, look: Look, chapters: Sequence[Sequence[Block]], draw_cover: Callable[[Canvas, Look], None]
) -> None:
    """Write a cover (page i), the contents (page ii) and each chapter on a page of its own from page 1."""

    def draw_page(canvas: Canvas, document: BaseDocTemplate) -> None:
        n = canvas.getPageNumber()
        if n == 1:
            canvas.addPageLabel(0, "ROMAN_LOWER", 1)
            canvas.addPageLabel(N_FRONT_PAGES, "ARABIC", 1)
            draw_cover(canvas, look)
        else:
            _draw_frame(canvas, look, "ii" if n == N_FRONT_PAGES else str(n - N_FRONT_PAGES))

    drawer = Drawer(look)
    titles = [
        (heading.text, str(n)) for n, (heading, *_) in enumerate(chapters, 1) if isinstance(heading, Heading)
    ]
    story = [Spacer(1, 1), PageBreak(), drawer.heading("Contents", 1), drawer.contents(titles)]
    for chapter in chapters:
        story += [PageBreak(), *drawer.flowables(chapter)]
    n_pages = _build(path, look, story, draw_page)
    assert n_pages == N_FRONT_PAGES + len(chapters), "a chapter has outgrown its page"


def write_leaflet(path: Path, look: Look, subtitle: str, pages: Sequence[Sequence[Block]]) -> None:
    """Write pages, the first under a coloured title band."""

    def draw_page(canvas: Canvas, document: BaseDocTemplate) -> None:
        _draw_frame(canvas, look, f"{canvas.getPageNumber()} / {len(pages)}")

    drawer = Drawer(look)
    story = [drawer.band(subtitle), Spacer(1, 8)]
    for n, page in enumerate(pages):
        story += [PageBreak()] * (n > 0) + list(drawer.flowables(page))
    assert _build(path, look, story, draw_page) == len(pages), "a page has outgrown its paper"


def _build(
    path: Path, look: Look, story: list[Flowable], draw_page: Callable[[Canvas, BaseDocTemplate], None]
) -> int:
    document = BaseDocTemplate(
        str(path), pagesize=look.paper, title=look.title, author=look.author, subject=look.header,
        creator="Harbour Road Clinic", lang=look.language, invariant=1, pageCompression=0,
    )  # fmt: skip
    frame = Frame(look.margin, 18 * mm, look.text_width, look.paper[1] - 36 * mm, 0, 0, 0, 0)
    document.addPageTemplates(PageTemplate("page", [frame], onPage=draw_page))
    document.build(story)
    return int(document.page)


def _draw_frame(canvas: Canvas, look: Look, number: str) -> None:
    width, height = look.paper
    canvas.setFillColor(GREY)
    canvas.setFont("Helvetica", 7.5)
    canvas.drawString(look.margin, height - 12 * mm, look.header)
    canvas.drawString(look.margin, 10 * mm, look.footer)
    canvas.drawRightString(width - look.margin, 10 * mm, f"{look.page_word} {number}")
    canvas.setStrokeColor(RULE)
    canvas.setLineWidth(0.5)
    for y in (height - 14 * mm, 14 * mm):
        canvas.line(look.margin, y, width - look.margin, y)
