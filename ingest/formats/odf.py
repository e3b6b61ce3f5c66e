"""What all OpenDocument files share: the package or the flat file, its password, its styles. Reads no text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ingest.formats.elements import child, children, descendants, local, value
from ingest.formats.package import Package, parse_xml
from ingest.formats.reading import damaged, needs_password
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits

MANIFEST = "META-INF/manifest.xml"
MAX_CHAIN = 20  # styles based on styles; a hostile file may build a ring


def check_password(package: Package) -> None:
    """Raise the refusal of an OpenDocument package that only opens with a password.

    Raises:
        RefusedError: its content is encrypted.
    """
    if any(True for _ in descendants(package.optional(MANIFEST), "encryption-data")):
        raise needs_password()


@dataclass(frozen=True, slots=True)
class Odf:
    """One OpenDocument file, opened.

    Attributes:
        body: the element below office:body: office:text, office:presentation, …
        roots: of content and styles; of a flat file, the one root.
        package: None for a flat file.
    """

    body: Any
    roots: tuple[Any, ...]
    title: str
    package: Package | None


def open_odf(data: bytes, limits: ParseLimits) -> Odf:
    """Open a package, or a flat XML file.

    Raises:
        RefusedError: it has a password, is broken, over a limit, or has no body.
    """
    package = Package(data, limits) if data.startswith(b"PK") else None
    if package is None:
        roots: tuple[Any, ...] = (parse_xml(data, "content"),)
        meta = roots[0]
    else:
        check_password(package)
        styles = package.optional("styles.xml")
        roots = (package.xml("content.xml"), *(() if styles is None else (styles,)))
        meta = package.optional("meta.xml")
    body = child(roots[0], "body")
    if body is None or len(body) == 0:
        raise damaged("it has no text body")
    title = child(child(meta, "meta"), "title")
    return Odf(body[0], roots, one_line(title.text or "") if title is not None else "", package)


class OdfStyles:
    """The styles by family and name, automatic ones too; what a text style says of itself or inherits."""

    def __init__(self, roots: tuple[Any, ...]) -> None:
        self._styles: dict[tuple[str, str], Any] = {}
        self.masters: dict[str, Any] = {}
        self.layouts: dict[str, Any] = {}
        self.lists: dict[str, Any] = {}
        self.outline: Any = None
        for root in roots:
            for group in children(root, "automatic-styles", "styles", "master-styles"):
                for style in group:
                    self._add(style)

    def _add(self, style: Any) -> None:
        kind, name = local(style), value(style, "name")
        if kind == "style":
            self._styles.setdefault((value(style, "family"), name), style)
        elif kind == "list-style":
            self.lists.setdefault(name, style)
        elif kind == "outline-style":
            self.outline = style
        elif kind == "master-page":
            self.masters.setdefault(name, style)
        elif kind == "page-layout":
            self.layouts.setdefault(name, style)

    def of(self, family: str, name: str, group: str, attribute: str) -> str:
        """Return e.g. ("text", "T1", "text-properties", "color"), by the nearest style that says it; "" for none."""
        for style in self.chain(family, name):
            if told := value(child(style, group), attribute):
                return told
        return ""

    def chain(self, family: str, name: str) -> list[Any]:
        """Return a style and those it is based on, nearest first."""
        found: list[Any] = []
        while (style := self._styles.get((family, name))) is not None and len(found) < MAX_CHAIN:
            found.append(style)
            name = value(style, "parent-style-name")
        return found
