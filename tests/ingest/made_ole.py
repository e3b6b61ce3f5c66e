"""Old Office files, made in code: the container, a Word document, a presentation; no more than tests need."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SECTOR = 512
MINI = 4096  # smaller streams would live elsewhere: ours are filled up to it
FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
TEXT_AT = 0x800  # of the first character in the document's stream


def ole(streams: Mapping[str, bytes]) -> bytes:
    """Return a compound file of streams directly under the root."""
    bodies = {
        name: data.ljust(max(MINI, -(-len(data) // SECTOR) * SECTOR), b"\0") for name, data in streams.items()
    }
    n_directory = -(-(len(bodies) + 1) // 4)
    n_sectors = n_directory + sum(len(body) // SECTOR for body in bodies.values())
    n_fat = -(-(n_sectors + 1) // 127)
    fat = [FAT] * n_fat + _chain(n_fat, n_directory)
    entries = [_entry("Root Entry", 5, END, 0, child=1)]
    for number, (name, body) in enumerate(bodies.items(), 1):
        following = number + 1 if number < len(bodies) else FREE
        entries.append(_entry(name, 2, len(fat), len(body), right=following))
        fat += _chain(len(fat), len(body) // SECTOR)
    fat += [FREE] * (n_fat * 128 - len(fat))
    head = struct.pack(
        "<8s16xHHHHH6xIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 62, 3, 0xFFFE, 9, 6, 0, n_fat, n_fat
    )
    head += struct.pack("<IIIIII", 0, MINI, END, 0, END, 0) + struct.pack(
        "<109I", *range(n_fat), *[FREE] * (109 - n_fat)
    )
    directory = b"".join(entries).ljust(n_directory * SECTOR, b"\0")
    return head + struct.pack(f"<{len(fat)}I", *fat) + directory + b"".join(bodies.values())


def _chain(first: int, n_sectors: int) -> list[int]:
    return [*range(first + 1, first + n_sectors), END]


def _entry(name: str, kind: int, start: int, size: int, child: int = FREE, right: int = FREE) -> bytes:
    label = name.encode("utf-16-le") + b"\0\0"
    shape = struct.pack("<HBBIII", len(label), kind, 1, FREE, right, child)
    return label.ljust(64, b"\0") + shape + bytes(36) + struct.pack("<IQ", start, size)


@dataclass(frozen=True)
class Doc:
    """A Word document.

    Attributes:
        text: of all sub-documents after each other; a character over U+FFFF as its pair.
        forms: (style, property modifiers) of each paragraph, in order; the last goes for all that follow.
        runs: (first character, one past the last, property modifiers).
        counts: characters of each sub-document; the text's own for an empty one.
        tables: what the block's places point at, by number.
        narrow: how many characters at the beginning take one byte.
    """

    text: str
    forms: Sequence[tuple[int, bytes]] = ((0, b""),)
    runs: Sequence[tuple[int, int, bytes]] = ()
    counts: Sequence[int] = ()
    tables: Mapping[int, bytes] = field(default_factory=dict)
    narrow: int = 0
    flags: int = 0x0200

    def streams(self) -> dict[str, bytes]:
        """Return the streams of the file."""
        units = [*self.text]
        body = self.text[: self.narrow].encode("cp1252")
        places = [TEXT_AT + i for i in range(self.narrow)]
        for unit in units[self.narrow :]:
            places.append(TEXT_AT + len(body))
            body += unit.encode("utf-16-le", "surrogatepass")
        places.append(TEXT_AT + len(body))
        stream = bytes(TEXT_AT) + body
        stream = stream.ljust(-(-len(stream) // 512) * 512, b"\0")
        paragraphs, characters = self._paragraph_page(places), self._character_page(places)
        first = len(stream) // 512
        stream += paragraphs + characters
        tables = {
            12: struct.pack("<III", places[0], places[-1], first + 1),
            13: struct.pack("<III", places[0], places[-1], first),
            33: self._clx(),
        } | dict(self.tables)
        return {"WordDocument": self._block(tables, stream), "1Table": b"\0\0" + b"".join(tables.values())}

    def bytes(self) -> bytes:
        """Return the file."""
        return ole(self.streams())

    def _clx(self) -> bytes:
        n_wide = len(self.text) - self.narrow
        pieces = [(self.narrow, (TEXT_AT * 2) | 0x4000_0000)] if self.narrow else []
        pieces += [(n_wide, TEXT_AT + self.narrow)] if n_wide else []
        ends = [0]
        for n_chars, _ in pieces:
            ends.append(ends[-1] + n_chars)
        table = struct.pack(f"<{len(ends)}I", *ends) + b"".join(
            struct.pack("<HIH", 0, at, 0) for _, at in pieces
        )
        return b"\x01\x02\x00\xff\xff" + b"\x02" + struct.pack("<I", len(table)) + table

    def _block(self, tables: Mapping[int, bytes], stream: bytes) -> bytes:
        block = bytearray(stream)
        struct.pack_into("<HH", block, 0, 0xA5EC, 0xC1)
        struct.pack_into("<H", block, 0x0A, self.flags)
        counts = [*self.counts, *[0] * 8][:8] if self.counts else [len(self.text), *[0] * 7]
        struct.pack_into("<8I", block, 0x4C, *counts)
        at = 2
        for number, table in tables.items():
            struct.pack_into("<II", block, 0x9A + 8 * number, at, len(table))
            at += len(table)
        return bytes(block)

    def _paragraph_page(self, places: Sequence[int]) -> bytes:
        marks = [i + 1 for i, ch in enumerate(self.text) if ch in "\r\x07\x0c"]
        forms = [self.forms[min(i, len(self.forms) - 1)] for i in range(len(marks))]
        page = bytearray(512)
        at, offsets = 510, []
        for style, changes in forms:
            data = struct.pack("<H", style) + changes
            data += b"\0" * (len(data) % 2 == 0)
            at -= 1 + len(data)
            at -= at % 2
            page[at : at + 1 + len(data)] = bytes([(len(data) + 1) // 2]) + data
            offsets.append(at // 2)
        struct.pack_into(f"<{len(marks) + 1}I", page, 0, *(places[i] for i in [0, *marks]))
        for i, offset in enumerate(offsets):
            page[4 * (len(marks) + 1) + 13 * i] = offset
        page[511] = len(marks)
        return bytes(page)

    def _character_page(self, places: Sequence[int]) -> bytes:
        page = bytearray(512)
        edges = sorted({0, len(self.text), *(edge for start, end, _ in self.runs for edge in (start, end))})
        changes = {start: change for start, _, change in self.runs}
        at = 510
        for i, start in enumerate(edges[:-1]):
            data = changes.get(start, b"")
            at -= 1 + len(data)
            at -= at % 2
            page[at : at + 1 + len(data)] = bytes([len(data)]) + data
            page[4 * len(edges) + i] = at // 2 if data else 0
        struct.pack_into(f"<{len(edges)}I", page, 0, *(places[edge] for edge in edges))
        page[511] = len(edges) - 1
        return bytes(page)


def change(name: int, operand: int, size: int = 1) -> bytes:
    """Return a property modifier."""
    return struct.pack("<H", name) + operand.to_bytes(size, "little")


def record(kind: int, body: bytes, instance: int = 0, container: bool = False) -> bytes:
    """Return a record of a presentation."""
    return struct.pack("<HHI", instance << 4 | (0x0F if container else 0), kind, len(body)) + body


def box(*parts: bytes) -> bytes:
    """Return the body of a container."""
    return b"".join(parts)


def text_atoms(kind: int, text: str) -> bytes:
    """Return a text with its kind, as outlines and text boxes hold it."""
    return record(0x0F9F, struct.pack("<I", kind)) + record(0x0FA0, text.encode("utf-16-le"))


def shape(inside: bytes, top: int = 0, left: int = 0, extra: bytes = b"", in_group: bool = False) -> bytes:
    """Return a shape with a text box."""
    anchor = record(0xF00F, struct.pack("<4i", left, top, left + 10, top + 10))
    if not in_group:
        anchor = record(0xF010, struct.pack("<4h", top, left, left + 10, top + 10))
    return record(0xF004, box(anchor, extra, record(0xF00D, inside)), container=True)


def group(*shapes: bytes) -> bytes:
    """Return a group of shapes, or the drawing's outermost."""
    return record(0xF003, box(*shapes), container=True)


def drawing(*shapes: bytes) -> bytes:
    """Return the drawing of a slide or a page of notes."""
    return record(0x040C, record(0xF002, group(*shapes), container=True), container=True)


@dataclass(frozen=True)
class Slide:
    """A slide: its outline, its own records (drawing, show), and those of its notes."""

    outline: bytes = b""
    records: bytes = b""
    notes: bytes = b""


def presentation(*slides: Slide, token: int = 0xE391_C05F, edit_bytes: int = 28) -> bytes:
    """Return a presentation; each slide's state is saved twice, and only the last save is true."""
    stream, places = b"", {}
    objects: dict[int, bytes] = {}
    listed, noted = b"", b""
    for number, slide in enumerate(slides, 1):
        slide_id = 255 + number
        objects[10 + number] = record(0x03EE, slide.records, container=True)
        listed += record(0x03F3, struct.pack("<5I", 10 + number, 0, 0, slide_id, 0)) + slide.outline
        if slide.notes:
            about = record(0x03F1, struct.pack("<II", slide_id, 0))
            objects[50 + number] = record(0x03F0, about + slide.notes, container=True)
            noted += record(0x03F3, struct.pack("<5I", 50 + number, 0, 0, 1000 + number, 0))
    lists = record(0x0FF0, listed, 0, True) + (record(0x0FF0, noted, 2, True) if noted else b"")
    objects[1] = record(0x03E8, lists, container=True)
    for persist_id, data in objects.items():
        places[persist_id] = len(stream)
        stream += data
    directory = b"".join(struct.pack("<II", 1 << 20 | number, place) for number, place in places.items())
    directory_at = len(stream)
    stream += record(0x1772, directory)
    edit_at = len(stream)
    edit = struct.pack("<IIIIIII", 0, 0x03000000, 0, directory_at, 1, 100, 0).ljust(edit_bytes, b"\0")
    stream += record(0x0FF5, edit)
    current = record(0x0FF6, struct.pack("<III", 20, token, edit_at) + bytes(8))
    return ole({"PowerPoint Document": stream, "Current User": current})
