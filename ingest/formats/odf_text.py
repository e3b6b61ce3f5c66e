"""One OpenDocument paragraph: the text that can be seen, that which cannot, and what hangs on it. Walks no blocks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ingest.formats.elements import local, number, value
from ingest.formats.odf import OdfStyles
from ingest.formats.tidy import one_line

TINY_PT = 3.0
MAX_SPACES = 200
UNREAD = frozenset({"ruby-text", "event-listeners", "note-citation", "tracked-changes", "script"})
DRAWN = frozenset(
    "frame g custom-shape rect ellipse circle line polyline polygon path connector regular-polygon"
    " measure caption".split()
)
ASIDE = frozenset({*DRAWN, "note", "annotation"})
POINTS = re.compile(r"^(\d+(?:\.\d+)?)pt$")
WHITE = frozenset({"#ffffff", "#fefefe"})
CLEAR = frozenset({"", "transparent", "none", *WHITE})


@dataclass
class Words:
    """What a paragraph holds.

    Attributes:
        aside: elements to read after it: notes, comments, drawings.
    """

    seen: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    aside: list[Any] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The visible text, as one line."""
        return one_line("".join(self.seen))

    @property
    def hidden(self) -> str:
        """The text that cannot be seen, as one line."""
        return one_line("".join(self.unseen))


def words_of(paragraph: Any, styles: OdfStyles, shaded: bool, on_page: Callable[[], None]) -> Words:
    """Take a paragraph apart.

    Args:
        shaded: the ground may be dark: white text is then how it looks best.
        on_page: called where the page breaks inside the paragraph.
    """
    found = Words()
    name = value(paragraph, "style-name")
    ground = shaded or is_tinted(styles, "paragraph", name)
    unseen = is_unseen(styles, "paragraph", name, ground)
    _pieces(paragraph, found, unseen, _Reader(styles, ground, on_page))
    return found


def is_tinted(styles: OdfStyles, family: str, name: str) -> bool:
    """Tell whether a style gives its text a ground that is not white."""
    group = {"text": "text-properties", "paragraph": "paragraph-properties"}.get(
        family, f"{family}-properties"
    )
    return styles.of(family, name, group, "background-color").lower() not in CLEAR


def is_unseen(styles: OdfStyles, family: str, name: str, shaded: bool) -> bool:
    """Tell whether text in a style cannot be seen: switched off, too small, or white on white."""
    if not name:
        return False
    if styles.of(family, name, "text-properties", "display") == "none":
        return True
    size = POINTS.match(styles.of(family, name, "text-properties", "font-size"))
    if size and float(size[1]) < TINY_PT:
        return True
    white = styles.of(family, name, "text-properties", "color").lower() in WHITE
    return (
        white
        and not shaded
        and styles.of(family, name, "text-properties", "background-color").lower() in CLEAR
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    styles: OdfStyles
    shaded: bool
    on_page: Callable[[], None]


def _pieces(parent: Any, found: Words, unseen: bool, reader: _Reader) -> None:
    target = found.unseen if unseen else found.seen
    target.append(parent.text or "")
    for part in parent:
        name = local(part)
        if name in ASIDE:
            found.aside.append(part)
        elif name == "s":
            target.append(" " * min(number(value(part, "c")) or 1, MAX_SPACES))
        elif name in ("tab", "line-break"):
            target.append(" ")
        elif name == "soft-page-break":
            reader.on_page()
        elif name not in UNREAD:
            style = value(part, "style-name") if name == "span" else ""
            own = is_unseen(reader.styles, "text", style, reader.shaded) or _is_off(part, name)
            _pieces(part, found, unseen or own, reader)
        target.append(part.tail or "")


def _is_off(part: Any, name: str) -> bool:
    return name in ("hidden-text", "hidden-paragraph") and value(part, "is-hidden") == "true"
