"""Files that an Office document carries inside it: which they are, and their bytes. Reads none of them."""

from __future__ import annotations

import posixpath
import struct
from collections.abc import Iterable

from ingest.formats.ole import Ole
from ingest.formats.package import Package
from ingest.formats.reading import RefusedError, damaged
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits
from ingest.unit import Part

OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
KINDS = frozenset({"package", "oleObject", "aFChunk", "attachedFile"})
NATIVE = "\x01Ole10Native"
WHOLE = ("Package", "CONTENTS")  # an Office file, a PDF
OFFICE = ("WordDocument", "Workbook", "Book", "PowerPoint Document")
MAX_FILES = 200


def files(package: Package, relations: Iterable[tuple[str, str]], limits: ParseLimits) -> list[Part]:
    """Return the files among a part's relations, each once; objects that are no file (formulas, controls) are not.

    Args:
        relations: (last word of the type, member), as `Package.relations` tells them.
    """
    found: list[Part] = []
    for path in dict.fromkeys(path for kind, path in relations if kind in KINDS and package.has(path)):
        name = posixpath.basename(path)
        if _is_object(path):
            name = _ole_name(package, path, limits)
        if name and len(found) < MAX_FILES:
            # The key ends with the file's own name: its ending tells a CSV from other text.
            found.append(Part(path if path.endswith(f"/{name}") else f"{path}/{name}", (name,)))
    return found


def extract(data: bytes, key: str, limits: ParseLimits) -> bytes:
    """Return an embedded file's bytes, unwrapped.

    Raises:
        RefusedError: it is missing, broken or over a limit.
    """
    package = Package(data, limits)
    path = key if package.has(key) else posixpath.dirname(key)
    inner = package.read(path)
    if not _is_object(path) or not inner.startswith(OLE_MAGIC):
        return inner
    ole = Ole(inner, limits)
    if ole.has(NATIVE):
        return _native(ole.read(NATIVE))[1]
    whole = next((ole.read(name) for name in WHOLE if ole.has(name)), b"")
    return whole or inner


def _is_object(path: str) -> bool:
    """Tell a member that only its bytes describe: Office names it oleObject1.bin, OpenDocument "Object 1"."""
    return posixpath.splitext(path)[1].lower() in ("", ".bin")


def _ole_name(package: Package, path: str, limits: ParseLimits) -> str:
    """Return what an object is called, "" where it holds no file."""
    try:
        data = package.read(path)
        if not data.startswith(OLE_MAGIC):
            return ""
        ole = Ole(data, limits)
        if ole.has(NATIVE):
            return _native(ole.read(NATIVE))[0] or posixpath.basename(path)
    except RefusedError:  # the document is read without it
        return ""
    return posixpath.basename(path) if any(ole.has(name) for name in (*WHOLE, *OFFICE)) else ""


def _native(stream: bytes) -> tuple[str, bytes]:
    """Return name and bytes of a packaged file: size, flags, name, path, flags, temporary path, size, bytes."""
    try:
        label, at = _string(stream, 6)
        _, at = _string(stream, at)
        (n_path,) = struct.unpack_from("<I", stream, at + 4)
        at += 8 + n_path
        (n_bytes,) = struct.unpack_from("<I", stream, at)
    except (struct.error, ValueError) as error:
        raise damaged(
            "an embedded file is broken: open the document and save that file on its own"
        ) from error
    name = label.decode("cp1252", "replace").replace("\\", "/")
    return one_line(posixpath.basename(name)), stream[at + 4 : at + 4 + n_bytes]


def _string(stream: bytes, at: int) -> tuple[bytes, int]:
    end = stream.index(b"\0", at)
    return stream[at:end], end + 1
