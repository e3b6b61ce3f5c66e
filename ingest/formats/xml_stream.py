"""XML read element by element, in memory that does not grow with the document. Knows no format."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from lxml import etree

from ingest.formats.package import DOCTYPE, SAFE_XML
from ingest.formats.reading import damaged

DOCTYPE_PLACE = 64 * 1024  # bytes; a document type stands before the root


def stream(data: bytes, name: str, tags: Sequence[str], inner: Sequence[str] = ()) -> Iterator[Any]:
    """Yield each element of these tags ("{namespace}name") when it ends; it is emptied before the next one comes.

    Args:
        inner: further tags, of elements inside those: emptied at once, and taken away with what holds them.
        name: of the part, for the reason of a refusal.
    Raises:
        RefusedError: it is no XML, is nested over 256 deep, or has a document type.
    """
    if DOCTYPE.search(data[:DOCTYPE_PLACE]):
        raise damaged(f"its part {name} has a document type (DTD), as no Office program writes one")
    events = etree.iterparse(
        io.BytesIO(data),
        events=("end",),
        tag=(*tags, *inner),
        **SAFE_XML,
    )
    try:
        for _, element in events:
            yield element
            element.clear()
            if element.tag in inner:  # most elements: what is left of one is small
                continue
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        raise damaged(f"its part {name} is broken ({str(error)[:200]})") from error
