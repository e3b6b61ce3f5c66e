"""A Word document's styles: which are headings, numbered or hidden, in whatever language Word was."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ingest.formats.elements import child, children, is_on, value

# w:name stays English in Word's own localised styles; other programs write the localised names.
HEADING_NAME = re.compile(
    r"^(?:heading|überschrift|titre|titolo|título|título|kop|rubrik|overskrift|otsikko|nagłówek|nadpis|заголовок|başlık|"
    r"cabeçalho|encabezado|标题|標題|見出し|제목)\s*([1-9])$",
    re.IGNORECASE,
)
TITLE_NAMES = frozenset({"title", "titel", "titre", "titolo", "título", "название", "标题"})
MAX_CHAIN = 20  # styles based on styles; a hostile file may build a ring


@dataclass(frozen=True, slots=True)
class _Style:
    """What a style says or inherits."""

    level: int | None
    numbering: Any
    hidden: bool
    shaded: bool


class Styles:
    """The styles part; empty when a document has none."""

    def __init__(self, root: Any = None) -> None:
        self._by_id = {value(style, "styleId"): style for style in children(root, "style")}
        self._read: dict[str, _Style] = {}  # by id: a document of 20,000 paragraphs has a dozen styles

    def level(self, style_id: str) -> int | None:
        """Return 0 for the title, 1 to 9 for headings, None for everything else."""
        return self._of(style_id).level

    def numbering(self, style_id: str) -> Any:
        """Return the style's w:numPr, or None."""
        return self._of(style_id).numbering

    def is_hidden(self, style_id: str) -> bool:
        """Tell whether text in this style is hidden (w:vanish)."""
        return self._of(style_id).hidden

    def is_shaded(self, style_id: str) -> bool:
        """Tell whether paragraphs in this style have a ground of their own."""
        return self._of(style_id).shaded

    def _of(self, style_id: str) -> _Style:
        if style_id not in self._read:
            chain = self._chain(style_id)
            numbering = (child(style, "pPr", "numPr") for style in chain)
            self._read[style_id] = _Style(
                _level(style_id, chain),
                next((part for part in numbering if part is not None), None),
                any(is_on(child(style, "rPr", "vanish")) for style in chain),
                any(child(style, "pPr", "shd") is not None for style in chain),
            )
        return self._read[style_id]

    def _chain(self, style_id: str) -> list[Any]:
        chain: list[Any] = []
        while style_id in self._by_id and len(chain) < MAX_CHAIN:
            chain.append(self._by_id[style_id])
            style_id = value(child(chain[-1], "basedOn"))
        return chain


def _level(style_id: str, chain: list[Any]) -> int | None:
    for style in chain:
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
