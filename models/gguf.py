"""Reading the head of a GGUF file: enough to say what it is, or what is wrong with it; no weights.

Source: ggml-org/ggml, docs/gguf.md (versions 2 and 3, little-endian).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from models.errors import ModelFileError

MAGIC = b"GGUF"
# Far above any real header (a vocabulary has some 10^5 entries): what is larger is damage, not data.
MAX_COUNT = 10_000_000
MAX_LIST = 4096  # numbers for each layer: far fewer
ALIGNMENT = 32  # of the weights, where the file does not say

_STRING, _ARRAY = 8, 9
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
# Beginnings of files that are taken for a model most often.
_OTHERS = {
    b"PK\x03\x04": "a zip archive or a wheel",
    b"<!DO": "a web page",
    b"<htm": "a web page",
    b"vers": "a Git LFS pointer; the file itself was not downloaded",
    b"ggjt": "an old GGML file; convert it to GGUF",
    b"lmgg": "an old GGML file; convert it to GGUF",
    b"FUGG": "a big-endian GGUF file; it is for other machines",
    b"\x1f\x8b\x08\x00": "a gzip archive",
    b"": "an empty file",
}
# Architectures that embed, see or read, but do not chat.
_NOT_CHAT = ("bert", "clip", "t5encoder", "jina", "whisper", "gte")


@dataclass(frozen=True, slots=True)
class GgufParts:
    """Everything before the weights.

    Attributes:
        entries: key → value; lists of numbers up to `MAX_LIST`, longer ones and lists of texts are None.
        tensors: name, first byte counted from `data_start`, and shape of each.
        size: of the file in bytes.
    """

    entries: dict[str, Any]
    tensors: list[tuple[str, int, tuple[int, ...]]]
    data_start: int
    size: int


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a GGUF file says of itself.

    Attributes:
        n_ctx_train: tokens it was trained for; None where it does not say.
    """

    architecture: str
    n_ctx_train: int | None


def read_header(file: Path) -> GgufHeader:
    """Read what a chat model's file says of itself.

    Raises:
        ModelFileError: it is no GGUF file, is cut short, or is no chat model; the message says which.
    """
    return _judge(file, read_parts(file).entries)


def read_parts(file: Path) -> GgufParts:
    """Read everything before the weights; a second for a vocabulary of 150,000.

    Raises:
        ModelFileError: it is no GGUF file, or is cut short.
    """
    try:
        with file.open("rb") as stream:
            return _read(file, stream)
    except (struct.error, UnicodeDecodeError, MemoryError, OverflowError) as error:
        raise ModelFileError(
            f"{file}: begins as a GGUF file, but its header is damaged or cut short"
        ) from error
    except OSError as error:
        raise ModelFileError(f"{file}: cannot be read: {error.strerror}") from error


def _read(file: Path, stream: BinaryIO) -> GgufParts:
    magic = stream.read(4)
    if magic != MAGIC:
        other = _OTHERS.get(magic, f"it begins with {magic!r}")
        raise ModelFileError(f"{file}: not a GGUF file: {other}")
    (version,) = _unpack(stream, "I")
    if version not in (2, 3):
        raise ModelFileError(f"{file}: GGUF version {version}; versions 2 and 3 can be used")
    n_tensors, n_entries = _unpack(stream, "QQ")
    if max(n_tensors, n_entries) > MAX_COUNT:
        raise ModelFileError(f"{file}: {n_tensors} tensors and {n_entries} entries: the header is damaged")
    entries = {_text(stream): _value(stream, _unpack(stream, "I")[0]) for _ in range(n_entries)}
    tensors = [_tensor(stream) for _ in range(n_tensors)]
    needed = stream.tell() + max((offset for _, offset, _ in tensors), default=0)
    size = file.stat().st_size
    if size <= needed:
        raise ModelFileError(f"{file}: cut short: {size} bytes, more than {needed} are needed; copy it again")
    step = int(entries.get("general.alignment") or ALIGNMENT)
    return GgufParts(entries, tensors, (stream.tell() + step - 1) // step * step, size)


def _judge(file: Path, entries: dict[str, Any]) -> GgufHeader:
    architecture = str(entries.get("general.architecture", ""))
    if entries.get("split.count", 0) > 1:
        raise ModelFileError(
            f"{file}: one of {entries['split.count']} pieces; join them with llama-gguf-split --merge"
        )
    kind = entries.get("general.type", "model")
    if kind != "model":
        raise ModelFileError(f"{file}: an {kind}, not a model of its own")
    if not architecture or any(word in architecture for word in _NOT_CHAT):
        raise ModelFileError(f"{file}: architecture {architecture!r} cannot chat")
    n_ctx = entries.get(f"{architecture}.context_length")
    return GgufHeader(architecture, int(n_ctx) if n_ctx is not None else None)


def _unpack(stream: BinaryIO, layout: str) -> tuple[Any, ...]:
    layout = "<" + layout
    return struct.unpack(layout, stream.read(struct.calcsize(layout)))


def _text(stream: BinaryIO) -> str:
    (length,) = _unpack(stream, "Q")
    if length > MAX_COUNT:
        raise OverflowError(f"a text of {length} bytes")
    return _exactly(stream, length).decode("utf-8", "replace")


def _value(stream: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _text(stream)
    if kind == _ARRAY:
        return _array(stream)
    if kind not in _SCALARS:
        raise OverflowError(f"a value of unknown type {kind}")
    return _unpack(stream, _SCALARS[kind])[0]


def _array(stream: BinaryIO) -> tuple[Any, ...] | None:
    kind, count = _unpack(stream, "IQ")
    if count > MAX_COUNT:
        raise OverflowError(f"an array of {count} values")
    if kind in _SCALARS:
        data = _exactly(stream, count * struct.calcsize("<" + _SCALARS[kind]))
        return struct.unpack(f"<{count}{_SCALARS[kind]}", data) if count <= MAX_LIST else None
    for _ in range(count):
        _value(stream, kind)
    return None


def _tensor(stream: BinaryIO) -> tuple[str, int, tuple[int, ...]]:
    name = _text(stream)
    (n_dims,) = _unpack(stream, "I")
    *shape, _, offset = _unpack(stream, f"{n_dims}QIQ")
    return name, int(offset), tuple(shape)


def _exactly(stream: BinaryIO, n: int) -> bytes:
    data = stream.read(n)
    if len(data) != n:
        raise OverflowError(f"{len(data)} bytes where {n} were announced")
    return data
