"""A Word document's styles: which are headings, numbered or hidden, in whatever language Word was."""

from __future__ import annotations

import re
from typing import Any

# w:name stays English in Word's own localised styles; other programs write the localised names.
HEADING_NAME = re.compile(
    r"^(?:heading|überschrift|titre|titolo|título|título|kop|rubrik|overskrift|otsikko|nagłówek|nadpis|заголовок|başlık|"
    r"cabeçalho|encabezado|标题|標題|見出し|제목)\s*([1-9])$",
    re.IGNORECASE,
)
TITLE_NAMES = frozenset({"title", "titel", "titre", "titolo", "título", "название", "标题"})
MAX_CHAIN = 20  # styles based on styles; a hostile file may build a ring


def local(element: Any) -> str:
    """Return an element's name without its namespace: strict and transitional files differ only there."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def child(element: Any, *path: str) -> Any:
    """Return the first child with each local name in turn, or None."""
    for name in path:
        element = (
            next((part for part in element if local(part) == name), None) if element is not None else None
        )
    return element


def value(element: Any, name: str = "val") -> str:
    """Return an attribute by its local name; "" where the element or attribute is missing."""
    if element is None:
        return ""
    return next((text for key, text in element.attrib.items() if key.rpartition("}")[2] == name), "")


def is_on(element: Any) -> bool:
    """Tell whether a switch such as w:vanish is there and not turned off."""
    return element is not None and value(element) not in ("0", "false", "off")


class Styles:
    """The styles part; empty when a document has none."""

    def __init__(self, root: Any = None) -> None:
        styles = [] if root is None else [part for part in root if local(part) == "style"]
        self._by_id = {value(style, "styleId"): style for style in styles}

    def level(self, style_id: str) -> int | None:
        """Return 0 for the title, 1 to 9 for headings, None for everything else."""
        for style in self._chain(style_id):
            name = value(child(style, "name")).strip()
            if name.lower() in TITLE_NAMES:
                return 0
            if found := HEADING_NAME.match(name):
                return int(found[1])
            outline = value(child(style, "pPr", "outlineLvl"))
            if outline.isdigit():
                return int(outline) + 1 if int(outline) < 9 else None
        # A document without styles still names them by Word's ids.
        found = re.match(r"^heading([1-9])$", style_id, re.IGNORECASE)
        return int(found[1]) if found else None

    def numbering(self, style_id: str) -> Any:
        """Return the style's w:numPr, or None."""
        parts = (child(style, "pPr", "numPr") for style in self._chain(style_id))
        return next((part for part in parts if part is not None), None)

    def is_hidden(self, style_id: str) -> bool:
        """Tell whether text in this style is hidden (w:vanish)."""
        return any(is_on(child(style, "rPr", "vanish")) for style in self._chain(style_id))

    def _chain(self, style_id: str) -> list[Any]:
        chain: list[Any] = []
        while style_id in self._by_id and len(chain) < MAX_CHAIN:
            chain.append(self._by_id[style_id])
            style_id = value(child(chain[-1], "basedOn"))
        return chain
