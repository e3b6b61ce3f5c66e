"""The drawing of the generator's control panel."""

from __future__ import annotations

from reportlab.graphics.shapes import Circle, Drawing, Line, Rect, String
from reportlab.lib import colors

DARK, STEEL, SILVER = (colors.HexColor(code) for code in ("#3a424c", "#59636f", "#8d97a3"))
GREEN, AMBER, RED, YELLOW, SCREEN = (
    colors.HexColor(code) for code in ("#3f9b52", "#d9a032", "#b23b3b", "#e3b93c", "#cfe3c8")
)
PANEL_WIDTH = 306

# number, x, y and ink of each part's number
NUMBERS = (
    ("1", 80, 58, colors.black),
    ("2", 200, 78, colors.white),
    ("3", 41, 17, colors.white),
    ("4", 77, 17, colors.white),
    ("5", 113, 17, colors.white),
    ("6", 258, 46, colors.white),
)


def draw_panel(width: float) -> Drawing:
    """Return the panel, in the middle of a drawing of this width in points."""
    drawing = Drawing(width, 104)
    left = (width - PANEL_WIDTH) / 2
    drawing.add(Rect(left, 2, PANEL_WIDTH, 100, 8, 8, fillColor=DARK, strokeColor=None))
    drawing.add(Rect(left + 18, 40, 124, 48, 3, 3, fillColor=SCREEN, strokeColor=None))
    drawing.add(Circle(left + 178, 64, 19, fillColor=STEEL, strokeColor=colors.white))
    drawing.add(Line(left + 178, 64, left + 190, 77, strokeColor=colors.white, strokeWidth=2.5))
    for n, fill in enumerate((GREEN, RED, SILVER)):
        drawing.add(Rect(left + 28 + 36 * n, 12, 26, 18, 3, 3, fillColor=fill, strokeColor=None))
    for n, fill in enumerate((GREEN, AMBER, RED)):
        drawing.add(Circle(left + 160 + 18 * n, 21, 5, fillColor=fill, strokeColor=None))
    drawing.add(Circle(left + 258, 50, 32, fillColor=YELLOW, strokeColor=None))
    drawing.add(Circle(left + 258, 50, 22, fillColor=RED, strokeColor=None))
    for number, x, y, ink in NUMBERS:
        drawing.add(
            String(
                left + x,
                y,
                number,
                fontName="Helvetica-Bold",
                fontSize=10,
                textAnchor="middle",
                fillColor=ink,
            )
        )
    return drawing
