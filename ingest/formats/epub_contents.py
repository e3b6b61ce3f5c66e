"""An e-book's table of contents: which chapter each of its files belongs to. Reads no chapter."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from resiliparse.parse.html import HTMLTree

from ingest.formats.elements import child, children, descendants, value
from ingest.formats.headings import Headings
from ingest.formats.package import Package, parse_xml
from ingest.formats.reading import RefusedError
from ingest.formats.tidy import one_line

# Old e-books name their document type; it is dropped, never followed. One with definitions inside is refused.
EXTERNAL_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[<>]*>", re.IGNORECASE)
MAX_DEPTH = 20

Chapters = dict[str, tuple[str, ...]]  # member → chapter titles above its beginning, outermost first


def plain_xml(package: Package, name: str) -> Any:
    """Return the root element of a member that may name a document type. Raises as `Package.xml`."""
    data = package.read(name)
    return parse_xml(EXTERNAL_DOCTYPE.sub(b"", data[:4096], count=1) + data[4096:], name)


def member(base: str, href: str) -> tuple[str, str]:
    """Return (member, place in it) that a link in a member leads to."""
    path, _, place = href.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(path))).lstrip("/"), place


def chapters(package: Package, nav: str, ncx: str) -> Chapters:
    """Return the chapters by the nav document of EPUB 3, else by the NCX of EPUB 2; nothing where both are broken."""
    for path, entries in ((nav, _nav), (ncx, _ncx)):
        if not package.has(path):
            continue
        try:
            found = _collect(entries(package, path), path)
        except RefusedError:  # a book is read without its table of contents
            continue
        if found:
            return found
    return {}


def _collect(entries: Iterator[tuple[int, str, str]], base: str) -> Chapters:
    headings = Headings()
    found: Chapters = {}
    for depth, title, href in entries:
        if title:
            headings.enter(depth, title)
        path, _ = member(base, href)
        if href and title and path not in found:
            found[path] = headings.path
    return found


def _nav(package: Package, path: str) -> Iterator[tuple[int, str, str]]:
    tree = HTMLTree.parse(package.read(path).decode("utf-8", "replace"))
    navs = tree.document.query_selector_all("nav") if tree.document is not None else []
    tocs = [nav for nav in navs if "toc" in (nav.getattr("epub:type") or "").split()] or navs[:1]
    for nav in tocs[:1]:
        for entry in nav.query_selector_all("li > a, li > span"):
            yield _depth(entry), one_line(entry.text or ""), entry.getattr("href") or ""


def _depth(node: Any) -> int:
    depth = 0
    while node is not None and node.tag != "nav" and depth < MAX_DEPTH:
        depth += node.tag in ("ol", "ul")
        node = node.parent
    return max(depth, 1)


def _ncx(package: Package, path: str) -> Iterator[tuple[int, str, str]]:
    for top in descendants(plain_xml(package, path), "navMap"):
        yield from _points(top, 1)


def _points(parent: Any, depth: int) -> Iterator[tuple[int, str, str]]:
    for point in children(parent, "navPoint"):
        label = child(point, "navLabel", "text")
        text = one_line(label.text or "") if label is not None else ""
        yield depth, text, value(child(point, "content"), "src")
        yield from _points(point, depth + 1)
