"""What kind of text a file holds: told from how it begins, and by the name where several kinds read the same."""

from __future__ import annotations

import json
import re

from ingest.sniff_mail import mail_kind

ROOT = re.compile(r"<([a-z][\w.-]{0,40}(?::[a-z][\w.-]{0,40})?)(?=[\s/>])", re.IGNORECASE)
DOCTYPE = re.compile(r"<!doctype\s+([\w:.-]{1,40})", re.IGNORECASE)
# OpenDocument in one XML file; a flat spreadsheet stays XML.
FLAT_DOCUMENT = re.compile(
    r"""mimetype=["']application/vnd\.oasis\.opendocument\.(text|presentation|graphics)"""
)
PAGE_ROOTS = frozenset({"html", "head", "body"})
PAGE_PARTS = PAGE_ROOTS | frozenset(
    "title meta link table div p h1 h2 h3 h4 h5 h6 script style ul ol dl center font span a b i u em strong br hr img"
    " form section article header main nav blockquote pre".split()
)
SUBTITLE = re.compile(r"(?:\d{1,6}\s{0,3}\n)?(?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?\s*-->\s*\d")
MAX_JSON = 1_000_000  # bytes; a larger text without a name that says JSON is not tried

BY_EXTENSION = {
    ".md": "md",
    ".markdown": "md",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".log": "log",
    ".htm": "html",
    ".html": "html",
    ".xhtml": "html",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".geojson": "json",
    ".ipynb": "ipynb",
    ".xml": "xml",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".ini": "config",
    ".toml": "config",
    ".cfg": "config",
    ".conf": "config",
    ".properties": "config",
    ".env": "config",
    ".reg": "config",
    ".desktop": "config",
    ".service": "config",
    # "Excel" exports are often delimited text under a spreadsheet's name.
    ".xls": "csv",
    ".xlsx": "csv",
    ".ods": "csv",
    # These are ZIP packages: text under such a name is what a broken download left.
    **dict.fromkeys((".docx", ".docm", ".pptx", ".pptm", ".odt", ".odp", ".epub"), "misnamed"),
    **dict.fromkeys(
        ".py .pyi .js .mjs .cjs .jsx .ts .tsx .java .kt .kts .scala .groovy .gradle .c .h .cc .cpp .cxx "
        ".hpp .hh .m .mm .cs .vb .vbs .bas .cls .fs .go .rs .swift .dart .rb .php .pl .pm .lua .r .jl "
        ".sh .bash .zsh .fish .ps1 .psm1 .bat .cmd .sql .css .scss .less .vue .svelte .hs .ml .ex .exs "
        ".erl .clj .lisp .el .f90 .f .for .pas .asm .s .v .vhd .vhdl .tf .proto .graphql .cmake .mk .nix "
        ".zig .abap .cob .cbl .st .scl .gcode .tex .bib .sty .diff .patch".split(),
        "code",
    ),
}
BY_NAME = {"makefile": "code", "dockerfile": "code", "jenkinsfile": "code", "cmakelists.txt": "code"}
JSON_KINDS = frozenset({"json", "ipynb"})
# Kinds that may begin with a tag, a bracket or a time of day and still be what their name says.
BY_NAME_ALONE = frozenset({"md", "code", "log", "yaml", "config"})


def text_kind(head: str, data: bytes, name: str, extension: str) -> str:
    """Return the kind of a text.

    Args:
        head: how it begins, decoded.
        data: all of it.
        name: of the file, in lower case, without its folder.
        extension: of that name, with its dot.
    """
    if kind := mail_kind(head):
        return kind
    start = head.lstrip("\ufeff \t\r\n")
    named = BY_NAME.get(name) or BY_EXTENSION.get(extension, "")
    if start.startswith("WEBVTT") or (named not in BY_NAME_ALONE and SUBTITLE.match(start)):
        return "subtitles"
    if kind := _markup(start, named):
        return kind
    if start.startswith(("{", "[")) and (named in JSON_KINDS or (not named and _is_json(data))):
        return "ipynb" if named == "ipynb" else "json"
    return _without_form(named)


def _without_form(named: str) -> str:
    """Return what a text is that shows no form: no markup, no brackets."""
    return "txt" if named in ("xml", "html", "ipynb", "json", "") else named


def _markup(start: str, named: str) -> str:
    """Tell a page, another XML file, or neither ("")."""
    if not start.startswith("<") or named in BY_NAME_ALONE:
        return ""
    doctype, rest = _after_prolog(start)
    root = ROOT.match(rest)
    tag = root[1].lower().rpartition(":")[2] if root else ""
    if doctype == "html" or tag in PAGE_ROOTS:
        return "html"
    if tag == "document" and (flat := FLAT_DOCUMENT.search(rest)):
        return {"text": "odt", "presentation": "odp", "graphics": "odg"}[flat[1]]
    is_xml = start.startswith("<?xml") or named == "xml" or bool(doctype) or tag in ("rss", "feed", "svg")
    if is_xml and (root or doctype or start.startswith("<?xml")):
        return "xml"
    return "html" if tag in PAGE_PARTS or (named == "html" and root) else ""


def _after_prolog(text: str) -> tuple[str, str]:
    """Skip declarations and comments before the first element; returns (the document type's name, the rest)."""
    doctype = ""
    while text.startswith(("<!", "<?")):
        if found := DOCTYPE.match(text):
            doctype = found[1].lower()
        end = "-->" if text.startswith("<!--") else ">"
        text = text.partition(end)[2].lstrip()
    return doctype, text


def _is_json(data: bytes) -> bool:
    if len(data) > MAX_JSON:
        return False
    try:
        json.loads(data)
    except (ValueError, RecursionError):  # also bytes in an encoding that JSON does not have
        return False
    return True
