"""Pages of text as Markdown, HTML, CSV, Word and PDF: as little of each format as its readers want. Pure."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

LINE_WORDS = 11  # fit on a line of a PDF's page
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"

Page = Sequence[str]  # paragraphs


def markdown(pages: Sequence[Page]) -> bytes:
    """Return a document with a heading a page."""
    return "\n\n".join("\n\n".join([f"## Section {n}", *page]) for n, page in enumerate(pages, 1)).encode()


def html(pages: Sequence[Page]) -> bytes:
    """Return a page of the web."""
    body = "".join(
        f"<h2>Section {n}</h2>" + "".join(f"<p>{text}</p>" for text in page)
        for n, page in enumerate(pages, 1)
    )
    return f"<!DOCTYPE html><html><head><title>Report</title></head><body>{body}</body></html>".encode()


def csv(pages: Sequence[Page]) -> bytes:
    """Return a table: each sentence is a row."""
    sentences = [sentence for page in pages for text in page for sentence in text.split(". ")]
    rows = (f"{n},{sentence.rstrip('.')},{len(sentence)}" for n, sentence in enumerate(sentences, 1))
    return "\n".join(["number,remark,length", *rows, ""]).encode()


def docx(pages: Sequence[Page]) -> bytes:
    """Return a Word document with a heading a page."""
    paragraphs = "".join(_paragraph(text, n) for page in pages for n, text in enumerate(["Section", *page]))
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{_OFFICE}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{_MAIN}" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{paragraphs}</w:body></w:document>',
    }
    return _zipped(parts)


def pdf(pages: Sequence[Page]) -> bytes:
    """Return a PDF with a page a page."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]  # fmt: skip
    for n, page in enumerate(pages):
        words = " ".join(page).split()
        lines = (" ".join(words[i : i + LINE_WORDS]) for i in range(0, len(words), LINE_WORDS))
        drawn = "BT /F1 10 Tf 14 TL 50 780 Td " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
        resources = "/MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {resources} /Contents {5 + 2 * n} 0 R >>")
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    return _numbered(objects)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A line of text on a page of 595 by 842 points, from the lower left."""

    x: float
    y: float
    text: str
    size: float = 10


def pdf_drawn(pages: Sequence[Sequence[Drawn]], title: str) -> bytes:
    """Return a PDF with each text where it is drawn: tables, headings in larger type."""
    kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({_escaped(title)}) >>",
    ]  # fmt: skip
    for n, page in enumerate(pages):
        drawn = "\n".join(
            f"BT /F1 {d.size} Tf 1 0 0 1 {d.x} {d.y} Tm ({_escaped(d.text)}) Tj ET" for d in page
        )
        resources = "/MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {resources} /Contents {6 + 2 * n} 0 R >>")
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    return _numbered(objects, "/Info 4 0 R")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _paragraph(text: str, place: int) -> str:
    level = '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>' if place == 0 else ""
    return f"<w:p>{level}<w:r><w:t>{text}</w:t></w:r></w:p>"


def _zipped(parts: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as package:
        for name, xml in parts.items():  # a ZipInfo has a fixed date: the same bytes each time
            package.writestr(zipfile.ZipInfo(name), f'<?xml version="1.0" encoding="UTF-8"?>{xml}')
    return data.getvalue()


def _numbered(objects: Sequence[str], more: str = "") -> bytes:
    data, offsets = "%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    end = f"trailer << /Size {size} /Root 1 0 R {more} >>\nstartxref\n{len(data)}\n%%EOF\n"
    return f"{data}xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode()
