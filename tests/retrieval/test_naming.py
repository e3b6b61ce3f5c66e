"""Documents that a question names, found through the real record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from appliance.retrieval.naming import Naming
from appliance.retrieval.retriever import Retriever
from appliance.text.words import Words
from ingest.access import Viewer
from ingest.chunk import Chunk
from ingest.folder import FileStat
from ingest.library import Library
from ingest.locator import Locator
from ingest.record import READY, Record, Stage, Version
from ingest.sweep import Changes
from ingest.vectors import RecordVectors

ROOT = Viewer(0, frozenset())
FINGERPRINT, N_DIMS = "made", 4
TEXTS = {
    "veltora_2018_report.txt": ["Revenue grew. Stores were opened.", "Dividends were paid."],
    "veltora_2019_report.txt": ["Revenue grew. Stores were opened.", "Dividends were kept."],
    "halden_2019_report.txt": ["Revenue fell. Stores were closed.", "Valve AX-4471/B was replaced."],
    "parts.txt": ["Valves and pumps are stored by number.", "The AX 4471 C is out of stock, part B too."],
    "pump.txt": ["The pump in hall A costs 900 euros."],
    "pump-hall-b.txt": ["The pump in hall B costs 700 euros."],
    "pets.txt": ["Dogs are kept on a lead.", "Valves are no toys."],
}


class Alike:
    """An embedder to which all texts are one."""

    def embed(self, texts: Sequence[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        return np.tile(np.array([1, 0, 0, 0], np.float32), (len(texts), 1))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    home = tmp_path_factory.mktemp("naming")
    (home / "documents").mkdir()
    for path in TEXTS:
        (home / "documents" / path).write_text("on disk")
    library = Library(home / "library.db")
    record = Record(library.database, FINGERPRINT, N_DIMS, 1)
    stats = {path: FileStat.of((home / "documents" / path).stat()) for path in TEXTS}
    record.apply(Changes(new=stats), {})
    for id, path in record.waiting():
        chunks = [Chunk(text, Locator(page=n), 5, text) for n, text in enumerate(TEXTS[path], 1)]
        record.advance(id, Stage.EMBEDDING)
        vectors = Alike().embed([chunk.text for chunk in chunks])
        record.finish(id, Version(stats[path], f"{id:064x}", READY, chunks=chunks, vectors=vectors))
    yield library
    library.close()


def retriever(library: Library) -> Retriever:
    vectors = RecordVectors(library, FINGERPRINT)
    folder = library.database.path.parent / "documents"
    return Retriever(library, vectors, vectors, Alike(), folder, Words())


def named(library: Library, question: str) -> tuple[set[str], bool]:
    found = Naming(library, Words()).named(question)
    paths = {id: path for id, path, _, _ in library.names()}
    return {paths[id] for id in found.best}, found.clearly


def test_company_and_year_name_a_report(library: Library) -> None:
    assert named(library, "What did Veltora pay in FY2018?") == ({"veltora_2018_report.txt"}, True)
    assert named(library, "How do pets live?") == ({"pets.txt"}, False)
    assert named(library, "Who closed the window?") == (set(), False)


@pytest.mark.parametrize(
    ("question", "clearly"),
    [
        ("What does the pump in hall A cost?", False),
        ("What does the pump in hall B cost?", True),
        ("What did Veltora pay in 2018?", True),
        ("What did Veltora pay?", False),
    ],
)
def test_a_name_with_a_rare_word_missing_is_another_name(
    library: Library, question: str, clearly: bool
) -> None:
    assert named(library, question)[1] is clearly


def test_a_word_that_most_names_have_chooses_none(library: Library) -> None:
    assert named(library, "What does the report say?") == (set(), False)


def test_the_named_document_comes_first(library: Library) -> None:
    found = retriever(library).search("Did the revenue of Halden grow in fiscal 2019?", ROOT, 3)
    assert found.passages[0].path == "halden_2019_report.txt"


def test_a_part_number_is_found_where_it_stands_as_written(library: Library) -> None:
    found = retriever(library).search("Which valves and pumps are stored beside AX-4471/B?", ROOT, 3)
    assert "AX-4471/B" in found.passages[0].text
