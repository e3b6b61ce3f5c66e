"""Saved web pages (MHTML): the page itself. Its pictures and styles are not read."""

from __future__ import annotations

from email.message import Message

from ingest.formats import html, txt
from ingest.formats import mail_mime as mime
from ingest.formats.reading import Reading, damaged
from ingest.limits import ParseLimits

PAGES = frozenset({"text/html", "application/xhtml+xml"})
MAX_PAGES = 50  # frames of one page


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read the saved page; of a page of frames, the first that says anything.

    Raises:
        RefusedError: there is no page in it, or its elements are nested too deep.
    """
    message = mime.parse(data)
    leaves = [part for part in message.walk() if not part.is_multipart()]
    pages = _root_first(message, [part for part in leaves if mime.content_type(part) in PAGES])
    for page in pages[:MAX_PAGES]:
        reading = _page(page, limits.legacy_encoding)
        if reading.units:
            return Reading(reading.units, reading.title or mime.header(message, "Subject"))
    texts = [part for part in leaves if mime.content_type(part) == "text/plain"]
    if not pages and not texts:
        raise damaged("there is no page in it: save it again")
    return txt.read(mime.payload(texts[0]), limits.legacy_encoding) if texts else Reading([])


def _root_first(message: Message, pages: list[Message]) -> list[Message]:
    """Put the page that the others belong to first. Source: RFC 2387."""
    root = str(message.get_param("start", "") or "")
    return sorted(pages, key=lambda page: not root or str(page.get("Content-ID", "")).strip() != root.strip())


def _page(page: Message, legacy: str) -> Reading:
    """Read a page by what the part says of it; with nothing said, by what the page says of itself."""
    if mime.charset(page):
        return html.read_text(mime.text(page, legacy))
    return html.read(mime.payload(page), legacy)
