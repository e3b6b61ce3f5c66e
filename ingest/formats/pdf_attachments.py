"""Files inside a PDF: those of the whole document, and those pinned to a page."""

from __future__ import annotations

import ctypes
from contextlib import closing
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from ingest.formats.pdf_open import open_at_all
from ingest.formats.reading import damaged, too_large
from ingest.formats.tidy import one_line
from ingest.limits import MIB, ParseLimits
from ingest.unit import Part

MAX_NAME = 200
MAX_PINS = 1_000  # annotations looked at on one page


def parts(document: Any, limits: ParseLimits) -> list[Part]:
    """Return the document's own attachments; the keys are what `extract` takes."""
    n_files = min(max(0, pdfium.FPDFDoc_GetAttachmentCount(document)), limits.max_zip_members)
    return [
        Part(str(i), (_name(pdfium.FPDFDoc_GetAttachment(document, i), f"attachment {i + 1}"),))
        for i in range(n_files)
    ]


def pinned(page: Any, number: int) -> list[Part]:
    """Return the files pinned to an open page."""
    found = []
    for i in range(min(pdfium.FPDFPage_GetAnnotCount(page), MAX_PINS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, i)
        if not annotation:
            continue
        if pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_FILEATTACHMENT:
            name = _name(pdfium.FPDFAnnot_GetFileAttachment(annotation), f"attachment on page {number}")
            found.append(Part(f"{number}:{i}", (name,)))
        pdfium.FPDFPage_CloseAnnot(annotation)
    return found


def extract(data: bytes, key: str, limits: ParseLimits) -> bytes:
    """Return the bytes of an attachment.

    Raises:
        RefusedError: the PDF cannot be opened, or the attachment is not in it or too large.
    """
    page_number, _, index = key.rpartition(":")
    with closing(open_at_all(data)) as document:
        if not page_number:
            return _content(pdfium.FPDFDoc_GetAttachment(document, int(index)), limits)
        try:
            page = document[int(page_number) - 1]
        except pypdfium2.PdfiumError as error:
            raise damaged("its page cannot be opened") from error
        with closing(page):
            annotation = pdfium.FPDFPage_GetAnnot(page, int(index))
            try:
                return _content(pdfium.FPDFAnnot_GetFileAttachment(annotation), limits)
            finally:
                pdfium.FPDFPage_CloseAnnot(annotation)


def _content(attachment: Any, limits: ParseLimits) -> bytes:
    n_bytes = ctypes.c_ulong()
    if not attachment or not pdfium.FPDFAttachment_GetFile(attachment, None, 0, n_bytes):
        raise damaged("the attached file is broken or missing")
    if n_bytes.value > limits.max_part_mb * MIB:
        raise too_large(
            f"{n_bytes.value / MIB:.0f} MB, and attachments over {limits.max_part_mb} MB are not read"
        )
    content = ctypes.create_string_buffer(n_bytes.value)
    pdfium.FPDFAttachment_GetFile(attachment, content, n_bytes.value, n_bytes)
    return content.raw


def _name(attachment: Any, otherwise: str) -> str:
    """Return an attachment's file name, without folders."""
    n_bytes = pdfium.FPDFAttachment_GetName(attachment, None, 0) if attachment else 0
    if not 2 < n_bytes <= 4096:
        return otherwise
    units = (ctypes.c_ushort * (n_bytes // 2))()
    pdfium.FPDFAttachment_GetName(attachment, units, n_bytes)
    path = one_line(bytes(units).decode("utf-16-le", "ignore").rstrip("\0")).replace("\\", "/")
    return path.rstrip("/").rpartition("/")[2][:MAX_NAME] or otherwise
