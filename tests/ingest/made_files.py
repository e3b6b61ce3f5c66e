"""Small files of each format, made in code: what a test needs and nothing more."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
NAMESPACES = (
    f'xmlns:w="{W}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def text_at(x: float, y: float, text: str, size: float = 11, font: str = "F1") -> str:
    """Return page content that shows a text; y from the bottom."""
    escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm ({escaped}) Tj ET"


def lines_at(x: float, y: float, lines: Sequence[str], size: float = 11, step: float = 13) -> str:
    """Return page content of lines below each other."""
    return "\n".join(text_at(x, y - i * step, line, size) for i, line in enumerate(lines))


def pdf(
    *pages: str,
    title: str = "",
    catalog: str = "",
    page: str = "",
    resources: str = "",
    extra: Sequence[str] = (),
) -> bytes:
    """Return a PDF whose pages have the given content; F1 is Helvetica, F2 its bold.

    `catalog`, `page` and `resources` are further entries of these dictionaries; `extra` are further objects, whose
    numbers come after those of the pages: of one page, from 8.
    """
    n_pages = len(pages)
    first = 6  # objects 1 to 5: catalog, page tree, two fonts, info
    kids = " ".join(f"{first + 2 * i} 0 R" for i in range(n_pages))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
        f"<< /Type /Pages /Kids [{kids}] /Count {n_pages} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({title}) >>".encode(),
    ]
    for i, content in enumerate(pages):
        fonts = "/Font << /F1 3 0 R /F2 4 0 R >>"
        head = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << {fonts} {resources} >>"
            f" /Contents {first + 2 * i + 1} 0 R {page} >>"
        )
        stream = content.encode("cp1252")
        objects += [head.encode(), b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream)]
    return assemble([*objects, *(text.encode("latin-1") for text in extra)])


def assemble(objects: Sequence[bytes]) -> bytes:
    """Return a PDF file of numbered objects; the first is the catalog, the fifth the info."""
    out = io.BytesIO()
    out.write(b"%PDF-1.7\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % offset for offset in offsets)
    out.write(
        b"trailer << /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    )
    return out.getvalue()


def flate_bomb(n_mb: int) -> bytes:
    """Return a PDF whose one page unpacks to this many megabytes."""
    packer = zlib.compressobj(9)
    block = b" " * (1024 * 1024)
    stream = b"".join(packer.compress(block) for _ in range(n_mb)) + packer.flush()
    head = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(stream), stream)
    return assemble(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>",
            head,
            b"<< >>",
        ]
    )


def p(text: str, style: str = "", properties: str = "", run: str = "") -> str:
    """Return a Word paragraph."""
    style = f'<w:pStyle w:val="{style}"/>' if style else ""
    return (
        f"<w:p><w:pPr>{style}{properties}</w:pPr><w:r><w:rPr>{run}</w:rPr>"
        f'<w:t xml:space="preserve">{text}</w:t></w:r></w:p>'
    )


def tbl(*rows: Sequence[str]) -> str:
    """Return a Word table; a cell that begins with "<" is taken as it is."""
    cells = [[cell if cell.startswith("<") else f"<w:tc>{p(cell)}</w:tc>" for cell in row] for row in rows]
    return "<w:tbl>" + "".join("<w:tr>" + "".join(row) + "</w:tr>" for row in cells) + "</w:tbl>"


def docx(body: str, extra: Sequence[tuple[str, str, str | bytes]] = (), **parts: str) -> bytes:
    """Return a Word document; `parts` are further parts by name, without the root's namespaces.

    Args:
        extra: (kind of relation, member under word/, its bytes as they are); their relations are x0, x1, …
    """
    kinds = {"styles", "numbering", "footnotes", "endnotes", "comments", "header", "footer"}
    relations = "".join(
        f'<Relationship Id="r{name}" Type="{OFFICE}/{name}" Target="{name}.xml"/>'
        for name in parts
        if name in kinds
    ) + "".join(
        f'<Relationship Id="x{i}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for i, (kind, target, _) in enumerate(extra)
    )
    return zip_of(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": (
                f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" Type="{OFFICE}/officeDocument"'
                ' Target="word/document.xml"/></Relationships>'
            ),
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{PACKAGE}">{relations}</Relationships>',
            "word/document.xml": f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>",
            **{
                f"word/{name}.xml": f"<w:{name} {NAMESPACES}>{text}</w:{name}>"
                for name, text in parts.items()
            },
            **{f"word/{target}": data for _, target, data in extra},
        }
    )


def zip_of(members: dict[str, str | bytes]) -> bytes:
    """Return a ZIP file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in members.items():
            package.writestr(name, data)
    return out.getvalue()
