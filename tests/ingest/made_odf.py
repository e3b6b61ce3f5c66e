"""Small OpenDocument files, made in code: packed, flat and locked."""

from __future__ import annotations

from tests.ingest.made_files import zip_of

OASIS = "urn:oasis:names:tc:opendocument:xmlns"
NAMESPACES = " ".join(
    [
        f'xmlns:{name}="{OASIS}:{path}:1.0"'
        for name, path in {
            "office": "office", "text": "text", "table": "table", "style": "style", "draw": "drawing",
            "presentation": "presentation", "chart": "chart", "fo": "xsl-fo-compatible", "svg": "svg-compatible",
        }.items()
    ]
    + ['xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"']
)  # fmt: skip


def content(body: str, kind: str = "text", styles: str = "", root: str = "document-content") -> str:
    """Return a content part; `kind` is the element below office:body, `styles` its automatic styles."""
    automatic = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    inside = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    return f"<office:{root} {NAMESPACES}>{automatic}{inside}</office:{root}>"


def odf(
    body: str,
    kind: str = "text",
    styles: str = "",
    common: str = "",
    parts: dict[str, str | bytes] | None = None,
) -> bytes:
    """Return a packed file; `common` is what stands in styles.xml, its groups included."""
    return zip_of(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": content(body, kind, styles),
            "styles.xml": f"<office:document-styles {NAMESPACES}>{common}</office:document-styles>",
            **(parts or {}),
        }
    )


def flat(body: str, kind: str = "text") -> bytes:
    """Return the same as one XML file."""
    mimetype = f'office:mimetype="application/vnd.oasis.opendocument.{kind}"'
    xml = content(body, kind, root="document").replace(NAMESPACES, f"{NAMESPACES} {mimetype}", 1)
    return f'<?xml version="1.0"?>{xml}'.encode()


def locked(kind: str = "text") -> bytes:
    """Return a file with a password."""
    entry = '<m:file-entry m:full-path="content.xml"><m:encryption-data/></m:file-entry>'
    return zip_of(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": b"\x8f\x02 unreadable",
            "META-INF/manifest.xml": f'<m:manifest xmlns:m="{OASIS}:manifest:1.0">{entry}</m:manifest>',
        }
    )


def style(name: str, family: str, properties: str, parent: str = "") -> str:
    """Return a style; `properties` are elements."""
    named = f'style:name="{name}" style:family="{family}" style:parent-style-name="{parent}"'
    return f"<style:style {named}>{properties}</style:style>"


def text_style(name: str, attributes: str, family: str = "text") -> str:
    """Return a style with text properties."""
    return style(name, family, f"<style:text-properties {attributes}/>")


def p(text: str, name: str = "") -> str:
    """Return a paragraph in a style."""
    return f'<text:p text:style-name="{name}">{text}</text:p>'


def h(text: str, level: int) -> str:
    """Return a heading."""
    return f'<text:h text:outline-level="{level}">{text}</text:h>'


def rows(*cells: list[str]) -> str:
    """Return the rows of a table; a cell that begins with "<" is taken as it is."""
    made = [
        "".join(
            cell if cell.startswith("<") else f"<table:table-cell>{p(cell)}</table:table-cell>"
            for cell in row
        )
        for row in cells
    ]
    return "".join(f"<table:table-row>{row}</table:table-row>" for row in made)


def table(*cells: list[str]) -> str:
    """Return a table without marked header rows."""
    return f"<table:table>{rows(*cells)}</table:table>"


def frame(inside: str, at: tuple[float, float] = (1, 1), kind: str = "") -> str:
    """Return a frame of 4 x 2 cm on a slide; a plain text becomes a text box."""
    inside = inside if inside.startswith("<") else f"<draw:text-box>{p(inside)}</draw:text-box>"
    place = f'svg:x="{at[0]}cm" svg:y="{at[1]}cm" svg:width="4cm" svg:height="2cm"'
    named = f'presentation:class="{kind}"' if kind else ""
    return f"<draw:frame {place} {named}>{inside}</draw:frame>"


def page(shapes: str, notes: str = "", attributes: str = 'draw:name="page1"') -> str:
    """Return a slide."""
    inside = f"<presentation:notes>{notes}</presentation:notes>" if notes else ""
    return f"<draw:page {attributes}>{shapes}{inside}</draw:page>"
