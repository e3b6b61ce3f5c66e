"""The folder of the Chroma index: which directory is in use, and how far it follows the record.

chroma/index.json       the facts below, replaced atomically
chroma/<directory>/     Chroma's own files; a rebuilt index is a new directory, swapped in by index.json
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(slots=True)
class IndexFacts:
    """What is known of an index without opening it.

    Attributes:
        directory: Chroma's directory; empty: there is none yet.
        record_id: of the record it follows; another record's index is worthless.
        chroma: version that wrote it; Chroma's upgrades are one-way, so another version builds anew.
        clean: closed in good order; False while it is open and after a crash.
        watermarks: by collection, the change of the record up to which it follows.
        removed: by collection, entries taken out so far: HNSW keeps their nodes for ever.
    """

    directory: str = ""
    record_id: str = ""
    chroma: str = ""
    clean: bool = True
    watermarks: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)


class IndexFolder:
    """Reads and writes the facts; makes and clears directories."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "index.json"

    def load(self) -> IndexFacts:
        """Return the facts; facts that cannot be read mean that there is no index."""
        try:
            return IndexFacts(**json.loads(self._file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return IndexFacts()

    def save(self, facts: IndexFacts) -> None:
        """Replace the facts, durably."""
        self._folder.mkdir(parents=True, exist_ok=True)
        part = self._file.with_suffix(".part")
        with open(part, "w", encoding="utf-8") as file:
            json.dump(asdict(facts), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self._file)

    def path_of(self, facts: IndexFacts) -> Path:
        """Return the directory in use."""
        return self._folder / facts.directory

    def new_directory(self) -> str:
        """Make an empty directory for an index and return its name."""
        name = f"index-{secrets.token_hex(4)}"
        (self._folder / name).mkdir(parents=True)
        return name

    def distrust(self) -> None:
        """Forget the facts, durably enough for a kill: there is no index any more."""
        self._file.unlink(missing_ok=True)

    def discard(self, facts: IndexFacts) -> None:
        """Delete a directory that did not come into use."""
        shutil.rmtree(self.path_of(facts), ignore_errors=True)

    def clear_orphans(self, facts: IndexFacts) -> None:
        """Delete the directories that are not in use."""
        for path in self._folder.glob("index-*"):
            if path.name != facts.directory:
                shutil.rmtree(path, ignore_errors=True)
