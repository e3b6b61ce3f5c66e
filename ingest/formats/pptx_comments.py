"""Comments on slides, of both kinds that PowerPoint has written: what was said, and by whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest.formats.elements import child, children, descendants, local, value
from ingest.formats.pptx_text import plain
from ingest.formats.tidy import one_line
from ingest.locator import Locator
from ingest.unit import Unit


class Authors:
    """Names by the numbers or keys that comments tell."""

    def __init__(self, *roots: Any) -> None:
        people = [person for root in roots for person in descendants(root, "cmAuthor", "author")]
        self._names = {value(person, "id"): one_line(value(person, "name")) for person in people}

    def of(self, comment: Any) -> str:
        """Return who wrote a comment or reply; "" where the file does not say."""
        return self._names.get(value(comment, "authorId"), "")


def comments(root: Any, authors: Authors, place: Locator) -> Iterator[Unit]:
    """Yield the comments of a slide, each with its replies after it; nothing for None."""
    for comment in descendants(root, "cm"):
        yield from _said(comment, "Comment", authors, place)
        for reply in children(child(comment, "replyLst"), "reply"):
            yield from _said(reply, "Reply", authors, place)


def _said(comment: Any, what: str, authors: Authors, place: Locator) -> Iterator[Unit]:
    words = next((part for part in comment if local(part) in ("text", "txBody")), None)
    if words is None:
        return
    text = plain(words) if local(words) == "txBody" else one_line(words.text or "")
    author = authors.of(comment)
    if text:
        yield Unit(f"{what} by {author}: {text}" if author else f"{what}: {text}", place)
