"""The frames that the parse child, the parse server and the daemon exchange: a mark, a length, JSON.

Whoever reads a frame trusts nothing but its length, and that only up to a cap.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from dataclasses import asdict, dataclass
from typing import Any

from ingest.limits import ParseLimits

HEAD = struct.Struct(">4sQ")  # mark, bytes of JSON that follow
REQUEST = b"FILE"  # daemon → server: a `Request`
CHILD = b"KIDP"  # server → daemon: the child's pid
FACTS = b"FACT"  # child → server: hash, size, mtime and format, before anything that may crash
ANSWER = b"READ"  # child → server → daemon: a `Parsed`
BLOCK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """One child's work.

    Attributes:
        part: key of the file inside the file that is meant; None for the file itself.
        page: page, from 1, to be read by OCR; None for everything else.
        rung: which of the format's readers, from 0; those before it failed.
        converted: another program turns the file into a newer format first; `rung` then counts those programs.
    """

    path: str
    limits: ParseLimits
    part: str | None = None
    page: int | None = None
    rung: int = 0
    converted: bool = False

    @property
    def memory_mb(self) -> int:
        """Address space of the child, MiB."""
        if self.converted:
            return max(self.limits.memory_mb, self.limits.convert_memory_mb)  # the program inherits it
        return self.limits.memory_mb if self.page is None else self.limits.ocr_memory_mb

    def wall_s(self, n_bytes: int) -> float:
        """Return the seconds that the child may take for a file of this size."""
        if self.page is not None:
            return self.limits.ocr_timeout_s
        return self.limits.wall_s(n_bytes) + (self.limits.convert_timeout_s if self.converted else 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON; `from_json` reads it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Request:
        """Read what `to_json` wrote."""
        limits = data["limits"]
        tuples = {name: tuple(value) for name, value in limits.items() if isinstance(value, list)}
        return cls(**(data | {"limits": ParseLimits(**(limits | tuples))}))


class WireError(Exception):
    """A frame is cut off, too long or unknown: the process at the other end is gone or not to be trusted."""


def pack(mark: bytes, payload: bytes) -> bytes:
    """Return one frame."""
    return HEAD.pack(mark, len(payload)) + payload


def encode(data: Any) -> bytes:
    """Return JSON in ASCII, so that a file name's undecodable bytes (surrogates) survive."""
    return json.dumps(data).encode("ascii")


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything to a blocking descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view[:BLOCK]) :]


def split(data: bytes) -> list[tuple[bytes, bytes]]:
    """Return the complete frames in a buffer as (mark, payload); what is cut off at its end is left out."""
    frames = []
    at = 0
    while at + HEAD.size <= len(data):
        mark, length = HEAD.unpack_from(data, at)
        end = at + HEAD.size + length
        if end > len(data):
            break
        frames.append((mark, data[at + HEAD.size : end]))
        at = end
    return frames


def receive(channel: socket.socket, max_bytes: int) -> tuple[bytes, Any]:
    """Read one frame from a blocking socket.

    Returns:
        (mark, decoded JSON).
    Raises:
        WireError: the other end is gone, or sent more than `max_bytes` or no JSON.
        TimeoutError: the socket's own timeout passed.
    """
    mark, length = HEAD.unpack(_exactly(channel, HEAD.size))
    if length > max_bytes:
        raise WireError(f"a frame of {length} bytes, limit {max_bytes}")
    try:
        return mark, json.loads(_exactly(channel, length))
    except (ValueError, RecursionError) as error:
        raise WireError(f"a frame that is not JSON: {error}") from error


def _exactly(channel: socket.socket, n_bytes: int) -> bytes:
    data = bytearray()
    while len(data) < n_bytes:
        try:
            block = channel.recv(min(n_bytes - len(data), BLOCK))
        except ConnectionError as error:
            raise WireError("the other end is gone") from error
        if not block:
            raise WireError("the other end is gone")
        data += block
    return bytes(data)
