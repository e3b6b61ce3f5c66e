"""kill -9 at random moments while the folder changes, and a bad disk: then the record equals the folder, and Chroma
the record."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from ingest.access import Viewer
from ingest.dense import Dense
from ingest.library import Library
from ingest.limits import ParseLimits
from ingest.options import IngestOptions
from ingest.parser import Parser
from ingest.pipeline import Ingest
from ingest.vector_log import VectorLog
from ingest.vectors import RecordVectors
from tests.ingest.hash_embedder import HashEmbedder

CHECKOUT = Path(__file__).parents[2]
N_ROUNDS = 6
ROOT = Viewer(0, frozenset())


class Folder:
    """The watched folder, and the same in memory."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder = folder
        self.rng = rng
        self.texts: dict[str, str] = {}

    def disturb(self) -> None:
        """Add, change, rename or delete a file."""
        name, action = f"{self.rng.randrange(30)}.txt", self.rng.random()
        if name in self.texts and action < 0.2:
            (self.folder / name).unlink()
            del self.texts[name]
        elif name in self.texts and action < 0.4:
            other = f"moved-{self.rng.randrange(30)}.txt"
            (self.folder / name).rename(self.folder / other)
            self.texts[other] = self.texts.pop(name)
        else:
            self.texts[name] = self._text()
            (self.folder / name).write_text(self.texts[name])

    def _text(self) -> str:
        n_paragraphs = self.rng.randrange(1, 60)
        words = [f"word{self.rng.randrange(10**12)}" for _ in range(12 * n_paragraphs)]
        return "\n\n".join(" ".join(words[n::n_paragraphs]) for n in range(n_paragraphs)) + "\n"


def live_through(home: Path, folder: Folder, seconds: float) -> None:
    """Run ingest in a process of its own, disturb its folder, and kill it and its parse server."""
    child = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("crash_child.py")), str(home)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "started\n"
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            folder.disturb()
            time.sleep(folder.rng.random() * 0.05)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()


def hurt(home: Path, rng: random.Random) -> None:
    """Do what a bad disk does: cut off the record's last writes, or write over the index."""
    if rng.random() < 0.5:
        wal = home / "library.db-wal"
        if wal.exists():
            os.truncate(wal, rng.randrange(wal.stat().st_size + 1))
        return
    for file in sorted((home / "chroma").rglob("*.*")):
        if file.is_file() and rng.random() < 0.5:
            file.write_bytes(rng.randbytes(min(file.stat().st_size, 5000)))


def test_after_kills_at_random_moments_record_folder_and_index_are_equal(tmp_path: Path) -> None:
    rng = random.Random(20261130)
    (tmp_path / "documents").mkdir()
    folder = Folder(tmp_path / "documents", rng)
    for n_round in range(N_ROUNDS):
        live_through(tmp_path, folder, rng.uniform(0.05, 2.5))
        folder.disturb()  # while nobody watches
        if n_round % 2:
            hurt(tmp_path, rng)

    embedder = HashEmbedder()
    library = Library(tmp_path / "library.db")
    dense = Dense(tmp_path / "chroma", library, embedder.fingerprint, embedder.n_dims)
    ingest = Ingest(
        library=library, dense=dense, parser=Parser(ParseLimits()), embedder=embedder, folder=folder.folder,
        options=IngestOptions(settle_ms=20, sweep_every_s=0.5, max_delete_share=1.0),
        busy=lambda: False, on_change=lambda: None,
    )  # fmt: skip
    ingest.start()
    try:
        until_equal(library, folder)
        assert dense.wait(60)
        dense.follow()
        check_index(library, dense, embedder)
        check_words(library, folder)
    finally:
        ingest.stop()
        dense.close()
        library.close()


def until_equal(library: Library, folder: Folder) -> None:
    expected = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in folder.texts.items()}
    deadline = time.monotonic() + 60
    while True:
        documents = library.documents(ROOT)
        found = {document.path: document.sha256 for document in documents}
        if found == expected and {document.state for document in documents} == {"ready"}:
            return
        assert time.monotonic() < deadline, (found.keys() ^ expected.keys(), library.counts())
        time.sleep(0.05)


def check_index(library: Library, dense: Dense, embedder: HashEmbedder) -> None:
    assert dense._index is not None
    live = VectorLog(library.database, embedder.fingerprint).ids()
    assert dense._index.ids() == live
    assert len(live) == library.n_chunks() == dense.n_vectors
    exact = RecordVectors(library, embedder.fingerprint)
    for text in ("word1 word2", "word77"):
        query = embedder.embed([text])[0]
        assert dense.query(query, 1)[0][1] >= exact.query(query, 1)[0][1] - 1e-3


def check_words(library: Library, folder: Folder) -> None:
    with library.database.write() as connection:
        connection.execute("INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)")
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    for path, text in folder.texts.items():
        found = library.lexical(text.split()[0], 5, ROOT)
        paths = [chunk.document.path for chunk in library.chunks([id for id, _ in found], ROOT).values()]
        assert paths == [path]
