"""E-books (EPUB): the chapters in the order of the spine, through the reader of web pages. Pictures are not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ingest.formats import html
from ingest.formats.elements import child, children, descendants, value
from ingest.formats.encoding import decode_declared
from ingest.formats.epub_contents import chapters, member, plain_xml
from ingest.formats.package import Package
from ingest.formats.reading import Reading, RefusedError, damaged
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits
from ingest.unit import Outcome, Unit

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
FONT_LOCKS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")  # they hide fonts only
DECLARED = re.compile(rb"^\s*(?:\xef\xbb\xbf)?<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]+)")
# XHTML may close an element at once; HTML would take the rest of the chapter for its content (<title/>, <script/>).
SELF_CLOSED = re.compile(r"<([A-Za-z][\w:.-]*)((?:\s[^<>]*?)?)/>")
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
LOCKED = (
    "it is protected against copying (DRM) and opens only in its seller's program: ask for a copy without"
)


@dataclass(frozen=True, slots=True)
class _Book:
    title: str
    spine: list[str]
    nav: str
    ncx: str


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read an e-book; `heading` of a locator begins with the chapter by the book's table of contents.

    Raises:
        RefusedError: the book is broken, locked or over a limit.
    """
    package = Package(data, limits)
    book = _open(package)
    _check_lock(package)
    told = chapters(package, book.nav, book.ncx)
    units: list[Unit] = []
    notes: list[str] = []
    chapter: tuple[str, ...] = ()
    for path in book.spine:
        chapter = told.get(path, chapter)  # a file without an entry goes on with the chapter before
        if path == book.nav:
            continue  # the table of contents says nothing that the chapters do not
        if not package.has(path):
            notes.append(f"the chapter {path} is missing in the file")
            continue
        units += _chapter(package.read(path), limits, chapter)
    return Reading(units, book.title, notes=notes)


def _open(package: Package) -> _Book:
    path = _package_file(package)
    root = plain_xml(package, path)
    items = {value(item, "id"): item for item in children(child(root, "manifest"), "item")}
    spine = child(root, "spine")
    listed = [items.get(value(entry, "idref")) for entry in children(spine, "itemref")]
    pages = [item for item in listed if item is not None] or list(items.values())
    nav = next((item for item in items.values() if "nav" in value(item, "properties").split()), None)
    ncx = items.get(value(spine, "toc"))
    if ncx is None:
        ncx = next(
            (one for one in items.values() if value(one, "media-type") == "application/x-dtbncx+xml"), None
        )
    titles = (one_line("".join(title.itertext())) for title in descendants(child(root, "metadata"), "title"))
    hrefs = [value(item, "href") for item in pages if value(item, "media-type") in PAGES]
    if not hrefs:
        raise damaged("it lists no chapters")
    link = [member(path, value(item, "href"))[0] if item is not None else "" for item in (nav, ncx)]
    return _Book(next(filter(None, titles), ""), [member(path, href)[0] for href in hrefs], *link)


def _package_file(package: Package) -> str:
    """Return the member that lists the book's files: what the container names, else the first of its kind."""
    container = package.optional(CONTAINER)
    named = (value(root, "full-path") for root in descendants(container, "rootfile"))
    usual = (name for name in package.names() if name.lower().endswith(".opf"))
    found = next((path for path in (*named, *usual) if package.has(path)), "")
    if not found:
        raise damaged("it does not say which chapters it has")
    return found


def _check_lock(package: Package) -> None:
    for data in descendants(package.optional(ENCRYPTION), "EncryptedData"):
        method = value(child(data, "EncryptionMethod"), "Algorithm")
        if not method.startswith(FONT_LOCKS):
            raise RefusedError(Outcome.NEEDS_PASSWORD, LOCKED)


def _chapter(data: bytes, limits: ParseLimits, chapter: tuple[str, ...]) -> Iterator[Unit]:
    told = DECLARED.match(data)
    text = decode_declared(data, told[1].decode("ascii") if told else "", limits.legacy_encoding)
    for unit in html.units(SELF_CLOSED.sub(_opened, text)):
        heading = _under(chapter, unit.locator.heading)
        yield replace(unit, locator=replace(unit.locator, heading=heading))


def _opened(match: re.Match[str]) -> str:
    name, attributes = match[1], match[2]
    return match[0] if name.lower() in VOID else f"<{name}{attributes}></{name}>"


def _under(chapter: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    """Put the headings in a file under its chapter, whose title is mostly the first of them again."""
    if chapter and own and _squashed(chapter[-1]).endswith(_squashed(own[0])):
        own = own[1:]
    return (*chapter, *own)


def _squashed(text: str) -> str:
    return "".join(ch for ch in text.lower() if ch.isalnum())
