"""Office packages: bounded reading of ZIP members and of the XML in them. Trusts no size that a header claims."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from typing import Any
from urllib.parse import unquote

from lxml import etree

from ingest.formats.reading import RefusedError, damaged, needs_password, too_large
from ingest.limits import MIB, ParseLimits
from ingest.unit import Outcome

BLOCK = 1024 * 1024
REPAIR = "open it in the program that made it and save it again, or ask for a new copy"
DOCTYPE = re.compile(rb"<!DOCTYPE", re.IGNORECASE)
RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"

# How any XML is parsed: nothing is fetched, expanded or nested over 256 deep.
SAFE_XML: dict[str, Any] = {
    "resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False, "remove_comments": True,
    "remove_pis": True,
}  # fmt: skip
# What the standard library lets out when an archive contradicts itself.
BROKEN_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    NotImplementedError,
    ValueError,
    RuntimeError,
)


class Package:
    """A ZIP file in memory whose members are read up to the limits, by the bytes that come out."""

    def __init__(self, data: bytes, limits: ParseLimits) -> None:
        """Read the directory.

        Raises:
            RefusedError: it is no readable ZIP, has a password, or has too many members.
        """
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError) as error:
            raise damaged("the file is cut off or broken: copy it again from where it came from") from error
        members = self._zip.infolist()
        if len(members) > limits.max_zip_members:
            raise too_large(f"it has {len(members)} parts, more than the limit of {limits.max_zip_members}")
        self._members = {info.filename.replace("\\", "/").lstrip("/"): info for info in members}
        self._spelled = {name.lower(): name for name in self._members}
        self._limits = limits
        self._n_read = 0
        self.broken: list[str] = []  # optional parts that could not be read

    def has(self, name: str) -> bool:
        """Tell whether there is such a member; upper and lower case are the same, as Office takes them."""
        return name.lower() in self._spelled

    def names(self) -> list[str]:
        """Return the members' names, in the order of the directory."""
        return list(self._members)

    def main(self, default: str) -> str:
        """Return the Office document's main part: what the package says, not the usual name."""
        targets = (path for kind, path in self.relations("").values() if kind == "officeDocument")
        return next(targets, default)

    def read(self, name: str) -> bytes:
        """Return a member's bytes.

        Raises:
            RefusedError: it is missing, broken, over a limit or has a password.
        """
        info = self._members.get(self._spelled.get(name.lower(), ""))
        if info is None:
            raise damaged(f"its part {name} is missing: {REPAIR}")
        if info.flag_bits & 1:
            raise needs_password()
        data = bytearray()
        try:
            with self._zip.open(info) as member:
                while block := member.read(BLOCK):
                    data += block
                    self._count(len(block), len(data), name)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, ValueError) as error:
            raise damaged(f"its part {name} is broken: {REPAIR}") from error
        return bytes(data)

    def xml(self, name: str) -> Any:
        """Return the root element of a member.

        Raises:
            RefusedError: as `read`; or it is no XML, is nested over 256 deep, or has a document type.
        """
        return parse_xml(self.read(name), name)

    def optional(self, name: str) -> Any:
        """Return the root element of a member that the text can do without; None where it is missing or broken.

        Raises:
            RefusedError: it is over a limit.
        """
        try:
            return self.xml(name) if self.has(name) else None
        except RefusedError as refusal:
            if refusal.outcome is Outcome.DAMAGED:
                self.broken.append(name)
                return None
            raise

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """Return id → (last word of the type, target as a member's name) of a member; "" for the package's own."""
        folder, base = posixpath.split(name)
        source = posixpath.join(folder, "_rels", base + ".rels")
        root = self.optional(source)
        found: dict[str, tuple[str, str]] = {}
        for relation in () if root is None else root.iter(RELATION):
            if relation.get("TargetMode") == "External":
                continue
            target = unquote(relation.get("Target", "")).replace("\\", "/")
            path = (
                target.lstrip("/")
                if target.startswith("/")
                else posixpath.normpath(posixpath.join(folder, target))
            )
            found[relation.get("Id", "")] = (relation.get("Type", "").rpartition("/")[2], path)
        return found

    def _count(self, n_bytes: int, n_part: int, name: str) -> None:
        self._n_read += n_bytes
        if n_part > self._limits.max_part_mb * MIB:
            raise too_large(f"its part {name} unpacks to more than {self._limits.max_part_mb} MB")
        if self._n_read > self._limits.max_zip_mb * MIB:
            raise too_large(f"it unpacks to more than {self._limits.max_zip_mb} MB")


def parse_xml(data: bytes, name: str) -> Any:
    """Parse XML that needs nothing from outside; no Office program writes a document type.

    Raises:
        RefusedError: it is no XML, is nested over 256 deep, or has a document type.
    """
    if DOCTYPE.search(data[:4096]):
        raise damaged(f"its part {name} has a document type, as no Office program writes one: {REPAIR}")
    parser = etree.XMLParser(**SAFE_XML)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise damaged(f"its part {name} is broken: {REPAIR}") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise damaged(f"its part {name} has a document type, as no Office program writes one: {REPAIR}")
    return root
