"""What people put on a PDF's pages: values in form fields, notes, text boxes. Not the page's own text."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from ingest.formats.tidy import one_line
from ingest.locator import Locator
from ingest.unit import HIDDEN, Unit

MAX_ANNOTATIONS = 5_000  # looked at on one page
MAX_TEXT = 64 * 1024  # bytes of one name or value
NOTES = {
    pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_HIGHLIGHT, pdfium.FPDF_ANNOT_UNDERLINE, pdfium.FPDF_ANNOT_SQUIGGLY,
    pdfium.FPDF_ANNOT_STRIKEOUT, pdfium.FPDF_ANNOT_CARET, pdfium.FPDF_ANNOT_INK, pdfium.FPDF_ANNOT_STAMP,
    pdfium.FPDF_ANNOT_SQUARE, pdfium.FPDF_ANNOT_CIRCLE, pdfium.FPDF_ANNOT_LINE, pdfium.FPDF_ANNOT_POLYGON,
    pdfium.FPDF_ANNOT_POLYLINE,
}  # fmt: skip
TICKED = {pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON}
WRITTEN = {pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX}
PASSWORD = 1 << 13  # of a text field's flags
XFA_TYPES = {pdfium.FORMTYPE_XFA_FULL, pdfium.FORMTYPE_XFA_FOREGROUND}
MAX_XFA_CHARS = 3_000  # of the page that asks for another reader
INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Extra:
    """A field's value or a note."""

    text: str
    hidden: bool

    def unit(self, locator: Locator) -> Unit:
        """Return it as a unit of a page."""
        return Unit(self.text, locator, flags=frozenset({HIDDEN}) if self.hidden else frozenset())


def open_form(document: Any) -> Any:
    """Return the document's form for reading fields, None where it has none. Call it before a page is opened."""
    try:
        return document.formenv if document.init_forms() else None
    except pypdfium2.PdfiumError:
        return None


def asks_for_another_reader(document: Any, text: str) -> bool:
    """Tell an XFA form, whose one page in PDF says only that Adobe Reader is needed."""
    said = text.lower()
    return (
        document.get_formtype() in XFA_TYPES
        and len(said) < MAX_XFA_CHARS
        and "adobe" in said
        and ("reader" in said or "acrobat" in said)
    )


def extras(page: Any, form: Any) -> list[Extra]:
    """Return the filled fields and the notes of an open page, each once, in the file's order."""
    found: dict[str, Extra] = {}
    for i in range(min(pdfium.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, i)
        if not annotation:
            continue
        hidden = bool(pdfium.FPDFAnnot_GetFlags(annotation) & pdfium.FPDF_ANNOT_FLAG_HIDDEN)
        for text in _texts(annotation, form):
            found.setdefault(text, Extra(text, hidden))
        pdfium.FPDFPage_CloseAnnot(annotation)
    return list(found.values())


def _texts(annotation: Any, form: Any) -> Iterator[str]:
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    if kind == pdfium.FPDF_ANNOT_WIDGET:
        value = _value(annotation, form) if form else ""
        if value:
            yield f"{_name(annotation, form)}: {value}"
    elif kind == pdfium.FPDF_ANNOT_FREETEXT:
        text = _entry(annotation, b"Contents")
        if text:
            yield text
    elif kind in NOTES:
        text, author = _entry(annotation, b"Contents"), _entry(annotation, b"T")
        if text:
            yield f"Note by {author}: {text}" if author else f"Note: {text}"


def _value(annotation: Any, form: Any) -> str:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in TICKED:
        if not pdfium.FPDFAnnot_IsChecked(form, annotation):
            return ""
        export = _asked(pdfium.FPDFAnnot_GetFormFieldExportValue, form, annotation)
        return export if kind == pdfium.FPDF_FORMFIELD_RADIOBUTTON and len(export) > 1 else "ticked"
    if kind not in WRITTEN or pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & PASSWORD:
        return ""
    return _asked(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)


def _name(annotation: Any, form: Any) -> str:
    """Return what the form's maker wrote for people, else the last part of the field's own name."""
    shown = _asked(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
    own = _asked(pdfium.FPDFAnnot_GetFormFieldName, form, annotation)
    return shown or INDEX.sub("", own).rpartition(".")[2] or "Field"


def _entry(annotation: Any, key: bytes) -> str:
    return _asked(pdfium.FPDFAnnot_GetStringValue, annotation, key)


def _asked(get: Callable[..., int], *what: Any) -> str:
    """Return the text of one of PDFium's calls that fill a buffer with UTF-16 and tell its length in bytes."""
    n_bytes = get(*what, None, 0)
    if not 2 < n_bytes <= MAX_TEXT:
        return ""
    units = (ctypes.c_ushort * (n_bytes // 2))()
    get(*what, units, n_bytes)
    return one_line(bytes(units).decode("utf-16-le", "ignore").rstrip("\0"))
