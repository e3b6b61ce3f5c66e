"""Draws blocks as DOCX. The only importer of python-docx; knows nothing of the clinic.

The same blocks give the same bytes: the package is written anew with fixed dates and without compression.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from datetime import datetime
from html import escape
from pathlib import Path

import docx
from clinic.blocks import Block, Bullets, Heading, Note, Steps, Table, Text
from docx.document import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Mm, Pt, RGBColor
from docx.text.paragraph import Paragraph

WRITTEN = datetime(2026, 1, 2, 9, 0)
ZIP_DATE = (2026, 1, 2, 9, 0, 0)
ACCENT = RGBColor(0x1F, 0x5A, 0x7A)
TEXT_WIDTH = Mm(166)
TABLE_STYLE = "Light List Accent 1"
UNUSED_PARTS = ("/stylesWithEffects", "/customXml", "/thumbnail")


def write_docx(path: Path, title: str, subtitle: str, footer: str, blocks: Sequence[Block]) -> None:
    """Write one document with a title, a footer with the page's number, and the blocks."""
    document = docx.Document()
    _slim(document)
    _set_up(document, title, footer)
    document.add_paragraph(title, style="Title")
    document.add_paragraph(subtitle, style="Subtitle")
    footnotes: list[str] = []
    for block in blocks:
        _add(document, block, footnotes)
    if footnotes:
        _attach(document, footnotes)
    buffer = io.BytesIO()
    document.save(buffer)
    path.write_bytes(_repack(buffer.getvalue()))


def _slim(document: Document) -> None:
    """Drop what the template brings along unused: 0.8 MB of table styles, and a picture of another text."""
    for element in document.styles.element.findall(qn("w:style")):
        name = element.find(qn("w:name")).get(qn("w:val"))
        if element.get(qn("w:type")) == "table" and name not in ("Normal Table", TABLE_STYLE):
            element.getparent().remove(element)
    for rels in (document.part.rels, document.part.package.rels):
        for key in [key for key, rel in rels.items() if rel.reltype.endswith(UNUSED_PARTS)]:
            del rels[key]


def _set_up(document: Document, title: str, footer: str) -> None:
    properties = document.core_properties
    properties.title, properties.author, properties.comments = title, "Harbour Road Clinic", ""
    properties.created = properties.modified = WRITTEN
    properties.last_modified_by, properties.revision, properties.language = "Harbour Road Clinic", 1, "en-GB"
    page = document.sections[0]
    page.page_width, page.page_height = Mm(210), Mm(297)
    page.left_margin = page.right_margin = Mm(22)
    page.top_margin = page.bottom_margin = Mm(20)
    for name, size in (
        ("Normal", 10.5),
        ("Title", 24),
        ("Subtitle", 11),
        ("Heading 1", 15),
        ("Heading 2", 12),
    ):
        style = document.styles[name]
        style.font.name, style.font.size = "Calibri", Pt(size)
        fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
        for theme in ("w:asciiTheme", "w:hAnsiTheme"):  # they would win over the font that is named
            fonts.attrib.pop(qn(theme), None)
        if name != "Normal":
            style.font.color.rgb = ACCENT
    foot = page.footer.paragraphs[0]
    foot.add_run(f"{footer} · page ").font.size = Pt(8.5)
    _add_field(foot, "PAGE")


def _add_field(paragraph: Paragraph, code: str) -> None:
    field = parse_xml(f'<w:fldSimple {nsdecls("w")} w:instr="{code}"><w:r><w:t>1</w:t></w:r></w:fldSimple>')
    paragraph._p.append(field)


def _add(document: Document, block: Block, footnotes: list[str]) -> None:
    match block:
        case Heading(text, level):
            document.add_heading(text, level)
        case Text(text, footnote):
            paragraph = document.add_paragraph(text)
            if footnote:
                footnotes.append(footnote)
                _add_mark(paragraph, len(footnotes))
        case Bullets(items):
            for item in items:
                document.add_paragraph(item, style="List Bullet")
        case Steps(items):
            # Written out, since Word would count on from list to list in the template's one numbering.
            for n, item in enumerate(items, start=1):
                step = document.add_paragraph(f"{n}. {item}")
                step.paragraph_format.left_indent, step.paragraph_format.space_after = Mm(6), Pt(3)
        case Table():
            _add_table(document, block)
        case Note(label, text):
            paragraph = document.add_paragraph(style="Intense Quote")
            paragraph.alignment = WD_ALIGN_PARAGRAPH.LEFT
            paragraph.add_run(f"{label}. ").bold = True
            paragraph.add_run(text)
        case _:
            raise TypeError(f"DOCX has no drawing for {type(block).__name__}")


def _add_table(document: Document, table: Table) -> None:
    grid = document.add_table(rows=1, cols=len(table.header), style=TABLE_STYLE)
    for row, cells in enumerate((table.header, *table.rows)):
        drawn = grid.rows[0] if row == 0 else grid.add_row()
        for cell, text, share in zip(drawn.cells, cells, table.widths, strict=True):
            cell.width = int(TEXT_WIDTH * share)
            cell.text = text
            cell.paragraphs[0].paragraph_format.space_after = Pt(1)
    header = grid.rows[0]._tr.get_or_add_trPr()
    header.append(OxmlElement("w:tblHeader"))
    document.add_paragraph().paragraph_format.space_after = Pt(2)


def _add_mark(paragraph: Paragraph, number: int) -> None:
    run = paragraph.add_run()
    run.font.superscript = True
    reference = OxmlElement("w:footnoteReference")
    reference.set(qn("w:id"), str(number))
    run._r.append(reference)


def _attach(document: Document, footnotes: Sequence[str]) -> None:
    """Add word/footnotes.xml, which python-docx 1.2 cannot write; ids -1 and 0 are Word's own separators."""
    raised = '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'
    entries = [
        '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>',
        '<w:footnote w:type="continuationSeparator" w:id="0">'
        "<w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>",
    ]
    for n, note in enumerate(footnotes, start=1):
        entries.append(
            f'<w:footnote w:id="{n}"><w:p><w:r>{raised}<w:footnoteRef/></w:r>'
            f'<w:r><w:t xml:space="preserve"> {escape(note)}</w:t></w:r></w:p></w:footnote>'
        )
    xml = f"<w:footnotes {nsdecls('w')}>{''.join(entries)}</w:footnotes>"
    name = PackURI("/word/footnotes.xml")
    part = Part(name, CONTENT_TYPE.WML_FOOTNOTES, xml.encode(), document.part.package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)


def _repack(package: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            entry = zipfile.ZipInfo(name, ZIP_DATE)
            entry.create_system, entry.external_attr = (
                3,
                0o644 << 16,
            )  # else they tell the machine's own system
            new.writestr(entry, old.read(name))
    return out.getvalue()
