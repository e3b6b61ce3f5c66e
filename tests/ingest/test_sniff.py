"""Content decides what a file is."""

from __future__ import annotations

import random
import time

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
        (b'{"a": 1}', "a", "json"),
        (b"{not json", "a", "txt"),
        (b'{"a": 1}\n{"a": 2}\n', "a.jsonl", "json"),
        (b'{"cells": []}', "a.ipynb", "ipynb"),
        (b"no brackets", "a.json", "txt"),
        (b"a: 1\n", "a.yml", "yaml"),
        (b"[net]\nport = 1\n", "a.toml", "config"),
        (b"import os\n", "a.py", "code"),
        (b"<?php echo 1;", "a.php", "code"),
        (b"all:\n\tcc x.c\n", "Makefile", "code"),
        (b"2026-11-30 start\n", "a.log", "log"),
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\nHi", "a.txt", "subtitles"),
        ("1\r\n00:00:01,000 --> 00:00:02,000\r\nHi".encode("utf-8-sig"), "a.srt", "subtitles"),
        ("<?xml version='1.0'?><note/>".encode("utf-16"), "a.xml", "xml"),
        (b"<?xml version='1.0'?><html><p>x</html>", "a.xml", "html"),
        (b"<!DOCTYPE plist SYSTEM 'x'><plist/>", "a.txt", "xml"),
        (b"<table><row/></table>", "a.xml", "xml"),
        (b"<rss><channel/></rss>", "feed", "xml"),
        (b"<Ann@site.example> wrote:", "a.txt", "txt"),
        (b"This is not a zip file!", "a.odt", "misnamed"),
        (b"404 not found", "a.docx", "misnamed"),
        (b"Jansen;1\n", "a.xlsx", "csv"),
        (b"plain words", "a.doc", "txt"),
        (b"Files begin with %PDF-1.7 and so on", "a.md", "md"),
        (OLE + "Book\0".encode("utf-16-le"), "a.xls", "xls"),
        (b"\x09\x04\x06\x00\x00\x00\x10\x00", "a.xls", "xls"),
        (zip_of({"[Content_Types].xml": "x"}), "a.docx", "docx"),
        (b"\0" * 257 + b"ustar\0" + b"\0" * 300, "a.tar", "archive"),
        (("ä" * 4095 + "aä" + "ä" * 50).encode(), "a.txt", "txt"),
        (bytes(range(1, 32)) * 40, "a.txt", "binary"),
    ],
)
def test_content_decides_the_type(data: bytes, name: str, kind: str) -> None:
    assert sniff(data, name) == kind


def test_every_type_without_a_reader_has_plain_words() -> None:
    assert all(words.split()[0] in ("a", "an") for words in WORDS.values())


def test_random_bytes_are_no_text() -> None:
    assert {sniff(random.Random(seed).randbytes(2000), "a.txt") for seed in range(40)} == {"binary"}


def test_thousands_of_comments_before_a_page_are_skipped_quickly() -> None:
    began = time.process_time()
    assert sniff(b"<!---->" * 2000 + b"x", "a.txt") == "txt"
    assert time.process_time() - began < 1
