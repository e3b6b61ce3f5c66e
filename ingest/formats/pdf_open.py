"""Opening a PDF, and mending one that PDFium does not open."""

from __future__ import annotations

from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from ingest.formats.reading import RefusedError, damaged, needs_password
from ingest.unit import Outcome

START = b"%PDF-"
BROKEN = "the file is cut off or broken; if it is still being copied, it is read again when it is whole"


def open_pdf(data: bytes) -> pypdfium2.PdfDocument:
    """Open a PDF, whatever stands before its first mark.

    Raises:
        RefusedError: it has a password or is broken.
    """
    start = data.find(START)
    try:
        return pypdfium2.PdfDocument(data[start:] if start > 0 else data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD:
            raise needs_password() from error
        raise damaged(BROKEN) from error


def open_at_all(data: bytes) -> pypdfium2.PdfDocument:
    """Open a PDF, mended if need be.

    Raises:
        RefusedError: it has a password, or nothing can be found in it.
    """
    try:
        return open_pdf(data)
    except RefusedError as refusal:
        if refusal.outcome is not Outcome.DAMAGED:
            raise
        return open_pdf(mended(data))


def mended(data: bytes) -> bytes:
    """Return a PDF written afresh from what can be found in a broken one.

    Without the library for it, return what follows the last mark of a PDF's beginning.

    Raises:
        RefusedError: nothing can be found in it.
    """
    rescuer = load_rescuer()
    if rescuer is not None:
        try:
            return bytes(rescuer.PdfDocument.from_bytes(data).to_bytes())
        except (OSError, RuntimeError, ValueError) as error:
            raise damaged(BROKEN) from error
    start = data.rfind(START)
    if start <= 0:
        raise damaged(BROKEN)
    return data[start:]


def load_rescuer() -> Any:
    """Return pdf_oxide, an optional package, or None. Loaded here, in a child that needs it: 40 ms, 12 MB."""
    try:
        import pdf_oxide
    except ImportError:
        return None
    pdf_oxide.disable_logging()
    return pdf_oxide
