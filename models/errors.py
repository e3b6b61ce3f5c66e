"""Errors of model files.

ModelError
├── CatalogueError      an entry of catalogue.yaml is wrong
├── UnknownModelError   no such name in the catalogue or among the installed
├── ModelFileError      a file or folder is not what its name says
├── FetchError          no source could deliver the file
├── DigestError         the bytes are not the publisher's
├── NoSpaceError        the disk is too full
├── CompileError        an embedder or reranker could not be compiled
└── ModelRunError       a model that was opened fails on an input
"""

from __future__ import annotations


class ModelError(Exception):
    """Anything models raises on purpose; the message names the thing and what to do."""


class CatalogueError(ModelError):
    """An entry of the catalogue is wrong: correct the key that the message names."""


class UnknownModelError(ModelError):
    """No model of that name: `appliance model list` shows those there are."""


class ModelFileError(ModelError):
    """A file or folder is damaged, or of another kind than needed: replace it as the message says."""


class FetchError(ModelError):
    """No source could deliver the file: the message lists each source and why it failed."""


class DigestError(ModelError):
    """A file's sha256 is not the expected one; nothing that worked was removed. Check the source."""

    def __init__(self, what: str, expected: str, found: str) -> None:
        super().__init__(f"{what}: expected sha256 {expected}, found {found}; nothing was replaced")
        self.expected = expected
        self.found = found


class NoSpaceError(ModelError):
    """The disk has too little room: free the named amount."""

    def __init__(self, folder: str, needed: int, free: int) -> None:
        super().__init__(
            f"{folder}: {needed / 2**20:.0f} MiB needed, {free / 2**20:.0f} MiB free; make room, run it again"
        )
        self.needed = needed
        self.free = free


class CompileError(ModelError):
    """A model could not be compiled: install the `compile` extra, or, for an embedder, use the other embed.backend."""


class ModelRunError(ModelError):
    """A model that was opened fails on an input: `appliance model verify`, then compile or pull it again."""
