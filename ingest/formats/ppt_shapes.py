"""The drawing of an old PowerPoint slide: its text boxes in reading order, its tables as rows.

Source: [MS-ODRAW] 2.2.13 (drawing), 2.3.1 to 2.3.7 (properties); [MS-PPT] 2.9.40 (text), 2.7.1 (anchor).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ingest.formats.ppt_records import CONTAINER, Record
from ingest.formats.tidy import one_line

GROUP, SHAPE, PROPERTIES, TABLE_PROPERTIES = 0xF003, 0xF004, 0xF00B, 0xF122
TEXT_BOX, MEMBER_ANCHOR, SLIDE_ANCHOR = 0xF00D, 0xF00F, 0xF010
TEXT_KIND, CHARACTERS, BYTES, OUTLINE_TEXT = 0x0F9F, 0x0FA0, 0x0FA8, 0x0F9E
IS_TABLE, SWITCHES = 0x039F, 0x03BF
SWITCHED_OFF, SAYS_OFF = 0x0000_0002, 0x0002_0000
TITLE_KINDS = frozenset({0, 6})  # of a text; 6 is the title in the middle of a first slide
LIST_KINDS = frozenset({1, 7, 8})  # the text under the title: its paragraphs are bullet points
OTHER_KIND = 4
PLACEHOLDER = 0x0BC3
MARGINS = tuple(bytes([kind]) for kind in (7, 8, 9, 10))
ROW = 58  # master units, 576 to the inch: shapes whose tops differ by less stand beside each other
MAX_GROUPS = 40  # nested in one another


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the outline or of a text box: paragraphs end with a carriage return, lines with a vertical tab."""

    kind: int
    text: str

    @property
    def line(self) -> str:
        """All of it as one line."""
        return one_line(self.text.replace("\x0b", "\n"))


@dataclass(frozen=True, slots=True)
class Shape:
    """A text box, or a table when it has rows; `top` and `left` in master units, or in units of its group."""

    top: int
    left: int
    text: Text = field(default=Text(OTHER_KIND, ""))
    rows: Sequence[Sequence[str]] = ()
    is_hidden: bool = False
    is_margin: bool = False  # date, number, header or footer


def texts(parent: Record) -> list[Text]:
    """Return the texts directly in a record, each begun by its kind, as the outline has them."""
    found: list[Text] = []
    kind = OTHER_KIND
    is_open = False  # a kind without characters is a text too: shapes count them
    for record in parent.children():
        if record.kind == TEXT_KIND:
            found += [Text(kind, "")] if is_open else []
            kind, is_open = int.from_bytes(record.body[:4], "little"), True
        elif record.kind in (CHARACTERS, BYTES):
            encoding = "utf-16-le" if record.kind == CHARACTERS else "latin-1"
            found.append(Text(kind, record.body.decode(encoding, "replace")))
            is_open = False
    return [*found, Text(kind, "")] if is_open else found


def shapes(drawing: Record, outline: Sequence[Text]) -> list[Shape]:
    """Return the shapes with text in a slide's drawing, in reading order.

    Args:
        outline: the slide's texts that are kept apart; its placeholders refer to them by number.
    """
    found = []
    for group in drawing.all(GROUP):
        found += _members(group, outline, 0)
    return _in_rows(found)


def _members(group: Record, outline: Sequence[Text], depth: int) -> list[Shape]:
    found: list[Shape] = []
    for record in group.children():
        if record.kind == SHAPE:
            found += _shape(record, outline)
        elif record.kind == GROUP and depth < MAX_GROUPS:
            found += _group(record, outline, depth + 1)
    return found


def _group(group: Record, outline: Sequence[Text], depth: int) -> list[Shape]:
    """Return a table's rows, or a group's members at the place of the group, so that they stay together."""
    members = _members(group, outline, depth)
    head = group.first(SHAPE)
    if head is None or not members:
        return members
    top, left = _place(head)
    hidden = _is_off(head)
    if _value(head, TABLE_PROPERTIES, IS_TABLE) & 1:
        return [Shape(top, left, rows=_rows(members), is_hidden=hidden)]
    return [
        replace(shape, top=top, left=left, is_hidden=shape.is_hidden or hidden) for shape in _in_rows(members)
    ]


def _rows(cells: Sequence[Shape]) -> list[list[str]]:
    tops = sorted({cell.top for cell in cells})
    by_top: dict[int, list[Shape]] = {top: [] for top in tops}
    for cell in cells:
        by_top[cell.top].append(cell)
    return [[cell.text.line for cell in sorted(by_top[top], key=lambda cell: cell.left)] for top in tops]


def _shape(record: Record, outline: Sequence[Text]) -> Iterator[Shape]:
    box = record.first(TEXT_BOX)
    if box is None:
        return
    found = texts(box)
    reference = box.first(OUTLINE_TEXT)
    if reference is not None:
        number = int.from_bytes(reference.body[:4], "little")
        found = [outline[number]] if number < len(outline) else found
    top, left = _place(record)
    for text in found:
        yield Shape(top, left, text, is_hidden=_is_off(record), is_margin=_is_margin(record))


def _is_margin(shape: Record) -> bool:
    return any(holder.body[4:5] in MARGINS for holder in shape.all(PLACEHOLDER))


def _is_off(shape: Record) -> bool:
    switches = _value(shape, PROPERTIES, SWITCHES)
    return bool(switches & SAYS_OFF and switches & SWITCHED_OFF)


def _place(shape: Record) -> tuple[int, int]:
    """Return (top, left); the anchors of slides and groups write them in different orders and sizes."""
    for record in shape.children():
        body = record.body
        if record.kind == SLIDE_ANCHOR and len(body) >= 16:
            top, left = struct.unpack_from("<ii", body)
            return top, left
        if record.kind == SLIDE_ANCHOR and len(body) >= 8:
            top, left = struct.unpack_from("<hh", body)
            return top, left
        if record.kind == MEMBER_ANCHOR and len(body) >= 16:
            left, top = struct.unpack_from("<ii", body)
            return top, left
    return 0, 0


def _value(shape: Record, table: int, name: int) -> int:
    """Return a drawing property of a shape, 0 where it has none."""
    properties = shape.first(table)
    if properties is None or properties.version == CONTAINER:
        return 0
    entries = properties.body[: 6 * properties.instance]
    found = {
        number & 0x3FFF: value
        for number, value in struct.iter_unpack("<HI", entries[: len(entries) // 6 * 6])
    }
    return int(found.get(name, 0))


def _in_rows(found: Sequence[Shape]) -> list[Shape]:
    """Sort by rows from the top, each row from the left; members of a group keep their order."""
    rows: list[list[Shape]] = []
    for shape in sorted(found, key=lambda shape: shape.top):
        if not rows or shape.top - rows[-1][0].top > ROW:
            rows.append([])
        rows[-1].append(shape)
    return [shape for row in rows for shape in sorted(row, key=lambda shape: shape.left)]
