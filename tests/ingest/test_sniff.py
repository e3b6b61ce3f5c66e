"""Content decides what a file is."""

from __future__ import annotations

import pytest

from ingest.sniff import WORDS, sniff
from tests.ingest.made_files import docx, p, pdf, text_at, zip_of

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100
MAIL = b"From: a@b.example\nTo: c@d.example\nSubject: Boiler\n\nIt is serviced.\n"


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"", "a.pdf", "empty"),
        (pdf(text_at(72, 700, "x")), "a.docx", "pdf"),
        (b"copied junk\n" + pdf(text_at(72, 700, "x")), "a.pdf", "pdf"),
        (docx(p("x")), "a.pdf", "docx"),
        (docx(p("x"))[:300], "a.docx", "docx"),
        (zip_of({"notes.txt": "x"}), "a.docx", "zip"),
        (zip_of({"xl/workbook.xml": "x"}), "a.zip", "xlsx"),
        (zip_of({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "x"}), "a.zip", "odt"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "a.docx", "office-encrypted"),
        (OLE + "WordDocument".encode("utf-16-le"), "a.docx", "doc"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 20, "a.pdf", "png"),
        (b"\x7fELF\x02\x01\x01" + b"\0" * 20, "a.pdf", "program"),
        (b"MZ is how this note begins", "a.txt", "txt"),
        (b"{\\rtf1 text}", "a.doc", "rtf"),
        (MAIL, "a.txt", "eml"),
        (MAIL + b"%PDF-1.4 attached", "a.txt", "eml"),
        (b"From a@b Mon Jan  1\n" + MAIL, "a.txt", "mbox"),
        (b"\n<!-- saved -->\n<!DOCTYPE html><p>x", "a.txt", "html"),
        (b"<table><tr><td>x</table>", "export.xls", "html"),
        ("<html><p>ü".encode("utf-16"), "a.txt", "html"),
        (b"<p>Markdown may begin with a tag", "a.md", "md"),
        (b"<?xml version='1.0'?><note/>", "a.txt", "xml"),
        (b'{"a": 1}', "a.json", "json"),
        (b"a;b\n1;2\n", "a.csv", "csv"),
        (b"a\tb\n1\t2\n", "a.xls", "csv"),
        (b"a\tb\n1\t2\n", "a.tsv", "tsv"),
        (b"# Title\n", "a.md", "md"),
        (b"plain words", "a.unheard-of", "txt"),
        (bytes(range(1, 32)) * 40, "a.txt", "binary"),
    ],
)
def test_content_decides_the_type(data: bytes, name: str, kind: str) -> None:
    assert sniff(data, name) == kind


def test_every_type_without_a_reader_has_plain_words() -> None:
    assert all(words.split()[0] in ("a", "an") for words in WORDS.values())
