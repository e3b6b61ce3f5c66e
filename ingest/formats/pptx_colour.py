"""Which text of a slide nobody can see: in the colour of what lies behind it, too small, or without colour.

Only what the file says directly counts. White text on a picture or a dark band is how slides look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ingest.formats.elements import child, children, local, number, value
from ingest.formats.package import Package

TINY = 300  # hundredths of a point; nobody reads 3 pt on a wall
NEAR = 8  # of 255 in each channel
FILLS = frozenset({"solidFill", "gradFill", "blipFill", "pattFill", "grpFill"})
PLAIN_BACKGROUND = 1001  # bgRef idx of a theme's plain fill; those above may be pictures


@dataclass(frozen=True, slots=True)
class Colours:
    """The theme's colours as a master maps them, and what lies behind everything on a slide.

    Attributes:
        names: "bg1" → "FFFFFF".
        background: of the slide; None where it is a picture, a gradient or unknown.
    """

    names: dict[str, str]
    background: str | None

    def of(self, holder: Any) -> str | None:
        """Return the colour of an element's solid fill as six hex digits; None for none, or one that is mixed."""
        return self.told(child(holder, "solidFill"))

    def told(self, fill: Any) -> str | None:
        """Return the colour that an element names with its first child."""
        colour = next(iter(fill), None) if fill is not None else None
        if colour is None or len(colour):
            return None
        if local(colour) == "schemeClr":
            return self.names.get(value(colour))
        return (value(colour, "lastClr") or value(colour)).upper() or None


def colours_of(package: Package, chain: list[tuple[str, Any]]) -> Colours:
    """Return the colours in force on a slide.

    Args:
        chain: (member, root) of slide, layout and master, as far as they are there.
    """
    names = _theme(package, *chain[-1]) if chain else {}
    known = Colours(names, None)
    for _, root in chain:
        background = child(root, "cSld", "bg")
        if background is not None:
            return Colours(names, _background(background, known))
    return known


def _background(background: Any, known: Colours) -> str | None:
    reference = child(background, "bgRef")
    if reference is not None:
        return known.told(reference) if number(value(reference, "idx")) == PLAIN_BACKGROUND else None
    return known.of(child(background, "bgPr"))


def _theme(package: Package, path: str, master: Any) -> dict[str, str]:
    theme = next((target for kind, target in package.relations(path).values() if kind == "theme"), "")
    scheme = child(package.optional(theme), "themeElements", "clrScheme")
    plain = Colours({}, None)
    own = {local(part): plain.told(part) or "" for part in scheme} if scheme is not None else {}
    mapped = child(master, "clrMap")
    for name, target in mapped.attrib.items() if mapped is not None else ():
        own[name] = own.get(target, "")
    return {name: colour for name, colour in own.items() if colour}


def is_filled(shape: Any) -> bool:
    """Tell whether a shape hides what lies behind it, or may."""
    properties = child(shape, "spPr")
    if properties is None or any(True for _ in children(properties, *FILLS)):
        return True
    reference = child(shape, "style", "fillRef")
    return child(properties, "noFill") is None and value(reference, "idx") not in ("", "0")


def is_unseen(run: Any, colours: Colours, behind: str | None) -> bool:
    """Tell whether a run's own properties make it unreadable on this ground; None is a ground that is not known."""
    if run is None:
        return False
    size = number(value(run, "sz"))
    if size is not None and size < TINY:
        return True
    if child(run, "noFill") is not None:
        return child(run, "ln") is None
    if _is_clear(child(run, "solidFill")):
        return True
    colour = colours.of(run)
    return colour is not None and behind is not None and _is_near(colour, behind)


def _is_clear(fill: Any) -> bool:
    alphas = (child(colour, "alpha") for colour in fill) if fill is not None else ()
    return any(value(alpha).rstrip("%") == "0" for alpha in alphas)


def _is_near(one: str, other: str) -> bool:
    try:
        pairs = zip(bytes.fromhex(one), bytes.fromhex(other), strict=True)
        return all(abs(a - b) <= NEAR for a, b in pairs)
    except ValueError:
        return False
