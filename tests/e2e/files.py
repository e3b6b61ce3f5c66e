"""Documents for the daemon's folder, made in code."""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image
from reportlab.pdfgen.canvas import Canvas


def scan() -> bytes:
    """Return a PDF of one page that is a picture, without a text layer."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1)
    canvas.drawInlineImage(Image.effect_noise((200, 280), 60), 72, 72, width=450, height=630)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def pdf(pages: Sequence[str]) -> bytes:
    """Return a PDF with a text layer, one string a page, a line for each of its lines."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1)
    for page in pages:
        text = canvas.beginText(72, 760)
        text.textLines(page)
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


BOILER = pdf(
    [
        "Boiler room\nThe boiler room is on level two. Keep the door shut.",
        "Pressure\nThe safety valve of the boiler opens at 6.5 bar.\nThe normal working pressure is 4.2 bar.",
    ]
)
"""Two pages; the figures stand on the second one."""
