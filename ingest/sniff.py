"""What a file is, told from its bytes; the name only chooses between kinds of plain text. Reads nothing else."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import PurePath

from ingest.formats.encoding import decode
from ingest.sniff_mail import mail_kind

# Plain words for staff: "this is …".
WORDS = {
    "docx": "a Word document (DOCX)",
    "pdf": "a PDF",
    "html": "a web page (HTML)",
    "xlsx": "an Excel workbook (XLSX)",
    "xlsb": "an Excel workbook (XLSB)",
    "pptx": "a PowerPoint presentation (PPTX)",
    "odt": "an OpenDocument text (ODT)",
    "ods": "an OpenDocument spreadsheet (ODS)",
    "odp": "an OpenDocument presentation (ODP)",
    "epub": "an e-book (EPUB)",
    "zip": "a ZIP archive",
    "iwork": "an Apple iWork document",
    "doc": "an old Word document (DOC)",
    "xls": "an old Excel workbook (XLS)",
    "ppt": "an old PowerPoint presentation (PPT)",
    "msg": "an Outlook message (MSG)",
    "ole": "an old Office file",
    "office-encrypted": "an Office document with a password",
    "rtf": "a rich text document (RTF)",
    "eml": "an e-mail (EML)",
    "mhtml": "a saved web page (MHTML)",
    "mbox": "a mailbox (MBOX)",
    "json": "a data file (JSON)",
    "ipynb": "a notebook (IPYNB)",
    "xml": "a data file (XML)",
    "png": "a picture (PNG)",
    "jpeg": "a picture (JPEG)",
    "gif": "a picture (GIF)",
    "tiff": "a picture or scan (TIFF)",
    "bmp": "a picture (BMP)",
    "webp": "a picture (WebP)",
    "heic": "a photo (HEIC)",
    "media": "a sound or video file",
    "program": "a program",
    "archive": "a packed archive",
    "tnef": "an Outlook attachment wrapper (winmail.dat)",
    "database": "a database (SQLite)",
    "binary": "a file of a type that is not known here",
}
PICTURES = frozenset({"png", "jpeg", "gif", "tiff", "bmp", "webp", "heic"})
MAGIC = (
    (b"{\\rtf", "rtf"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
    (b"BM", "bmp"),
    (b"\x78\x9f\x3e\x22", "tnef"),
    (b"\x7fELF", "program"),
    (b"MZ", "program"),
    (b"\x1f\x8b", "archive"),
    (b"BZh", "archive"),
    (b"\xfd7zXZ\x00", "archive"),
    (b"7z\xbc\xaf\x27\x1c", "archive"),
    (b"Rar!\x1a\x07", "archive"),
    (b"\x28\xb5\x2f\xfd", "archive"),
    (b"SQLite format 3\x00", "database"),
    (b"OggS", "media"),
    (b"fLaC", "media"),
    (b"ID3", "media"),
    (b"\x1a\x45\xdf\xa3", "media"),
)
SHORT_MAGIC = {b"BM", b"MZ", b"BZh", b"ID3"}  # also how a text may begin: only if control bytes follow
PACKAGES = (
    ("word/", "docx"),
    ("xl/", "xlsx"),
    ("ppt/", "pptx"),
    ("index.apxl", "iwork"),
    ("Index/", "iwork"),
)
MIMETYPES = {
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.spreadsheet": "ods",
    b"application/vnd.oasis.opendocument.presentation": "odp",
    b"application/epub+zip": "epub",
}
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Stream names stand in OLE directories in UTF-16; the order matters: an .msg may hold an attached .doc.
OLE_STREAMS = (
    ("EncryptedPackage", "office-encrypted"),
    ("__properties_version1.0", "msg"),
    ("WordDocument", "doc"),
    ("Workbook", "xls"),
    ("PowerPoint Document", "ppt"),
)
HEAD = 8 * 1024
HTML_START = re.compile(
    r"(?:\s|<!--.*?-->|<\?xml[^>]*>|<!doctype[^>]*>)*<(?:html|head|body|title|meta|table|div|p|h[1-6]|script|style|ul|ol|"
    r"center|font|span|a|b|br|form)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
HTML_DOCTYPE = re.compile(r"\s*(?:<!--.*?-->\s*)*<!doctype\s+html", re.IGNORECASE | re.DOTALL)
BY_EXTENSION = {
    ".md": "md",
    ".markdown": "md",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".log": "log",
    ".htm": "html",
    ".html": "html",
    # "Excel" exports are often delimited text under a spreadsheet's name.
    ".xls": "csv",
    ".xlsx": "csv",
    ".ods": "csv",
}


def sniff(data: bytes, name: str) -> str:
    """Return the format's short name: "txt", "pdf", "docx", …, or a key of `WORDS` for what has no reader."""
    if not data:
        return "empty"
    return _by_magic(data) or _by_text(data, name)


def _by_magic(data: bytes) -> str:
    if data.startswith(b"%PDF-"):
        return "pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _package(data)
    if data.startswith(OLE_MAGIC):
        return _ole(data)
    for magic, kind in MAGIC:
        if data.startswith(magic) and (magic not in SHORT_MAGIC or _has_controls(data[:256])):
            return kind
    if data[4:8] == b"ftyp":
        return "heic" if data[8:12] in (b"heic", b"heix", b"mif1", b"avif") else "media"
    if data.startswith(b"RIFF"):
        return "webp" if data[8:12] == b"WEBP" else "media"
    # Not earlier: a mail with a small PDF inside would be taken for a PDF.
    return "pdf" if b"%PDF-" in data[:HEAD] and not mail_kind(data[:HEAD].decode("latin-1")) else ""


def _package(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            names = package.namelist()
            if "mimetype" in names and package.getinfo("mimetype").file_size < 100:
                kind = MIMETYPES.get(package.read("mimetype").strip())
                if kind:
                    return kind
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError, EOFError):
        # No readable directory, mostly a copy cut off: the names in the local headers still tell what it was.
        names = [
            name.decode("utf-8", "replace")
            for name in re.findall(rb"PK\x03\x04.{26}([\w\[\]./-]{1,80})", data, re.S)
        ]
    if "xl/workbook.bin" in names:
        return "xlsb"
    for prefix, kind in PACKAGES:
        if any(name.startswith(prefix) for name in names):
            return kind
    return "zip"


def _ole(data: bytes) -> str:
    for stream, kind in OLE_STREAMS:
        if stream.encode("utf-16-le") in data:
            return kind
    return "ole"


def _has_controls(sample: bytes) -> bool:
    return any(byte < 9 or 13 < byte < 27 for byte in sample)


def _by_text(data: bytes, name: str) -> str:
    text = decode(data[:HEAD])
    controls = sum(ch < "\t" or "\r" < ch < "\x1b" or ch == "\ufffd" for ch in text)
    if controls * 10 > len(text):
        return "binary"
    extension = PurePath(name).suffix.lower()
    start = text.lstrip("\ufeff \t\r\n")
    if kind := mail_kind(text):
        return kind
    if HTML_DOCTYPE.match(text) or HTML_START.match(text):
        return "html" if extension not in (".md", ".markdown") else "md"
    if start.startswith("<?xml") or (extension == ".xml" and start.startswith("<")):
        return "xml"
    if start.startswith(("{", "[")) and extension in (".json", ".ipynb", ".jsonl", ".geojson"):
        return "ipynb" if extension == ".ipynb" else "json"
    return BY_EXTENSION.get(extension, "txt")
