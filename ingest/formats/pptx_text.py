"""Paragraphs of shapes and cells: what can be seen and what cannot, with bullets and numbers as slides show them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ingest.formats.elements import child, children, local, number, value
from ingest.formats.pptx_colour import Colours, is_unseen
from ingest.formats.tidy import one_line

UNREAD = frozenset({"pPr", "rPr", "endParaRPr", "Fallback", "tcPr", "bodyPr", "lstStyle"})


@dataclass(frozen=True, slots=True)
class Line:
    """One paragraph.

    Attributes:
        text: what can be seen, the bullet or number before it.
        unseen: what stands in it unreadably.
        listed: it is an item of a list.
    """

    text: str
    unseen: str
    listed: bool


def lines(body: Any, colours: Colours, behind: str | None, bulleted: bool = False) -> Iterator[Line]:
    """Yield the paragraphs that have text.

    Args:
        behind: the colour of the ground; None where it is not known.
        bulleted: paragraphs have bullets unless they say otherwise, as the layout of a text placeholder has them.
    """
    counts: dict[int, int] = {}
    for paragraph in children(body, "p"):
        seen: list[str] = []
        unseen: list[str] = []
        _pieces(paragraph, colours, behind, (seen, unseen))
        text, hidden = one_line("".join(seen)), one_line("".join(unseen))
        mark = _mark(child(paragraph, "pPr"), counts, bulleted) if text else ""
        if text or hidden:
            yield Line(f"{mark} {text}".strip(), hidden, bool(mark))


def plain(body: Any) -> str:
    """Return all text under a text body as one line."""
    found = lines(body, Colours({}, None), None)
    return one_line(" ".join(f"{line.text} {line.unseen}" for line in found))


def _pieces(parent: Any, colours: Colours, behind: str | None, found: tuple[list[str], list[str]]) -> None:
    for part in parent:
        name = local(part)
        if name == "t":
            run = child(parent, "rPr")
            found[is_unseen(run, colours, behind)].append(part.text or "")
        elif name in ("br", "tab"):
            found[0].append(" ")
        elif name not in UNREAD:
            _pieces(part, colours, behind, found)


def _mark(properties: Any, counts: dict[int, int], bulleted: bool) -> str:
    """Return the bullet or number before a paragraph; numbers count on within one text body and level."""
    level = number(value(properties, "lvl")) or 0
    for deeper in [n for n in counts if n > level]:
        del counts[deeper]
    auto = child(properties, "buAutoNum")
    if auto is None:
        counts.pop(level, None)
        bullet = child(properties, "buChar") is not None or child(properties, "buBlip") is not None
        return "-" if bullet or (bulleted and child(properties, "buNone") is None) else ""
    start = number(value(auto, "startAt")) or 1
    counts[level] = counts.get(level, start - 1) + 1
    kind = value(auto, "type")
    sign = chr(ord("a") + (counts[level] - 1) % 26) if kind.startswith("alpha") else str(counts[level])
    sign = sign.upper() if kind.startswith("alphaUc") else sign
    return f"{sign})" if "Paren" in kind else f"{sign}."
