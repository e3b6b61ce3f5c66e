"""How much memory ingest keeps: `python -m tests.ingest.memory_growth [FILES]`, a made corpus in a private process.

Prints a line after each quarter of the files: those that are ready, their chunks, resident memory and its growth since
the process was warm. Not a test: the figures depend on the machine. Needs the embedder that `make test` fetches.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

from ingest.dense import Dense
from ingest.library import Library
from ingest.limits import ParseLimits
from ingest.options import IngestOptions
from ingest.parser import Parser
from ingest.pipeline import Ingest
from models.embedder import open_embedder
from tests.ingest.made_files import docx, lines_at, p, pdf

CHECKOUT = Path(__file__).parents[2]
N_WARM = 8


class Corpus:
    """Files of four formats, of one to a dozen chunks, and a long one now and then."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n_files = 0
        self._rng = random.Random(20261130)
        self._words = [f"word{n}" for n in range(5000)]

    def grow(self, n_files: int) -> None:
        for _ in range(n_files):
            self.n_files += 1
            name, data = self._file(self.n_files)
            (self.folder / name).write_bytes(data)

    def _file(self, n: int) -> tuple[str, bytes]:
        texts = [self._text() for _ in range(500 if n % 100 == 0 else self._rng.randrange(1, 12))]
        match n % 4:
            case 0:
                return f"{n}.txt", "\n\n".join(texts).encode()
            case 1:
                return f"{n}.md", "\n\n".join(f"# {text[:30]}\n\n{text}" for text in texts).encode()
            case 2:
                return f"{n}.docx", docx("".join(p(text) for text in texts))
        return f"{n}.pdf", pdf(
            *(lines_at(50, 780, [text[i : i + 80] for i in range(0, len(text), 80)]) for text in texts)
        )

    def _text(self) -> str:
        return " ".join(self._rng.choice(self._words) for _ in range(self._rng.randrange(5, 100)))


def resident_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def measure(home: Path, n_files: int) -> None:
    embedder = open_embedder(CHECKOUT / ".cache/models/all-minilm-l6-v2/onnx")
    (home / "documents").mkdir()
    corpus = Corpus(home / "documents")
    library = Library(home / "library.db")
    dense = Dense(home / "chroma", library, embedder.fingerprint, embedder.n_dims)
    ingest = Ingest(
        library=library, dense=dense, parser=Parser(ParseLimits()), embedder=embedder, folder=corpus.folder,
        options=IngestOptions(settle_ms=100), busy=lambda: False, on_change=lambda: None,
    )  # fmt: skip
    ingest.start()
    warm_mb = 0.0
    for n_more in (N_WARM, *[n_files // 4] * 4):
        corpus.grow(n_more)
        ingest.wake()
        while library.counts().get("ready", 0) < corpus.n_files:
            time.sleep(0.2)
        time.sleep(2)  # the index follows, and memory is given back
        warm_mb = warm_mb or resident_mb()
        growth_mb = resident_mb() - warm_mb
        print(
            f"{corpus.n_files} files, {library.n_chunks()} chunks: {resident_mb():.0f} MiB, {growth_mb:+.0f}",
            flush=True,
        )
    ingest.stop()
    dense.close()
    library.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), int(sys.argv[1]) if len(sys.argv) > 1 else 240)
