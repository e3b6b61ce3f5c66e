"""Small presentations, made in code part by part: what python-pptx cannot write, or writes only one way."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.ingest.made_files import OFFICE, PACKAGE, zip_of

MAIN = "http://schemas.openxmlformats.org"
NAMESPACES = (
    f'xmlns:p="{MAIN}/presentationml/2006/main" xmlns:a="{MAIN}/drawingml/2006/main" xmlns:r="{OFFICE}"'
    f' xmlns:c="{MAIN}/drawingml/2006/chart" xmlns:dgm="{MAIN}/drawingml/2006/diagram"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
CM = 360_000  # EMU
FRAME = (
    '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="9" name="g"/><p:nvPr/></p:nvGraphicFramePr>'
    "<a:graphic><a:graphicData>{}</a:graphicData></a:graphic></p:graphicFrame>"
)
BLACK_AND_WHITE = (
    '<a:theme><a:themeElements><a:clrScheme><a:dk1><a:srgbClr val="000000"/></a:dk1>'
    '<a:lt1><a:sysClr val="window" lastClr="FFFFFF"/></a:lt1></a:clrScheme></a:themeElements></a:theme>'
)


def para(text: str, run: str = "", properties: str = "", size: int = 1800) -> str:
    """Return a paragraph of one run; `run` and `properties` are elements, `size` is hundredths of a point."""
    run_properties = f'<a:rPr sz="{size}">{run}</a:rPr>'
    return f"<a:p><a:pPr>{properties}</a:pPr><a:r>{run_properties}<a:t>{text}</a:t></a:r></a:p>"


def sp(
    body: str, at: tuple[float, float] | None = (1, 1), kind: str = "", look: str = "", off: bool = False
) -> str:
    """Return a shape of 4 x 2 cm; `body` is its paragraphs, or its one line of text.

    Args:
        at: left and top in cm; None leaves the place to the layout.
        kind: of placeholder: "title", "ftr", …
        look: elements of its properties, such as a fill.
    """
    body = body if body.startswith("<") else para(body)
    place = "" if at is None else (
        f'<a:xfrm><a:off x="{int(at[0] * CM)}" y="{int(at[1] * CM)}"/><a:ext cx="{4 * CM}" cy="{2 * CM}"/></a:xfrm>'
    )  # fmt: skip
    holder = f'<p:ph type="{kind}"/>' if kind else ""
    named = f'<p:cNvPr id="2" name="s" hidden="{int(off)}"/>'
    return (
        f"<p:sp><p:nvSpPr>{named}<p:nvPr>{holder}</p:nvPr></p:nvSpPr>"
        f"<p:spPr>{place}{look}</p:spPr><p:txBody>{body}</p:txBody></p:sp>"
    )


def group(members: str, at: tuple[float, float], scale: float = 1) -> str:
    """Return a group at a place in cm; the members' own places count from 0 and are scaled."""
    side = int(10 * CM * scale)
    return (
        "<p:grpSp><p:nvGrpSpPr><p:cNvPr id='3' name='g'/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr><a:xfrm>"
        f'<a:off x="{int(at[0] * CM)}" y="{int(at[1] * CM)}"/><a:ext cx="{side}" cy="{side}"/>'
        f'<a:chOff x="0" y="0"/><a:chExt cx="{10 * CM}" cy="{10 * CM}"/></a:xfrm></p:grpSpPr>{members}</p:grpSp>'
    )


def tree(shapes: str, root: str = "sld", extra: str = "", background: str = "") -> str:
    """Return a slide, layout or master."""
    bg = f"<p:bg>{background}</p:bg>" if background else ""
    return f"<p:{root} {NAMESPACES} {extra}><p:cSld>{bg}<p:spTree>{shapes}</p:spTree></p:cSld></p:{root}>"


def slide(shapes: str, extra: str = "", background: str = "") -> str:
    """Return a slide's XML."""
    return tree(shapes, "sld", extra, background)


def rels(*relations: tuple[str, str]) -> str:
    """Return a relations part of (last word of the type, target); ids are r1, r2, …"""
    items = (
        f'<Relationship Id="r{i}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(relations, 1)
    )
    return f'<Relationships xmlns="{PACKAGE}">{"".join(items)}</Relationships>'


def pptx(
    slides: Sequence[str],
    parts: dict[str, str | bytes] | None = None,
    relations: Sequence[tuple[str, str]] = (),
    order: Sequence[int] = (),
    folder: str = "ppt",
) -> bytes:
    """Return a presentation.

    Args:
        parts: further members by full name.
        relations: of the first slide, as `rels` takes them.
        order: in which the slides are shown, from 1; all as they come where it is empty.
    """
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in order or range(1, len(slides) + 1))
    members: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": rels(("officeDocument", f"{folder}/presentation.xml")),
        f"{folder}/presentation.xml": (
            f"<p:presentation {NAMESPACES}><p:sldIdLst>{listed}</p:sldIdLst>"
            f'<p:sldSz cx="{25 * CM}" cy="{19 * CM}"/></p:presentation>'
        ),
        f"{folder}/_rels/presentation.xml.rels": rels(
            *(("slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1)),
            ("commentAuthors", "commentAuthors.xml"),
            ("authors", "authors.xml"),
        ),
        f"{folder}/slides/_rels/slide1.xml.rels": rels(*relations),
    }
    members |= {f"{folder}/slides/slide{n}.xml": text for n, text in enumerate(slides, 1)}
    named = {name: _named(text) if isinstance(text, str) else text for name, text in (parts or {}).items()}
    return zip_of(members | named)


def _named(xml: str) -> str:
    """Declare the namespaces on a part's root, unless it declares its own."""
    return xml if "xmlns" in xml else re.sub(r"^<([\w:]+)", rf"<\1 {NAMESPACES}", xml)
