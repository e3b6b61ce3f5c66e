"""Which documents a search is about; see `Filter`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Filter:
    """Documents that a search is confined to; empty and None let everything in.

    Attributes:
        collections: names of sub-folders of the watched folder, deeper ones included.
        documents: ids.
        formats: kinds as the record names them ("pdf", "docx").
        modified_from, modified_until: Unix seconds, both inclusive, of the file's last change.
    """

    collections: tuple[str, ...] = ()
    documents: tuple[int, ...] = ()
    formats: tuple[str, ...] = ()
    modified_from: float | None = None
    modified_until: float | None = None


EVERYTHING = Filter()
