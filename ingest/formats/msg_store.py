"""Properties of an Outlook message: texts, bytes, numbers and times, by tag. Source: [MS-OXMSG], [MS-OXPROPS]."""

from __future__ import annotations

import re
import struct
from datetime import UTC, datetime, timedelta

from ingest.formats.mail_mime import charset_decoded
from ingest.formats.ole import Ole

PROPERTIES = "__properties_version1.0"
MESSAGE_CODEPAGE, INTERNET_CODEPAGE = 0x3FFD, 0x3FDE
INTEGER, BOOLEAN, TIME = 0x0003, 0x000B, 0x0040
MAX_PROPERTIES = 10_000
EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
# Windows code pages that Python knows by another name.
CODEPAGES = {
    936: "gb18030", 1200: "utf-16-le", 20127: "us-ascii", 20866: "koi8-r", 21866: "koi8-u", 50220: "iso-2022-jp",
    50221: "iso-2022-jp", 50222: "iso-2022-jp", 51932: "euc-jp", 51949: "euc-kr", 54936: "gb18030", 65000: "utf-7",
    65001: "utf-8",
}  # fmt: skip


class Store:
    """One message, recipient or attachment inside the file: a storage with properties."""

    def __init__(self, ole: Ole, path: str, header: int, legacy: str, codepage: int = 0) -> None:
        """Read the fixed properties.

        Args:
            path: of the storage, ending in "/"; "" for the file itself.
            header: bytes in front of its properties: 32 for the file's message, 24 for one in it, 8 for others.
            codepage: of its 8-bit texts, unless it says another.
        """
        self.path = path
        self._ole = ole
        self._legacy = legacy
        self._fixed = _fixed(ole.read(path + PROPERTIES), header) if ole.has(path + PROPERTIES) else {}
        self.codepage = self.number(MESSAGE_CODEPAGE) or self.number(INTERNET_CODEPAGE) or codepage

    def number(self, tag: int) -> int:
        """Return an integer or yes/no property, 0 when it is missing."""
        kind, value = self._fixed.get(tag, (0, b""))
        return (
            struct.unpack_from("<I" if kind == INTEGER else "<H", value)[0]
            if kind in (INTEGER, BOOLEAN)
            else 0
        )

    def time(self, tag: int) -> datetime | None:
        """Return a time property, in UTC."""
        kind, value = self._fixed.get(tag, (0, b""))
        if kind != TIME:
            return None
        try:
            return EPOCH + timedelta(microseconds=struct.unpack("<Q", value)[0] // 10)
        except OverflowError:
            return None

    def text(self, tag: int) -> str:
        """Return a text property, "" when it is missing."""
        if self._ole.has(self._stream(tag, "001F")):
            return self._ole.read(self._stream(tag, "001F")).decode("utf-16-le", "replace").rstrip("\0")
        if self._ole.has(self._stream(tag, "001E")):
            return self.decoded(self._ole.read(self._stream(tag, "001E")), self.codepage).rstrip("\0")
        return ""

    def binary(self, tag: int) -> bytes:
        """Return a property of bytes, empty when it is missing."""
        return self._ole.read(self._stream(tag, "0102")) if self._ole.has(self._stream(tag, "0102")) else b""

    def decoded(self, data: bytes, codepage: int) -> str:
        """Decode bytes of this message in a Windows code page; 0 when it is not known."""
        name = CODEPAGES.get(codepage) or (f"cp{codepage}" if codepage else "")
        if 28591 <= codepage <= 28606:
            name = f"iso-8859-{codepage - 28590}"
        return charset_decoded(data, name, self._legacy)

    def inside(self, path: str) -> Store:
        """Return a recipient or attachment of this message."""
        return Store(self._ole, path, 8, self._legacy, self.codepage)

    def within(self, pattern: str) -> list[str]:
        """Return the storages right below this one whose names fit, each path ending in "/", sorted."""
        below = re.compile(re.escape(self.path) + f"({pattern})/", re.IGNORECASE)
        return sorted({match[0] for path in self._ole.paths() if (match := below.match(path))})

    def has(self, name: str) -> bool:
        """Tell whether there is such a stream in it."""
        return self._ole.has(self.path + name)

    def _stream(self, tag: int, kind: str) -> str:
        return f"{self.path}__substg1.0_{tag:04X}{kind}"


def _fixed(data: bytes, header: int) -> dict[int, tuple[int, bytes]]:
    """Return tag → (type, eight bytes) of the properties that fit into eight bytes."""
    body = data[header : header + 16 * MAX_PROPERTIES]
    entries = struct.iter_unpack("<HHI8s", body[: len(body) & ~15])
    return {tag: (kind, value) for kind, tag, _, value in entries}
