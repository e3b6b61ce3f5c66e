"""The container of old Office files and Outlook messages (OLE compound file), read within bounds. Knows no format."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import olefile

from ingest.formats.reading import RefusedError, damaged, too_large
from ingest.formats.tidy import one_line
from ingest.limits import MIB, ParseLimits

# What olefile lets out when a file contradicts itself; MemoryError is the parse child's.
BROKEN = (OSError, ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, RecursionError)
SUMMARY = "\x05SummaryInformation"
CODEPAGE, TITLE = 1, 2
WIDE_STRING = 0x1F
UTF8_CODEPAGE = 65001
MAX_STREAMS = 20_000
MAX_PROPERTIES = 1_000


class Ole:
    """The streams of one file, by path ("WordDocument", "__attach_version1.0_#00000000/__substg1.0_37010102")."""

    def __init__(self, data: bytes, limits: ParseLimits) -> None:
        """Open the container.

        Raises:
            RefusedError: it is cut off, broken or no such container.
        """
        self._data = data
        self._max = limits.max_part_mb * MIB
        try:
            self._file = olefile.OleFileIO(data)
            self._paths = {"/".join(path).lower(): path for path in self._file.listdir(streams=True)}
        except BROKEN as error:
            raise damaged("its inner table of contents is broken: save it again, or copy it again") from error
        if len(self._paths) > MAX_STREAMS:
            raise too_large(f"it holds {len(self._paths)} inner parts, and over {MAX_STREAMS} are not read")

    def paths(self) -> Sequence[str]:
        """Return the paths of all streams, as the file writes them."""
        return ["/".join(path) for path in self._paths.values()]

    def has(self, path: str) -> bool:
        """Tell whether there is such a stream; case does not count."""
        return path.lower() in self._paths

    def read(self, path: str) -> bytes:
        """Return a stream's bytes.

        Raises:
            RefusedError: there is no such stream, it is broken or over the limit of a part.
        """
        if not self.has(path):
            raise damaged(f"its inner part {one_line(path)} is missing")
        found = self._paths[path.lower()]
        try:
            size = self._file.get_size(found)
            # A stream that claims more than the file holds runs in circles: reading it would fill the memory.
            if size > len(self._data):
                raise damaged(f"its inner part {one_line(path)} claims to be larger than the file")
            if size > self._max:
                raise too_large(f"its inner part {one_line(path)} is over {self._max // MIB} MB")
            with self._file.openstream(found) as stream:
                return bytes(stream.read(self._max))
        except BROKEN as error:
            raise damaged(f"its inner part {one_line(path)} is broken") from error

    def title(self) -> str:
        """Return the title among the file's properties, "" when there is none that can be read."""
        if not self.has(SUMMARY):
            return ""
        try:
            return one_line(_title(self.read(SUMMARY)))
        except (RefusedError, struct.error, LookupError):  # a document is read without its properties
            return ""


def root_names(data: bytes) -> frozenset[str]:
    """Return the names right under the root, in small letters; none where the table of contents is broken."""
    try:
        with olefile.OleFileIO(data) as file:
            return frozenset(entry.name.lower() for entry in file.root.kids)
    except BROKEN:
        return frozenset()


def _title(summary: bytes) -> str:
    """Return the title of a property set. Source: [MS-OLEPS] 2.21. Raises struct.error, LookupError."""
    (section,) = struct.unpack_from("<I", summary, 44)
    (n_properties,) = struct.unpack_from("<I", summary, section + 4)
    places = struct.iter_unpack(
        "<II", summary[section + 8 : section + 8 + 8 * min(n_properties, MAX_PROPERTIES)]
    )
    at = {number: section + offset for number, offset in places}
    kind, length = struct.unpack_from("<II", summary, at[TITLE])
    start = at[TITLE] + 8
    if kind == WIDE_STRING:
        return summary[start : start + 2 * length].decode("utf-16-le", "replace").partition("\0")[0]
    codepage = struct.unpack_from("<H", summary, at[CODEPAGE] + 4)[0] if CODEPAGE in at else 1252
    encoding = "utf-8" if codepage == UTF8_CODEPAGE else f"cp{codepage}"
    return summary[start : start + length].decode(encoding, "replace").partition("\0")[0]
