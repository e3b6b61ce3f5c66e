"""Errors of the ingest rooms.

IngestError
├── LibraryError        the record cannot be opened, read or written
│   └── DiskFullError   no room for a commit; ingest pauses, search goes on
├── DenseError          Chroma cannot be used; search goes on from the record
├── NotInLibraryError   a search is confined to what is not there
└── ParserStoppedError  the parser was stopped while a file was read
Outcomes of single files are data (`ingest.unit.Outcome`), not errors.
"""

from __future__ import annotations


class IngestError(Exception):
    """Anything ingest raises on purpose; the message names the thing and what to do."""


class LibraryError(IngestError):
    """The record (library.db) cannot be used: check disk space and rights, or restore a backup."""


class DiskFullError(LibraryError):
    """The disk has no room for a commit: make room, ingest goes on by itself."""


class DenseError(IngestError):
    """Chroma cannot be used: search runs on the record's vectors until the index is rebuilt."""


class NotInLibraryError(IngestError):
    """A filter names a collection, document or type that is not there, or that is not the viewer's: choose another."""

    def __init__(self, kind: str, wanted: str, there_are: str) -> None:
        super().__init__(f"there is no {kind} {wanted}; there are: {there_are or 'none'}")
        self.kind = kind
        self.wanted = wanted


class ParserStoppedError(IngestError):
    """The parser was stopped, mostly at shutdown: nothing is known about the file; leave it waiting."""
