"""Runs ingest on a folder until it is killed: `python -m tests.ingest.crash_child HOME`. For test_crash.py."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from ingest.dense import Dense
from ingest.library import Library
from ingest.limits import ParseLimits
from ingest.options import IngestOptions
from ingest.parser import Parser
from ingest.pipeline import Ingest
from tests.ingest.hash_embedder import HashEmbedder


def main() -> None:
    home, embedder = Path(sys.argv[1]), HashEmbedder(delay_s=0.002)
    library = Library(home / "library.db")
    dense = Dense(home / "chroma", library, embedder.fingerprint, embedder.n_dims)
    ingest = Ingest(
        library=library, dense=dense, parser=Parser(ParseLimits()), embedder=embedder, folder=home / "documents",
        options=IngestOptions(settle_ms=20, sweep_every_s=1.0, retry_s=0.2, max_delete_share=1.0),
        busy=lambda: False, on_change=lambda: None,
    )  # fmt: skip
    ingest.start()
    print("started", flush=True)
    time.sleep(3600)


if __name__ == "__main__":
    main()
