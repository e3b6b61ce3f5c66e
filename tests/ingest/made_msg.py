"""Outlook messages, made in code: a compound file of storages in storages, and the properties of a message."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SECTOR, MINI = 512, 4096  # smaller streams would live elsewhere: ours are filled up with NULs
FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
PROPERTIES = "__properties_version1.0"

Tree = dict[str, "bytes | Tree"]


@dataclass
class Message:
    """One message, without what is not set.

    Attributes:
        texts: property → text, written in UTF-16, or in the code page where there is one.
        binaries: property → bytes.
        codepage: of all texts; 0 for UTF-16.
        sent: as the format counts: 100 ns since 1601.
        recipients: (name, address, 1 for To or 2 for Cc).
        attachments: (name, bytes) or a message.
    """

    texts: Mapping[int, str] = field(default_factory=dict)
    binaries: Mapping[int, bytes] = field(default_factory=dict)
    codepage: int = 0
    sent: int = 0
    recipients: Sequence[tuple[str, str, int]] = ()
    attachments: Sequence[tuple[str, bytes] | Message] = ()

    def bytes(self) -> bytes:
        """Return the file."""
        return compound(self.tree(32))

    def tree(self, header: int) -> Tree:
        """Return the storage of the message; `header` bytes stand in front of its properties."""
        fixed = bytes(header)
        fixed += struct.pack("<HHIQ", 0x0040, 0x0039, 0, self.sent) if self.sent else b""
        fixed += struct.pack("<HHIQ", 0x0003, 0x3FFD, 0, self.codepage) if self.codepage else b""
        tree: Tree = {PROPERTIES: fixed, **self._texts(self.texts)}
        tree |= {f"__substg1.0_{tag:04X}0102": data for tag, data in self.binaries.items()}
        for i, (name, address, kind) in enumerate(self.recipients):
            about = bytes(8) + struct.pack("<HHIQ", 0x0003, 0x0C15, 0, kind)
            texts = self._texts({0x3001: name, 0x39FE: address})
            tree[f"__recip_version1.0_#{i:08X}"] = {PROPERTIES: about, **texts}
        for i, attached in enumerate(self.attachments):
            tree[f"__attach_version1.0_#{i:08X}"] = self._attachment(attached)
        return tree

    def _attachment(self, attached: tuple[str, bytes] | Message) -> Tree:
        if isinstance(attached, Message):
            return {PROPERTIES: bytes(8), "__substg1.0_3701000D": attached.tree(24)}
        name, data = attached
        return {PROPERTIES: bytes(8), **self._texts({0x3707: name}), "__substg1.0_37010102": data}

    def _texts(self, texts: Mapping[int, str]) -> Tree:
        kind, encoding = ("001E", f"cp{self.codepage}") if self.codepage else ("001F", "utf-16-le")
        return {f"__substg1.0_{tag:04X}{kind}": text.encode(encoding) for tag, text in texts.items()}


def compound(tree: Tree) -> bytes:
    """Return a compound file."""
    entries: list[list[object]] = [["Root Entry", 5, FREE, FREE, b""]]  # name, kind, right, child, data
    _add(entries, 0, tree)
    n_directory = -(-len(entries) // 4)
    bodies = [_filled(entry[4]) for entry in entries]  # type: ignore[arg-type]
    n_sectors = n_directory + sum(len(body) // SECTOR for body in bodies)
    n_fat = -(-(n_sectors + 1) // 127)
    fat = [FAT] * n_fat + [*range(n_fat + 1, n_fat + n_directory), END]
    directory = b""
    for (name, kind, right, child, _), body in zip(entries, bodies, strict=True):
        directory += _entry(str(name), kind, right, child, len(fat) if body else END, len(body))
        fat += [*range(len(fat) + 1, len(fat) + len(body) // SECTOR), END] if body else []
    fat += [FREE] * (n_fat * 128 - len(fat))
    magic = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    head = struct.pack("<8s16xHHHHH6xIII", magic, 62, 3, 0xFFFE, 9, 6, 0, n_fat, n_fat)
    head += struct.pack("<IIIIII109I", 0, MINI, END, 0, END, 0, *range(n_fat), *[FREE] * (109 - n_fat))
    parts = struct.pack(f"<{len(fat)}I", *fat), directory.ljust(n_directory * SECTOR, b"\0"), *bodies
    return head + b"".join(parts)


def _add(entries: list[list[object]], parent: int, tree: Tree) -> None:
    """Add the entries of a storage; each points at the next, which is a tree that has lost its balance."""
    previous = 0
    for name, inside in tree.items():
        number = len(entries)
        is_stream = isinstance(inside, bytes)
        entries.append([name, 2 if is_stream else 1, FREE, FREE, inside if is_stream else b""])
        if previous:
            entries[previous][2] = number
        else:
            entries[parent][3] = number
        previous = number
        if not isinstance(inside, bytes):
            _add(entries, number, inside)


def _filled(data: bytes) -> bytes:
    return data.ljust(max(MINI, -(-len(data) // SECTOR) * SECTOR), b"\0") if data else b""


def _entry(name: str, kind: object, right: object, child: object, start: int, size: int) -> bytes:
    label = name.encode("utf-16-le") + b"\0\0"
    shape = struct.pack("<HBBIII", len(label), kind, 1, FREE, right, child)
    return label.ljust(64, b"\0") + shape + bytes(36) + struct.pack("<IQ", start, size)
