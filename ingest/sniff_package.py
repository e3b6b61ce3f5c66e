"""Which document a ZIP file is: by what the package says of itself, then by the members' names."""

from __future__ import annotations

import io
import re
import zipfile

from ingest.formats.package import BROKEN_ZIP

MIMETYPE = re.compile(
    rb"application/(?:vnd\.oasis\.opendocument\.(text|spreadsheet|presentation|graphics)(?:-template|-master|-web)*"
    rb"(?:-master-template)?|(epub)\+zip)\s*$"
)
OPEN_DOCUMENTS = {b"text": "odt", b"spreadsheet": "ods", b"presentation": "odp", b"graphics": "odg"}
MANIFEST = "META-INF/manifest.xml"
MANIFEST_ROOT = re.compile(rb'<[\w:]*file-entry\b[^>]*full-path="/"[^>]*>')
MEDIA_TYPE = re.compile(rb'media-type="([^"]*)"')
CONTAINER = "META-INF/container.xml"
CONTENT_TYPES = "[Content_Types].xml"  # the first member of every Office package; the rest may be cut off
MAIN_PART = re.compile(
    rb'ContentType="application/vnd\.(?:openxmlformats-officedocument\.|ms-)(wordprocessingml|word|presentationml|'
    rb'powerpoint|spreadsheetml|excel)\.([\w.]*)\+xml"|"application/vnd\.ms-excel\.sheet\.(binary)\.macroEnabled\.main"',
    re.IGNORECASE,
)
OFFICE = {
    b"wordprocessingml": "docx",
    b"word": "docx",
    b"presentationml": "pptx",
    b"powerpoint": "pptx",
    b"spreadsheetml": "xlsx",
    b"excel": "xlsx",
}
USUAL = (
    ("word/document.xml", "docx"),
    ("xl/workbook.bin", "xlsb"),
    ("xl/workbook.xml", "xlsx"),
    ("ppt/presentation.xml", "pptx"),
    ("index.apxl", "iwork"),
)
FOLDERS = (("word/", "docx"), ("xl/", "xlsx"), ("ppt/", "pptx"))
MAX_HEAD = 1024 * 1024  # of a member that says what the package is


def package_kind(data: bytes, extension: str) -> str:
    """Return the short name of a ZIP file: "docx", "odt", "epub", …, "zip" for an archive."""
    told = ""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            names = package.namelist()
            told = _told(package, set(names))
    except BROKEN_ZIP:
        # No readable directory, mostly a copy cut off: the names in the local headers still tell what it was.
        found = re.findall(rb"PK\x03\x04.{26}([\w\[\]./-]{1,80})", data, re.S)
        names = [name.decode("utf-8", "replace") for name in found]
    return told or _by_names(names, extension)


def _told(package: zipfile.ZipFile, names: set[str]) -> str:
    """Return what the package says of itself, "" for nothing that is known."""
    mimetype = MIMETYPE.match(_head(package, "mimetype") if "mimetype" in names else b"")
    if mimetype is None and MANIFEST in names:
        root = MANIFEST_ROOT.search(_head(package, MANIFEST))
        media = MEDIA_TYPE.search(root[0]) if root else None
        mimetype = MIMETYPE.match(media[1]) if media else None
    if mimetype is not None:
        return OPEN_DOCUMENTS[mimetype[1]] if mimetype[1] else "epub"
    if CONTAINER in names and any(name.lower().endswith(".opf") for name in names):
        return "epub"
    for found in MAIN_PART.finditer(_head(package, CONTENT_TYPES) if CONTENT_TYPES in names else b""):
        if found[3]:
            return "xlsb"
        if found[2].lower().endswith(b"main"):
            return OFFICE[found[1].lower()]
    return ""


def _head(package: zipfile.ZipFile, name: str) -> bytes:
    try:
        with package.open(name) as member:
            return member.read(MAX_HEAD)
    except BROKEN_ZIP:
        return b""


def _by_names(names: list[str], extension: str) -> str:
    known = set(names)
    for name, kind in USUAL:
        if name in known:
            return kind
    if any(name.startswith("Index/") for name in names):
        return "iwork"
    # An archive may well have a folder of that name: only a package says what its members are.
    if CONTENT_TYPES in known or "_rels/.rels" in known:
        for folder, kind in FOLDERS:
            if any(name.startswith(folder) for name in names):
                return kind
        if extension in (".docx", ".xlsx", ".pptx"):
            return extension[1:]
    return "zip"
