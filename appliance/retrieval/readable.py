"""Whether the file behind a record may be read this moment: a delete or chmod counts at once."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ingest.access import Viewer
from ingest.stored import StoredDocument


def still_readable(folder: Path, documents: Iterable[StoredDocument], viewer: Viewer) -> set[int]:
    """Return the ids of the documents whose file is there and readable.

    A folder that vanished as a whole (a mount that is away) deletes nothing: the record answers for it.
    """
    known = {document.id: document for document in documents}
    if not folder.is_dir():
        return set(known)
    return {i for i, document in known.items() if _readable(folder / document.path, viewer)}


def _readable(path: Path, viewer: Viewer) -> bool:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    return viewer.may_read(found.st_uid, found.st_gid, found.st_mode)
