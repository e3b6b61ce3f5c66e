"""The characters of an old Word document: its file information block, and the pieces its text is kept in.

Knows where characters stand and what comes after what; what their formatting says is `doc_format`'s.
Source: [MS-DOC] 2.5 (Fib), 2.4.1 (retrieving text), 2.9.38 (Clx).
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.formats.encoding import decode
from ingest.formats.ole import Ole
from ingest.formats.reading import RefusedError, damaged, needs_password, too_large
from ingest.unit import Outcome

WORD_97 = 0xA5EC
WORD_6 = 0xA5DC
EAST_ASIAN_WORDS = (0xA697, 0xA698, 0xA699)  # Word 6 and 95 in their Thai, Japanese and Korean editions
FIRST_NFIB_97 = 0xA5  # Word 97 betas; files of Word 6 and 95 have 0x65 to 0x69
ENCRYPTED, USES_TABLE_1 = 0x0100, 0x0200
COMPRESSED = 0x4000_0000
MAX_CHARS = 20_000_000
# Sub-documents in the order of their characters.
MAIN, FOOTNOTES, HEADERS, MACROS, COMMENTS, ENDNOTES, BOXES, HEADER_BOXES = range(8)
# Places in the table stream, by their number in the block's list.
STYLES, CHARACTER_PAGES, PARAGRAPH_PAGES, CLX, LISTS, LIST_NUMBERS = 1, 12, 13, 33, 73, 74
NOTE_PLACES = {FOOTNOTES: (2, 3), COMMENTS: (4, 5), ENDNOTES: (46, 47)}  # where the marks and the texts are
# Word 6 and 95 wrote one byte a letter: what their languages are taken for where the bytes do not tell.
CODEPAGES = {
    **dict.fromkeys((0x05, 0x0E, 0x15, 0x18, 0x1A, 0x1B, 0x24), "cp1250"),
    **dict.fromkeys((0x02, 0x19, 0x22, 0x23), "cp1251"),
    0x08: "cp1253",
    0x0D: "cp1255",
    0x1F: "cp1254",
}
EAST_ASIAN = frozenset({0x04, 0x11, 0x12})


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the text.

    Attributes:
        start: of its first character in the text.
        offset: of its first byte in the document's stream.
        width: bytes a character.
    """

    start: int
    n_chars: int
    offset: int
    width: int


class DocText:
    """The text of one file, in the order people read it; sub-documents follow each other."""

    def __init__(self, ole: Ole, legacy_encoding: str) -> None:
        """Find and decode all characters.

        Raises:
            RefusedError: the file is locked, broken, over a limit, or of a Word that is not read.
            struct.error: an inner table is cut off.
        """
        self.stream = ole.read("WordDocument")
        ident, n_fib = struct.unpack_from("<HH", self.stream, 0)
        self.is_old = ident == WORD_6 or n_fib < FIRST_NFIB_97
        if ident in EAST_ASIAN_WORDS:
            raise _east_asian()
        if ident not in (WORD_97, WORD_6):
            raise damaged("its beginning is not that of a Word document")
        (flags,) = struct.unpack_from("<H", self.stream, 0x0A)
        if flags & ENCRYPTED:
            raise needs_password()
        table = "1Table" if flags & USES_TABLE_1 else "0Table"
        self._table = self.stream if self.is_old else ole.read(table)
        self.pieces = self._pieces()
        self._starts = [piece.start for piece in self.pieces]
        self.text = self._old_text(legacy_encoding) if self.is_old else "".join(map(_decoded, self._bytes()))
        self._ends = self._sub_documents()

    def place(self, number: int, to_end: bool = False) -> bytes:
        """Return what the block's list of places points at; b"" where there is nothing.

        Args:
            to_end: return what follows in the table stream, too: some tables count only their beginning.
        """
        start = (0x58 if self.is_old else 0x9A) + 8 * number
        offset, length = struct.unpack_from("<II", self.stream, start)
        if not length or length >= len(self._table):
            return b""
        return self._table[offset:] if to_end else self._table[offset : offset + length]

    def span(self, sub_document: int) -> tuple[int, int]:
        """Return the first character of a sub-document and the one after its last."""
        return self._ends[sub_document], self._ends[sub_document + 1]

    def offset(self, position: int) -> int:
        """Return where in the stream a character stands, which is how formatting knows it."""
        piece = self.pieces[max(0, bisect_right(self._starts, position) - 1)]
        return piece.offset + (position - piece.start) * piece.width

    def _bytes(self) -> Iterator[tuple[Piece, bytes]]:
        for piece in self.pieces:
            data = self.stream[piece.offset : piece.offset + piece.n_chars * piece.width]
            yield piece, data

    def _old_text(self, legacy_encoding: str) -> str:
        """Return one character a byte; what writer's language the file names is often wrong, so the bytes count."""
        (language,) = struct.unpack_from("<H", self.stream, 0x06)
        is_from_mac = self.stream[0x12] == 1
        legacy = CODEPAGES.get(language & 0xFF, legacy_encoding)
        data = b"".join(data.ljust(piece.n_chars, b"\0") for piece, data in self._bytes())
        text = data.decode("mac_roman") if is_from_mac else decode(data, legacy)
        if len(text) == len(data):
            return text
        if language & 0xFF in EAST_ASIAN:
            raise _east_asian()
        return data.decode("cp1252", "replace")

    def _pieces(self) -> list[Piece]:
        clx = self.place(CLX)
        if not clx and self.is_old:
            begin, end = struct.unpack_from("<II", self.stream, 0x18)
            return [Piece(0, max(0, min(end, len(self.stream)) - begin), begin, 1)]
        table = _piece_table(clx)
        n_pieces = max(0, (len(table) - 4) // 12)
        if not n_pieces:
            raise damaged("the order of its text is missing: open it in Word and save it as DOCX")
        starts = struct.unpack_from(f"<{n_pieces + 1}I", table, 0)
        pieces = []
        for i, (start, end) in enumerate(pairwise(starts)):
            (place,) = struct.unpack_from("<I", table, 4 * (n_pieces + 1) + 8 * i + 2)
            if end > MAX_CHARS:
                raise too_large(f"it claims to hold over {MAX_CHARS} characters")
            if end < start:
                raise damaged("the order of its text is broken: open it in Word and save it as DOCX")
            pieces.append(self._piece(start, end - start, place))
        return pieces

    def _piece(self, start: int, n_chars: int, place: int) -> Piece:
        if self.is_old:
            return Piece(start, n_chars, place, 1)
        if place & COMPRESSED:
            return Piece(start, n_chars, (place & ~COMPRESSED & 0x7FFF_FFFF) // 2, 1)
        return Piece(start, n_chars, place & 0x3FFF_FFFF, 2)

    def _sub_documents(self) -> Sequence[int]:
        counts = struct.unpack_from("<8I", self.stream, 0x34 if self.is_old else 0x4C)
        ends = [0]
        for count in counts:
            ends.append(min(ends[-1] + count, len(self.text)))
        return ends


def _east_asian() -> RefusedError:
    reason = "this is a Word 6 or 95 document in an East Asian script: save it as DOCX"
    return RefusedError(Outcome.UNSUPPORTED, reason)


def _piece_table(clx: bytes) -> bytes:
    place = 0
    while place + 5 <= len(clx):
        if clx[place] == 2:
            (length,) = struct.unpack_from("<I", clx, place + 1)
            return clx[place + 5 : place + 5 + length]
        place += 3 + struct.unpack_from("<H", clx, place + 1)[0]
    return b""


def _decoded(found: tuple[Piece, bytes]) -> str:
    """Return exactly as many characters as the piece has: formatting counts them (UTF-16 code units)."""
    piece, data = found
    if piece.width == 1:
        text = data.decode("cp1252", "replace")
    else:
        n_units = len(data) // 2
        text = data[: 2 * n_units].decode("utf-16-le", "surrogatepass")
        if len(text) != n_units:  # some characters take two units
            text = "".join(map(chr, struct.unpack_from(f"<{n_units}H", data)))
    return text.ljust(piece.n_chars, "\0")
