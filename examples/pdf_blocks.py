"""Turns blocks into reportlab's flowables, in the sizes and colours of one document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from clinic.blocks import Block, Bullets, Heading, Note, Panel, Steps, Table, Text
from pdf_panel import draw_panel
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, ListFlowable, ListItem, Paragraph, Spacer
from reportlab.platypus import Table as Grid

INK = colors.HexColor("#1c2530")
GREY = colors.HexColor("#6b7683")
RULE = colors.HexColor("#c6ccd3")
STRIPE = colors.HexColor("#f4f6f8")
ALERT, ALERT_BACK = colors.HexColor("#d97706"), colors.HexColor("#fdf1e3")


@dataclass(frozen=True, slots=True)
class Look:
    """What sets one PDF apart from another.

    Attributes:
        header, footer: stand on every page but the cover.
        size: of the running text, in points.
        paper, margin: in points.
        language: BCP 47, for screen readers.
        page_word: before the page's number in the footer.
    """

    title: str
    author: str
    header: str
    footer: str
    accent: str
    size: float = 11
    paper: tuple[float, float] = A4
    margin: float = 22 * mm
    language: str = "en-GB"
    page_word: str = "Page"

    @property
    def text_width(self) -> float:
        """Width between the margins, in points."""
        return self.paper[0] - 2 * self.margin

    @property
    def colour(self) -> colors.Color:
        """The accent."""
        return colors.HexColor(self.accent)


class OutlinedParagraph(Paragraph):
    """A heading that also enters itself into the PDF's outline."""

    def __init__(self, text: str, style: ParagraphStyle, level: int) -> None:
        super().__init__(escape(text), style)
        self._title, self._level = text, level

    def draw(self) -> None:
        """Draw the heading and bookmark its place."""
        key = f"{self.canv.getPageNumber()} {self._title}"
        self.canv.bookmarkHorizontal(key, 0, self.height)
        self.canv.addOutlineEntry(self._title, key, self._level, closed=self._level == 0)
        super().draw()


class Drawer:
    """Draws blocks for one look."""

    def __init__(self, look: Look) -> None:
        self._look = look
        size = look.size
        self.body = ParagraphStyle(
            "body",
            fontName="Helvetica",
            fontSize=size,
            leading=size * 1.42,
            textColor=INK,
            spaceAfter=size * 0.6,
        )
        self._plain = ParagraphStyle("plain", self.body, spaceAfter=0)
        self._cell = ParagraphStyle("cell", self._plain, fontSize=size * 0.93, leading=size * 1.2)
        self._head = ParagraphStyle("head", self._cell, fontName="Helvetica-Bold", textColor=colors.white)
        self._caption = ParagraphStyle(
            "caption", self.body, fontName="Helvetica-Oblique", fontSize=size * 0.88, textColor=GREY
        )

    def flowables(self, blocks: Sequence[Block]) -> Iterator[Flowable]:
        """Yield what is to be laid out, gaps included."""
        gap = Spacer(1, self._look.size * 0.8)
        for block in blocks:
            match block:
                case Heading(text, level):
                    yield self.heading(text, level)
                case Text(text):
                    yield Paragraph(escape(text), self.body)
                case Bullets(items):
                    yield self._list(items, bulletType="bullet", start="•")
                case Steps(items):
                    yield self._list(items, bulletType="1", bulletFormat="%s.")
                case Table():
                    yield from (self._grid(block), gap)
                case Note(label, text):
                    yield from (self._note(label, text), gap)
                case Panel():
                    yield draw_panel(self._look.text_width)
                    yield Paragraph("Figure 1: front of the TC-3 controller", self._caption)

    def heading(self, text: str, level: int) -> Flowable:
        """Return a heading that the outline lists."""
        size = self._look.size * (1.5 if level == 1 else 1.12)
        ink = self._look.colour if level == 1 else INK
        style = ParagraphStyle(
            f"heading {level}", self.body, fontName="Helvetica-Bold", fontSize=size, leading=size * 1.3,
            spaceBefore=size * 0.5, spaceAfter=size * 0.35, keepWithNext=1, textColor=ink,
        )  # fmt: skip
        return OutlinedParagraph(text, style, level - 1)

    def band(self, subtitle: str) -> Flowable:
        """Return the document's title on a coloured band."""
        title = ParagraphStyle(
            "band", self._plain, fontName="Helvetica-Bold", fontSize=21, leading=27, textColor=colors.white
        )
        below = ParagraphStyle("band below", self._plain, textColor=colors.white)
        cell = [Paragraph(escape(self._look.title), title), Paragraph(escape(subtitle), below)]
        return self._box(cell, self._look.colour, None, 12)

    def contents(self, entries: Sequence[tuple[str, str]]) -> Flowable:
        """Return the list of (chapter, page)."""
        rows = [[Paragraph(escape(text), self._plain) for text in entry] for entry in entries]
        grid = Grid(rows, colWidths=[0.92 * self._look.text_width, 0.08 * self._look.text_width])
        grid.setStyle([("LINEBELOW", (0, 0), (-1, -1), 0.4, RULE), ("LEFTPADDING", (0, 0), (0, -1), 0)])
        return grid

    def _list(self, items: Sequence[str], **kind: Any) -> Flowable:
        size = self._look.size
        style = ParagraphStyle("item", self.body, spaceAfter=size * 0.25)
        entries = [ListItem(Paragraph(escape(item), style), bulletColor=self._look.colour) for item in items]
        return ListFlowable(
            entries,
            bulletFontSize=size,
            bulletFontName="Helvetica-Bold",
            leftIndent=size * 1.7,
            spaceAfter=6,
            **kind,
        )

    def _grid(self, table: Table) -> Flowable:
        rows = [[Paragraph(escape(cell), self._head) for cell in table.header]]
        rows += [[Paragraph(escape(cell), self._cell) for cell in row] for row in table.rows]
        grid = Grid(rows, colWidths=[share * self._look.text_width for share in table.widths], repeatRows=1)
        grid.setStyle(
            [
                ("BACKGROUND", (0, 0), (-1, 0), self._look.colour),
                ("ROWBACKGROUNDS", (0, 1), (-1, -1), [colors.white, STRIPE]),
                ("LINEBELOW", (0, 0), (-1, -1), 0.4, RULE),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("TOPPADDING", (0, 0), (-1, -1), 3),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 3.6),
            ]
        )
        return grid

    def _note(self, label: str, text: str) -> Flowable:
        cell = [Paragraph(f"<b>{escape(label)}.</b> {escape(text)}", self._plain)]
        if label == "Note":
            return self._box(cell, STRIPE, self._look.colour, 10)
        return self._box(cell, ALERT_BACK, ALERT, 10)

    def _box(
        self, cell: list[Flowable], back: colors.Color, edge: colors.Color | None, padding: float
    ) -> Flowable:
        box = Grid([[cell]], colWidths=[self._look.text_width])
        style: list[tuple[Any, ...]] = [
            ("BACKGROUND", (0, 0), (-1, -1), back),
            ("LEFTPADDING", (0, 0), (-1, -1), padding),
            ("TOPPADDING", (0, 0), (-1, -1), padding * 0.6),
            ("BOTTOMPADDING", (0, 0), (-1, -1), padding * 0.8),
        ]
        if edge:
            style.append(("LINEBEFORE", (0, 0), (0, -1), 3, edge))
        box.setStyle(style)
        return box
