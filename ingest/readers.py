"""Which reader reads which format, in which order they are tried, and how files inside files are taken out.

Loaded by the parse server, which forks: a reader's import must start no thread and open nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from ingest.formats import (
    code,
    csv,
    doc,
    docx,
    embedded,
    eml,
    epub,
    html,
    ipynb,
    json_data,
    mbox,
    md,
    mhtml,
    msg,
    odp,
    ods,
    odt,
    pdf,
    pdf_attachments,
    pdf_scan,
    picture,
    ppt,
    pptx,
    rtf,
    subtitles,
    txt,
    xls,
    xlsx,
    xml_data,
    zip_archive,
)
from ingest.formats.reading import Reading
from ingest.limits import ParseLimits

Reader = Callable[[bytes, ParseLimits], Reading]
Extractor = Callable[[bytes, str, ParseLimits], bytes]  # (the outer file, a part's key) → the part's bytes
PageReader = Callable[[bytes, int, ParseLimits], Reading]  # (file, page from 1) → that page, by OCR

# By the short names of `sniff`. The next reader in a row is tried, in a new child, when the one before it crashed,
# ran out of time or called the file damaged.
READERS: dict[str, tuple[Reader, ...]] = {
    "txt": (lambda data, limits: txt.read(data, limits.legacy_encoding),),
    "log": (lambda data, limits: txt.read_log(data, limits.legacy_encoding),),
    "misnamed": (txt.read_misnamed,),
    "code": (code.read,),
    "config": (code.read_config,),
    "yaml": (code.read_yaml,),
    "json": (json_data.read,),
    "ipynb": (ipynb.read,),
    "xml": (xml_data.read,),
    "subtitles": (subtitles.read,),
    "md": (lambda data, limits: md.read(data, limits.legacy_encoding),),
    "csv": (lambda data, limits: csv.read(data, limits.legacy_encoding),),
    "tsv": (lambda data, limits: csv.read(data, limits.legacy_encoding),),
    "html": (lambda data, limits: html.read(data, limits.legacy_encoding),),
    "pdf": (pdf.read, pdf.rescue),
    "docx": (docx.read,),
    "pptx": (pptx.read,),
    "odt": (odt.read,),
    "odp": (odp.read,),
    "odg": (odp.read,),
    "epub": (epub.read,),
    "xlsx": (xlsx.read, xls.read_package),
    "xlsb": (xls.read_package,),
    "xls": (xls.read,),
    "ods": (ods.read,),
    "doc": (doc.read,),
    "ppt": (ppt.read,),
    "rtf": (rtf.read,),
    "eml": (eml.read,),
    "mbox": (mbox.read,),
    "mhtml": (mhtml.read,),
    "msg": (msg.read,),
    "zip": (zip_archive.read,),
}

PICTURES = ("png", "jpeg", "gif", "tiff", "bmp", "webp")
READERS |= dict.fromkeys(PICTURES, (picture.read,))

# For formats whose readings have `parts`.
EXTRACTORS: dict[str, Extractor] = {
    "docx": embedded.extract,
    "pptx": embedded.extract,
    "odt": embedded.extract,
    "odp": embedded.extract,
    "xlsx": embedded.extract,
    "pdf": pdf_attachments.extract,
    "eml": eml.extract,
    "mbox": mbox.extract,
    "msg": msg.extract,
    "zip": zip_archive.extract,
}

# For formats whose readings have `scans`.
PAGE_READERS: dict[str, PageReader] = {"pdf": pdf_scan.read_page}
PAGE_READERS |= dict.fromkeys(PICTURES, picture.read_page)
