"""The records of an old PowerPoint file: a tree in one stream, and the directory that says which are in force.

Each save appends; only the directory tells what a slide's last state is. Knows no slides: `ppt` reads those.
Source: [MS-PPT] 2.3.1 (record header), 2.3.2 to 2.3.5 (current user, user edit, persist directory).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.formats.ole import Ole
from ingest.formats.reading import RefusedError, damaged, needs_password
from ingest.unit import Outcome

HEADER = 8
CONTAINER = 0x0F
MAX_DEPTH = 60
USER_EDIT, PERSIST_DIRECTORY, CRYPT_SESSION = 0x0FF5, 0x1772, 0x2F14
LOCKED_TOKEN = 0xF3D1_C4DF
LOCKED_EDIT_BYTES = 32  # a user edit of 28 bytes has no place for a key


@dataclass(frozen=True, slots=True)
class Record:
    """One record; `start` and `end` bound what follows its header."""

    data: bytes
    kind: int
    version: int
    instance: int
    start: int
    end: int

    @property
    def body(self) -> bytes:
        """Its bytes without the header."""
        return self.data[self.start : self.end]

    def children(self) -> Iterator[Record]:
        """Yield the records directly inside."""
        place = self.start
        while place + HEADER <= self.end:
            record = record_at(self.data, place, self.end)
            yield record
            place = record.end

    def all(self, *kinds: int, depth: int = 0) -> Iterator[Record]:
        """Yield the records of some kinds at any depth, in the order of the file."""
        for record in self.children():
            if record.kind in kinds:
                yield record
            elif record.version == CONTAINER and depth < MAX_DEPTH:
                yield from record.all(*kinds, depth=depth + 1)

    def first(self, kind: int) -> Record | None:
        """Return the first record of a kind directly inside."""
        return next((record for record in self.children() if record.kind == kind), None)


def record_at(data: bytes, place: int, limit: int | None = None) -> Record:
    """Return the record whose header stands at a place; it ends at `limit` at the latest.

    Raises:
        struct.error: there is no room for a header.
    """
    version, kind, length = struct.unpack_from("<HHI", data, place)
    end = min(place + HEADER + length, len(data) if limit is None else limit)
    return Record(data, kind, version & 0x0F, version >> 4, place + HEADER, end)


class PptFile:
    """The stream with the text, and where each object's last state is in it."""

    def __init__(self, ole: Ole) -> None:
        """Read the directory.

        Raises:
            RefusedError: the file is locked or broken.
            struct.error: a record is cut off.
        """
        if ole.has("PP40") and not ole.has("PowerPoint Document"):
            reason = "this is a PowerPoint 95 presentation: save it as PPTX"
            raise RefusedError(Outcome.UNSUPPORTED, reason)
        self.data = ole.read("PowerPoint Document")
        current = ole.read("Current User") if ole.has("Current User") else b""
        if len(current) >= 20 and struct.unpack_from("<I", current, 12)[0] == LOCKED_TOKEN:
            raise needs_password()
        self.places: dict[int, int] = {}
        self.document_id = 0
        edit = struct.unpack_from("<I", current, 16)[0] if len(current) >= 20 else 0
        self._read_edits(edit if self._is(edit, USER_EDIT) else self._last_edit())

    def object(self, persist_id: int) -> Record | None:
        """Return an object by its number, in its last state."""
        place = self.places.get(persist_id)
        return None if place is None or place + HEADER > len(self.data) else record_at(self.data, place)

    def _is(self, place: int, kind: int) -> bool:
        return place + HEADER <= len(self.data) and record_at(self.data, place).kind == kind

    def _last_edit(self) -> int:
        whole = Record(self.data, 0, CONTAINER, 0, 0, len(self.data))
        edits = [record.start - HEADER for record in whole.children() if record.kind == USER_EDIT]
        if not edits:
            raise damaged("its list of slides is missing: open it in PowerPoint and save it as PPTX")
        return edits[-1]

    def _read_edits(self, place: int) -> None:
        """Follow the saves from the last to the first; what a later save wrote counts."""
        seen: set[int] = set()
        while place not in seen and self._is(place, USER_EDIT):
            seen.add(place)
            edit = record_at(self.data, place)
            if edit.end - edit.start >= LOCKED_EDIT_BYTES:
                raise needs_password()
            before, directory, document_id = struct.unpack_from("<III", self.data, edit.start + 8)
            self.document_id = self.document_id or document_id
            if self._is(directory, PERSIST_DIRECTORY):
                self._read_directory(record_at(self.data, directory).body)
            place = before

    def _read_directory(self, body: bytes) -> None:
        place = 0
        while place + 4 <= len(body):
            (span,) = struct.unpack_from("<I", body, place)
            first, n_objects = span & 0x0F_FFFF, min(span >> 20, (len(body) - place - 4) // 4)
            for i in range(n_objects):
                (offset,) = struct.unpack_from("<I", body, place + 4 + 4 * i)
                self.places.setdefault(first + i, offset)
            place += 4 + 4 * n_objects
