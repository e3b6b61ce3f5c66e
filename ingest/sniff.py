"""What a file is, told from its bytes; the name only chooses between kinds of plain text. Reads nothing else."""

from __future__ import annotations

import codecs
import re
from pathlib import PurePath

from ingest.formats.encoding import decode
from ingest.formats.ole import root_names
from ingest.sniff_mail import mail_kind
from ingest.sniff_package import package_kind
from ingest.sniff_text import text_kind

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
    "odg": "an OpenDocument drawing (ODG)",
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
    "yaml": "a data file (YAML)",
    "config": "a file of settings",
    "code": "a file of source code",
    "subtitles": "a file of subtitles",
    "misnamed": "a plain text under the name of an Office document",
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
    "tnef": "an Outlook wrapper (winmail.dat; ask the sender for the file itself)",
    "database": "a database (SQLite)",
    "access": "an Access database",
    "mail-store": "an Outlook data file (PST)",
    "drawing": "a CAD drawing (DWG)",
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
    (b"\x00\x01\x00\x00Standard ", "access"),
    (b"!BDN", "mail-store"),
    (b"AC10", "drawing"),
    (b"MSCF", "archive"),
    (b"\x09\x04\x06\x00", "xls"),  # Excel 4, 3 and 2
    (b"\x09\x02\x06\x00", "xls"),
    (b"\x09\x00\x04\x00", "xls"),
    (b"\xff\xfb", "media"),
    (b"OggS", "media"),
    (b"fLaC", "media"),
    (b"ID3", "media"),
    (b"\x1a\x45\xdf\xa3", "media"),
)
SHORT_MAGIC = {
    b"BM",
    b"MZ",
    b"BZh",
    b"ID3",
    b"AC10",
    b"MSCF",
    b"\xff\xfb",
}  # also how a text may begin: only if control bytes follow
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# In OLE directories, in UTF-16. Where the directory is broken, the order counts: an .msg may hold an attached .doc.
OLE_STREAMS = (
    ("EncryptedPackage", "office-encrypted"),
    ("__properties_version1.0", "msg"),
    ("WordDocument", "doc"),
    ("Workbook", "xls"),
    ("PowerPoint Document", "ppt"),
    ("PP40", "ppt"),  # PowerPoint 95
    ("Book\0", "xls"),  # Excel 5 and 95
)
HEAD = 8 * 1024
PDF_INSIDE = re.compile(rb"%PDF-[12]\.\d")


def sniff(data: bytes, name: str) -> str:
    """Return the format's short name: "txt", "pdf", "docx", …, or a key of `WORDS` for what has no reader."""
    if not data:
        return "empty"
    return _by_magic(data, name) or _by_text(data, name)


def _by_magic(data: bytes, name: str) -> str:
    if data.startswith(b"%PDF-"):
        return "pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return package_kind(data, PurePath(name).suffix.lower())
    if data.startswith(OLE_MAGIC):
        return _ole(data)
    for magic, kind in MAGIC:
        if data.startswith(magic) and (magic not in SHORT_MAGIC or _has_controls(data[:256])):
            return kind
    if data[4:8] == b"ftyp":
        return "heic" if data[8:12] in (b"heic", b"heix", b"mif1", b"avif") else "media"
    if data[257:262] == b"ustar":
        return "archive"
    if data.startswith(b"RIFF"):
        return "webp" if data[8:12] == b"WEBP" else "media"
    # Not earlier: a mail with a small PDF inside would be taken for a PDF.
    is_pdf = (
        PDF_INSIDE.search(data[:HEAD]) and b"endobj" in data and not mail_kind(data[:HEAD].decode("latin-1"))
    )
    return "pdf" if is_pdf else ""


def _ole(data: bytes) -> str:
    """Tell by what stands at the root: a message may carry a locked document, and a document a message."""
    names = root_names(data)
    for stream, kind in OLE_STREAMS:
        if stream.rstrip("\0").lower() in names or (not names and stream.encode("utf-16-le") in data):
            return kind
    return "ole"


def _has_controls(sample: bytes) -> bool:
    return any(byte < 9 or 13 < byte < 27 for byte in sample)


def _by_text(data: bytes, name: str) -> str:
    head = _head(data)
    controls = sum(ch < "\t" or "\r" < ch < "\x1b" or ch == "\ufffd" for ch in head)
    if controls * 20 > len(head):  # 8 % of random bytes are controls
        return "binary"
    path = PurePath(name)
    return text_kind(head, data, path.name.lower(), path.suffix.lower())


def _head(data: bytes) -> str:
    """Decode the beginning; a character of UTF-8 that its end cuts in two must not make it another encoding."""
    head = data[:HEAD]
    try:
        return codecs.getincrementaldecoder("utf-8-sig")().decode(head) if b"\0" not in head else decode(head)
    except UnicodeDecodeError:
        return decode(head)
