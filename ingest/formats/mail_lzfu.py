"""The compressed rich text of Outlook messages, unpacked. Source: [MS-OXRTFCP]."""

from __future__ import annotations

import struct

from ingest.formats.reading import damaged, too_large

COMPRESSED, PLAIN = b"LZFu", b"MELA"
WINDOW = 4096
# What the window holds before the first byte, so that short texts pack well.
PRELOAD = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0" b"\r\n" rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)  # fmt: skip


def unpacked(data: bytes, max_bytes: int) -> bytes:
    """Return the rich text.

    Raises:
        RefusedError: it is no such text, or unpacks to more than `max_bytes`.
    """
    if len(data) < 16:
        raise damaged("its formatted text is cut off")
    n_raw, magic = struct.unpack_from("<I4s", data, 4)
    if magic == PLAIN:
        return data[16 : 16 + n_raw]
    if magic != COMPRESSED:
        raise damaged("its formatted text is broken")
    window = bytearray(PRELOAD.ljust(WINDOW, b" "))
    out = bytearray()
    at, write = 16, len(PRELOAD)
    while at < len(data):
        control, at = data[at], at + 1
        for bit in range(8):
            if control >> bit & 1:
                if at + 1 >= len(data):
                    return bytes(out)
                reference, at = data[at] << 8 | data[at + 1], at + 2
                offset, length = reference >> 4, (reference & 15) + 2
                if offset == write:  # points at itself: the end
                    return bytes(out)
            elif at < len(data):
                window[write], offset, length, at = data[at], write, 1, at + 1
            else:
                return bytes(out)
            for i in range(length):
                byte = window[(offset + i) % WINDOW]
                window[write] = byte
                out.append(byte)
                write = (write + 1) % WINDOW
        if len(out) > max_bytes:
            raise too_large("its formatted text unpacks to more than a part of a file may hold")
    return bytes(out)
