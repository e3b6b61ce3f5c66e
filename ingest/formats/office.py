"""What Word and PowerPoint packages share around the text: title, broken parts."""

from __future__ import annotations

from ingest.formats.elements import child
from ingest.formats.package import Package
from ingest.formats.tidy import one_line

# What Office and converters write where nobody gave a title.
NO_TITLES = (
    "microsoft word",
    "untitled",
    "document",
    "powerpoint presentation",
    "powerpoint-",
    "presentation",
)


def core_title(package: Package) -> str:
    """Return the title among the document's properties; "" for none, or one that no person wrote."""
    path = next((path for kind, path in package.relations("").values() if kind == "core-properties"), "")
    title = child(package.optional(path), "title")
    text = one_line(title.text or "") if title is not None else ""
    return "" if text.lower().startswith(NO_TITLES) else text


def broken_notes(package: Package) -> list[str]:
    """Return a sentence on the parts that could not be read, none where all could."""
    if not package.broken:
        return []
    named = ", ".join(dict.fromkeys(package.broken))
    return [
        f"broken inside the file, and left out: {named}. Open it in Office and save it again to have all of it"
    ]
