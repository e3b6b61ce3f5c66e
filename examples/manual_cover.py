"""The front page of the generator manual, with a drawing of the set seen from the side."""

from __future__ import annotations

from collections.abc import Sequence

from clinic import manual
from pdf_blocks import INK, Look
from reportlab.lib import colors
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

SAND = colors.HexColor("#e3b93c")
PALE = colors.HexColor("#e8edf3")


def draw_cover(canvas: Canvas, look: Look) -> None:
    """Draw the whole page."""
    width, height = look.paper
    canvas.bookmarkPage("cover")
    canvas.addOutlineEntry(manual.TITLE, "cover", 0)
    canvas.setFillColor(look.colour)
    canvas.rect(0, 0.64 * height, width, 0.36 * height, stroke=0, fill=1)
    canvas.setFillColor(SAND)
    canvas.rect(0, 0.63 * height, width, 0.01 * height, stroke=0, fill=1)
    canvas.setFillColor(colors.white)
    _write(canvas, look.margin, 0.92 * height, (manual.MAKER,), "Helvetica", 12)
    _write(canvas, look.margin, 0.76 * height, (manual.TITLE,), "Helvetica-Bold", 22)
    _write(canvas, look.margin, 0.71 * height, (manual.SUBTITLE,), "Helvetica", 14)
    canvas.saveState()
    canvas.translate(look.margin + 16 * mm, 0.32 * height)
    canvas.scale(0.7, 0.7)
    _draw_set(canvas, look.colour)
    canvas.restoreState()
    canvas.setFillColor(INK)
    _write(canvas, look.margin, 0.24 * height, manual.IMPRINT, "Helvetica", 9.5)
    _write(canvas, look.margin + 4 * mm, 0.145 * height, manual.SITE_COPY, "Helvetica", 9)
    canvas.setStrokeColor(look.colour)
    canvas.roundRect(look.margin, 0.145 * height - 13 * mm, look.text_width, 19 * mm, 2 * mm)


def _write(canvas: Canvas, x: float, y: float, lines: Sequence[str], font: str, size: float) -> None:
    canvas.setFont(font, size)
    for n, line in enumerate(lines):
        canvas.drawString(x, y - 1.6 * size * n, line)


def _draw_set(canvas: Canvas, colour: colors.Color) -> None:
    canvas.setStrokeColor(colour)
    canvas.setLineWidth(1.4)
    canvas.setFillColor(PALE)
    canvas.rect(0, 0, 120 * mm, 9 * mm, fill=1)  # base tank
    canvas.roundRect(4 * mm, 9 * mm, 112 * mm, 44 * mm, 3 * mm, fill=1)  # hood
    canvas.setFillColor(colors.white)
    canvas.roundRect(46 * mm, 14 * mm, 32 * mm, 33 * mm, 2 * mm, fill=1)  # door
    canvas.roundRect(10 * mm, 28 * mm, 24 * mm, 18 * mm, 1.5 * mm, fill=1)  # controller
    canvas.setFillColor(SAND)
    canvas.circle(73 * mm, 30 * mm, 1.6 * mm, fill=1)
    canvas.circle(22 * mm, 20 * mm, 3 * mm, fill=1)
    for n in range(9):  # louvre
        canvas.line(88 * mm, (17 + 3.4 * n) * mm, 110 * mm, (17 + 3.4 * n) * mm)
    canvas.setFillColor(colour)
    canvas.rect(92 * mm, 53 * mm, 5 * mm, 12 * mm, fill=1)  # exhaust
