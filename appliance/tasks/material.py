"""What a task works on: the text of a document that the caller may read, this moment and at every later step.

Knows nothing of the model. Hidden text is left out and named: nobody who reads the document sees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from appliance.api.schema_tasks import TaskSource
from appliance.errors import BadTaskError, DocumentChangedError, NotFoundError, NotReadableYetError
from appliance.retrieval.readable import still_readable
from ingest.access import Viewer
from ingest.library import Library
from ingest.record import READY
from ingest.stored import StoredChunk, StoredDocument, printable

_UNDER_WAY = ("waiting", "parsing", "embedding")
_MAX_NAMED = 5
_MAX_LEFT_OUT = 10


@dataclass(frozen=True, slots=True)
class Material:
    """A document's text, chunk by chunk.

    Attributes:
        notes: plain sentences: what was left out, and what looks like orders to a machine.
    """

    document: StoredDocument
    chunks: tuple[StoredChunk, ...]
    notes: tuple[str, ...]

    @property
    def path(self) -> str:
        """The document's path, as it can be shown."""
        return printable(self.document.path)


class Shelf:
    """Takes out documents for callers. Every method is blocking and thread-safe."""

    def __init__(self, library: Library, folder: Path) -> None:
        self._library = library
        self._folder = folder

    def open(self, wanted: int | str, viewer: Viewer) -> Material:
        """Return a document's text.

        Args:
            wanted: its id; or its path, or the end of its path, as long as it is one document's alone.
        Raises:
            NotFoundError: there is none that the viewer may read.
            BadTaskError: several documents could be meant.
            NotReadableYetError: it has no text, or not yet.
        """
        document = self._find(wanted, viewer)
        self._check_readable(document, viewer)
        name = printable(document.path)
        if document.state in _UNDER_WAY:
            raise NotReadableYetError(
                f"{name} is still being read ({document.state}): try again when it is ready"
            )
        if document.state != READY:
            raise NotReadableYetError(f"{name} has no text to work on ({document.state}): {document.reason}")
        chunks = self._library.text_of(document.id, viewer)
        seen = tuple(chunk for chunk in chunks if "hidden" not in chunk.flags and chunk.text.strip())
        if not seen:
            raise NotReadableYetError(f"{name} has no text that its readers see")
        return Material(document, seen, tuple(_notes(chunks)))

    def passage(self, chunk_id: int, viewer: Viewer) -> Material:
        """Return one chunk as a document of its own.

        Raises:
            NotFoundError: it is not there any more, or not for this viewer.
        """
        chunk = self._library.chunks([chunk_id], viewer).get(chunk_id)
        if chunk is None:
            raise NotFoundError(f"there is no passage {chunk_id} any more: its document has changed or gone")
        self._check_readable(chunk.document, viewer)
        return Material(chunk.document, (chunk,), tuple(_notes((chunk,), left_out=False)))

    def check(self, material: Material, viewer: Viewer) -> None:
        """See that the viewer may still read the document, and that it is still the same.

        Raises:
            NotFoundError: it is gone, or closed to the viewer.
            DocumentChangedError: its file has other bytes than those that the task began with.
        """
        began = material.document
        now = self._library.document(began.id, viewer)
        if now is None:
            raise NotFoundError(f"{material.path} has gone, or you may not read it any more")
        self._check_readable(now, viewer)
        if now.sha256 != began.sha256 or now.state != READY:
            raise DocumentChangedError(
                f"{material.path} has been changed meanwhile: start again, on the new version"
            )

    def versions(self) -> set[str]:
        """Return the SHA-256 of every document in the record."""
        return self._library.versions()

    def _find(self, wanted: int | str, viewer: Viewer) -> StoredDocument:
        if isinstance(wanted, int) or wanted.isdecimal():
            found = self._library.document(int(wanted), viewer) if int(wanted) < 2**63 else None
            if found is not None:
                return found
            if isinstance(wanted, int):
                raise NotFoundError(
                    f"there is no document {wanted} that you may read: `appliance documents` lists them"
                )
        return self._by_path(wanted, viewer)

    def _by_path(self, wanted: str, viewer: Viewer) -> StoredDocument:
        known = {printable(document.path): document for document in self._library.documents(viewer)}
        name = wanted.removeprefix(f"{self._folder}/").strip("/")
        if name in known:
            return known[name]
        ends = [path for path in known if path.endswith(f"/{name}")] if name else []
        if not ends:
            raise NotFoundError(
                f"there is no document {wanted!r} that you may read: `appliance documents` lists them"
            )
        if len(ends) > 1:
            more = f" and {len(ends) - _MAX_NAMED} more" if len(ends) > _MAX_NAMED else ""
            raise BadTaskError(
                f"{wanted!r} could be {', '.join(ends[:_MAX_NAMED])}{more}: give more of its path"
            )
        return known[ends[0]]

    def _check_readable(self, document: StoredDocument, viewer: Viewer) -> None:
        if document.id not in still_readable(self._folder, [document], viewer):
            raise NotFoundError(f"{printable(document.path)} has gone, or you may not read it any more")


def source_of(chunk: StoredChunk, locator: str = "") -> TaskSource:
    """Return a chunk's place; `locator` where it speaks of more than the chunk."""
    return TaskSource(
        document_id=chunk.document.id, path=printable(chunk.document.path), version=chunk.document.sha256,
        locator=locator or str(chunk.locator), chunk_id=chunk.id,
    )  # fmt: skip


def _notes(chunks: Sequence[StoredChunk], *, left_out: bool = True) -> list[str]:
    hidden = [c for c in chunks if "hidden" in c.flags]
    orders = [c for c in chunks if "instruction-like" in c.flags and c not in hidden]
    notes = [f"text that readers do not see was left out: {_places(hidden)}"] if hidden and left_out else []
    if orders:
        notes.append(f"text that reads like orders to a machine, be careful: {_places(orders)}")
    return notes


def _places(chunks: Sequence[StoredChunk]) -> str:
    places = list(dict.fromkeys(str(c.locator) or f"passage {c.id}" for c in chunks))
    return "; ".join(places[:_MAX_LEFT_OUT]) + (" and more" if len(places) > _MAX_LEFT_OUT else "")
