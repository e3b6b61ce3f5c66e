"""A running desk, for the tests of the pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.limits import ParseLimits
from ingest.parser import Parser
from tests.ingest.desk import Desk, KeptParser
from tests.ingest.hash_embedder import HashEmbedder


@pytest.fixture(scope="module")
def parser() -> Iterator[KeptParser]:
    parser = Parser(ParseLimits(timeout_s=10, max_file_mb=2))
    parser.start()
    yield KeptParser(parser)
    parser.stop()


@pytest.fixture
def desk(tmp_path: Path, parser: KeptParser) -> Iterator[Desk]:
    parser.paths.clear()
    desk = Desk(tmp_path, parser, HashEmbedder())
    desk.start()
    yield desk
    desk.embedder.gate.set()  # type: ignore[attr-defined]
    desk.stop()
