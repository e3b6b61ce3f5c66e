"""Files of several formats, made in code, each around one word that stands nowhere else."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from functools import cache
from random import Random

from openpyxl import Workbook
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from tests.ingest.made_files import docx, flate_bomb, lines_at, p, pdf, zip_of

TALK = (
    "the boiler was checked and left running at the usual pressure",
    "a nurse signed the form before the visit and kept a copy of it",
    "spare parts for this pump are kept in the cellar beside the stairs",
    "invoices above the limit need a second signature from the office",
    "the alarm is tested on the first Monday of every month at noon",
    "bolts of the flange are tightened crosswise and checked after a day",
    "visitors wait at the desk until someone comes to fetch them",
    "the filter is rinsed with cold water and dried in the open air",
    "samples travel in the blue box and never without their list",
    "the gate closes at eight and the key lies with the porter",
)
"""Sentences without any word that a scan may be about."""

SCANNED = (
    "harbour", "lantern", "mountain", "orchestra", "pyramid", "squirrel", "telescope", "umbrella", "volcano",
    "butterfly", "cathedral", "dolphin", "elephant", "fountain", "giraffe", "hurricane", "island", "jacket",
    "kangaroo", "library", "marmalade", "notebook", "octopus", "pelican", "rainbow", "saxophone", "tournament",
    "unicorn", "vineyard", "windmill",
)  # fmt: skip
"""What scans are about: words that OCR reads without a slip."""


def sentences(rng: Random, word: str, n: int) -> list[str]:
    """Return sentences, one of which holds the word."""
    lines = [f"{rng.choice(TALK)} in room {rng.randrange(10**6)}." for _ in range(n)]
    lines[rng.randrange(n)] += f" The code is {word} for now."
    return lines


def txt(rng: Random, word: str) -> bytes:
    """Return plain text, now and then a long one."""
    return "\n".join(sentences(rng, word, rng.choice((5, 20, 400)))).encode() + b"\n"


def md(rng: Random, word: str) -> bytes:
    """Return Markdown with headings."""
    return "\n\n".join(f"# Part {n}\n\n{line}" for n, line in enumerate(sentences(rng, word, 12))).encode()


def csv(rng: Random, word: str) -> bytes:
    """Return a table."""
    rows = [f"{n};{line};{rng.randrange(1000)}" for n, line in enumerate(sentences(rng, word, 30))]
    return "\n".join(["number;what;amount", *rows]).encode()


def html(rng: Random, word: str) -> bytes:
    """Return a web page."""
    body = "".join(f"<p>{line}</p>" for line in sentences(rng, word, 12))
    return f"<html><head><title>Notes</title></head><body>{body}</body></html>".encode()


def data(rng: Random, word: str) -> bytes:
    """Return JSON."""
    return json.dumps([{"note": line} for line in sentences(rng, word, 10)]).encode()


def paper(rng: Random, word: str) -> bytes:
    """Return a PDF of some pages."""
    lines = sentences(rng, word, 40)
    return pdf(*(lines_at(72, 760, lines[n : n + 8]) for n in range(0, 40, 8)))


def letter(rng: Random, word: str) -> bytes:
    """Return a Word document."""
    return docx("".join(p(line) for line in sentences(rng, word, 15)))


def sheet(rng: Random, word: str) -> bytes:
    """Return a workbook."""
    book, out = Workbook(), io.BytesIO()
    assert book.active is not None
    for n, line in enumerate(sentences(rng, word, 25)):
        book.active.append([n, line, rng.randrange(1000)])
    book.save(out)
    return out.getvalue()


def archive(rng: Random, word: str) -> bytes:
    """Return a ZIP with several files, one of which holds the word."""
    other = f"other{rng.randrange(10**12)}"
    return zip_of(
        {"a/first.txt": txt(rng, other), "second.pdf": paper(rng, word), "third.csv": csv(rng, other)}
    )


def mail(rng: Random, word: str) -> bytes:
    """Return a mail whose attachment holds the word."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "The list"
    message.set_content("\n".join(sentences(rng, f"other{rng.randrange(10**12)}", 6)))
    message.add_attachment(paper(rng, word), maintype="application", subtype="pdf", filename="list.pdf")
    message.add_attachment(b"\0" * 2000, maintype="application", subtype="octet-stream", filename="x.bin")
    return message.as_bytes()


def scan(rng: Random, word: str) -> bytes:
    """Return a PDF of two pages without text, only pictures of it."""
    out = io.BytesIO()
    canvas = Canvas(out, invariant=1)
    for line in (f"The word is {word}", rng.choice(TALK)):
        picture = Image.new("L", (1240, 400), 255)
        ImageDraw.Draw(picture).text((60, 120), line, fill=0, font=ImageFont.load_default(40))
        canvas.drawImage(ImageReader(picture), 30, 500, width=535, height=172)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def broken(rng: Random, _: str) -> bytes:
    """Return what begins like a PDF and is noise."""
    return b"%PDF-1.7\n" + rng.randbytes(5000)


def noise(rng: Random, _: str) -> bytes:
    """Return bytes of no format."""
    return b"\0\1\2" + rng.randbytes(3000)


@cache
def _bomb() -> bytes:
    return flate_bomb(1200)


def bomb(_: Random, __: str) -> bytes:
    """Return a small PDF that wants more memory than a reader gets."""
    return _bomb()


GOOD: Mapping[str, Callable[[Random, str], bytes]] = {
    "txt": txt, "md": md, "csv": csv, "html": html, "json": data, "pdf": paper, "docx": letter, "xlsx": sheet,
    "zip": archive, "eml": mail,
}  # fmt: skip
HOSTILE: Mapping[str, Callable[[Random, str], bytes]] = {"pdf": broken, "bin": noise, "bomb.pdf": bomb}
