"""The shapes of a slide in reading order: by rows from the top, each from the left, groups kept together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ingest.formats.elements import child, children, local, number, value

SHAPES = frozenset({"sp", "graphicFrame", "pic", "cxnSp", "grpSp"})
ROW = 91_440  # EMU, 0.1 inch: shapes whose tops differ by less stand beside each other
MAX_GROUPS = 40  # nested in one another
TITLES = frozenset({"title", "ctrTitle"})


@dataclass(frozen=True, slots=True)
class Box:
    """A place on the slide in EMU (914,400 to the inch) from its top left."""

    left: float
    top: float
    width: float
    height: float

    def meets(self, other: Box) -> bool:
        """Tell whether the two share some of their areas, edges included."""
        return (
            self.left <= other.left + other.width
            and other.left <= self.left + self.width
            and self.top <= other.top + other.height
            and other.top <= self.top + self.height
        )


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape.

    Attributes:
        box: None where neither the slide nor its layout says where it stands.
        hidden: switched off by its author, itself or a group that it is in.
        ground: the shapes below it in the pile have a lower number.
    """

    element: Any
    box: Box | None
    hidden: bool
    ground: int = 0
    members: tuple[Shape, ...] = field(default=())

    @property
    def placeholder(self) -> str:
        """The kind of placeholder ("title", "body", "ftr", …), "" for a shape that is none."""
        holder = placeholder(self.element)
        return "" if holder is None else value(holder, "type") or "obj"


@dataclass(frozen=True, slots=True)
class _Scale:
    x: float = 1.0
    y: float = 1.0
    left: float = 0.0
    top: float = 0.0

    def box(self, frame: Any) -> Box | None:
        """Return where an xfrm stands on the slide."""
        found = _numbers(frame, "off", "ext")
        if found is None:
            return None
        x, y, width, height = found
        return Box(x * self.x + self.left, y * self.y + self.top, abs(width * self.x), abs(height * self.y))

    def inside(self, frame: Any) -> _Scale:
        """Return the scale of a group's members."""
        outer, inner = _numbers(frame, "off", "ext"), _numbers(frame, "chOff", "chExt")
        if outer is None or inner is None:
            return self
        x = outer[2] / inner[2] if inner[2] else 1.0
        y = outer[3] / inner[3] if inner[3] else 1.0
        left = self.left + (outer[0] - inner[0] * x) * self.x
        top = self.top + (outer[1] - inner[1] * y) * self.y
        return _Scale(self.x * x, self.y * y, left, top)


def shapes(root: Any, layouts: list[Any]) -> list[Shape]:
    """Return a slide's shapes in reading order, the title first, groups as their members.

    Args:
        layouts: roots of layout and master, from which placeholders take the place that they do not say.
    """
    tree = child(root, "cSld", "spTree")
    counter = iter(range(1_000_000))
    ordered = _in_rows(_placed(tree, layouts, _Scale(), counter, 0)) if tree is not None else []
    flat = list(_flat(ordered))
    return sorted(flat, key=lambda shape: shape.placeholder not in TITLES)


def placeholder(element: Any) -> Any:
    """Return a shape's p:ph, or None."""
    return next((child(part, "nvPr", "ph") for part in element if local(part).startswith("nv")), None)


def _placed(tree: Any, layouts: list[Any], scale: _Scale, counter: Iterator[int], depth: int) -> list[Shape]:
    found: list[Shape] = []
    for element in _members(tree):
        name = local(element)
        frame = child(element, "grpSpPr" if name == "grpSp" else "spPr", "xfrm")
        frame = child(element, "xfrm") if name == "graphicFrame" else frame
        shape = Shape(element, scale.box(frame), _is_off(element), next(counter))
        if name == "grpSp":
            inner = scale.inside(frame) if frame is not None else scale
            members = _placed(element, layouts, inner, counter, depth + 1) if depth < MAX_GROUPS else []
            if shape.hidden:
                members = [replace(member, hidden=True) for member in _flat(members)]
            shape = replace(shape, members=tuple(_in_rows(members)))
        elif shape.box is None:
            shape = replace(shape, box=_inherited(element, layouts))
        found.append(shape)
    return found


def _members(tree: Any) -> Iterator[Any]:
    """Yield the shapes of a tree or group; of alternatives the first that has any."""
    for part in tree if tree is not None else ():
        if local(part) in SHAPES:
            yield part
        elif local(part) == "AlternateContent":
            choices = (list(_members(choice)) for choice in children(part, "Choice", "Fallback"))
            yield from next((found for found in choices if found), [])


def _is_off(element: Any) -> bool:
    named = next((child(part, "cNvPr") for part in element if local(part).startswith("nv")), None)
    return value(named, "hidden") in ("1", "true")


def _inherited(element: Any, layouts: list[Any]) -> Box | None:
    """Return the place of the layout's placeholder with the same number, else of the first of the same kind."""
    holder = placeholder(element)
    if holder is None:
        return None
    for root in layouts:
        others = list(_members(child(root, "cSld", "spTree")))
        for is_same in (_same_number, _same_kind):
            for other in others:
                box = _Scale().box(child(other, "spPr", "xfrm"))
                if box is not None and is_same(holder, placeholder(other)):
                    return box
    return None


def _same_number(holder: Any, other: Any) -> bool:
    index = value(holder, "idx")
    return bool(index) and index == value(other, "idx")


def _same_kind(holder: Any, other: Any) -> bool:
    if other is None:
        return False
    kinds = {value(holder, "type") or "obj", value(other, "type") or "obj"}
    return len(kinds) == 1 or kinds <= TITLES or kinds == {"obj", "body"}


def _in_rows(found: list[Shape]) -> list[Shape]:
    """Sort by rows; shapes without a place come first, in the order of the file."""
    ordered = [shape for shape in found if shape.box is None]
    rows: list[list[Shape]] = []
    boxed = [(shape.box, shape) for shape in found if shape.box is not None]
    tops: list[float] = []
    for box, shape in sorted(boxed, key=lambda pair: pair[0].top):
        if not rows or box.top - tops[-1] > ROW:
            rows.append([])
            tops.append(box.top)
        rows[-1].append(shape)
    for row in rows:
        ordered += sorted(row, key=lambda shape: shape.box.left if shape.box is not None else 0.0)
    return ordered


def _flat(found: list[Shape] | tuple[Shape, ...]) -> Iterator[Shape]:
    for shape in found:
        if shape.members:
            yield from _flat(shape.members)
        else:
            yield shape


def _numbers(frame: Any, offset: str, extent: str) -> tuple[int, int, int, int] | None:
    """Return x, y, width and height of an xfrm; None where one is missing or no number."""
    off, ext = child(frame, offset), child(frame, extent)
    found = [number(value(off, key)) for key in ("x", "y")] + [
        number(value(ext, key)) for key in ("cx", "cy")
    ]
    x, y, width, height = found
    if x is None or y is None or width is None or height is None:
        return None
    return x, y, width, height
