"""Searches confined to some documents: who is let in, what is said of names that are not there, no holes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from appliance.retrieval.retriever import Retriever
from appliance.text.words import Words
from ingest.access import Viewer
from ingest.chunk import Chunk
from ingest.errors import NotInLibraryError
from ingest.filter import EVERYTHING, Filter, folders_of
from ingest.folder import FileStat
from ingest.library import Library
from ingest.locator import Locator
from ingest.record import READY, Record, Stage, Version
from ingest.sweep import Changes
from ingest.vectors import RecordVectors
from tests.ingest.hash_embedder import HashEmbedder

ROOT, GUEST = Viewer(0, frozenset()), Viewer(11, frozenset())
EMBEDDER = HashEmbedder()
DAY_S = 86_400
BAR = "the valve of the boiler opens at 6 bar"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "library.db")
    yield library
    library.close()


class Desk:
    """Puts documents into the record, without files."""

    def __init__(self, library: Library) -> None:
        self.record = Record(library.database, EMBEDDER.fingerprint, EMBEDDER.n_dims, parser_version=1)

    def put(self, path: str, *texts: str, day: int = 0, mode: int = 0o644) -> int:
        look = FileStat(10, day * DAY_S * 10**9, 7, 1000, 1000, mode)
        self.record.apply(Changes(new={path: look}), {})
        id = self.record.entries()[path].id
        self.record.advance(id, Stage.PARSING)
        chunks = [Chunk(text, Locator(page=n), 5, text) for n, text in enumerate(texts, 1)]
        version = Version(
            look,
            "00",
            READY,
            format=Path(path).suffix[1:],
            chunks=chunks,
            vectors=EMBEDDER.embed(list(texts)),
        )
        assert self.record.finish(id, version)
        return id


@pytest.fixture
def desk(library: Library) -> Desk:
    return Desk(library)


@pytest.fixture
def shelf(desk: Desk) -> dict[str, int]:
    """Documents whose days are 1 to 5, and one that only root may read."""
    paths = ["top.txt", "house/boiler.pdf", "house/deep/pump.docx", "household/list.pdf", "house/secret.pdf"]
    return {
        path: desk.put(path, BAR, day=day, mode=0o600 if "secret" in path else 0o644)
        for day, path in enumerate(paths, 1)
    }


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (Filter(collections=("house",)), ["house/boiler.pdf", "house/deep/pump.docx"]),
        (Filter(collections=("house/deep/",)), ["house/deep/pump.docx"]),
        (Filter(collections=("",)), ["top.txt"]),
        (Filter(collections=("household", "house/deep")), ["house/deep/pump.docx", "household/list.pdf"]),
        (Filter(formats=("pdf",)), ["house/boiler.pdf", "household/list.pdf"]),
        (Filter(formats=("pdf",), collections=("house",)), ["house/boiler.pdf"]),
        (Filter(modified_from=2 * DAY_S, modified_until=3 * DAY_S), ["house/boiler.pdf", "house/deep/pump.docx"]),
        (Filter(modified_from=1e300), []),
        (Filter(modified_until=-1e300), []),
    ],
)  # fmt: skip
def test_a_filter_lets_in_what_it_names_of_what_the_viewer_may_read(
    library: Library, shelf: dict[str, int], only: Filter, expected: list[str]
) -> None:
    scope = library.scope(only, GUEST)
    assert scope is not None
    assert scope.documents == {shelf[path] for path in expected}
    assert scope.n_chunks == len(expected)
    found = library.lexical("valve", 10, GUEST, scope)
    chunks = library.chunks([id for id, _ in found], GUEST)
    assert sorted(chunk.document.path for chunk in chunks.values()) == sorted(expected)


def test_no_filter_is_no_scope(library: Library, shelf: dict[str, int]) -> None:
    assert library.scope(EVERYTHING, ROOT) is None


def test_documents_are_named_by_id_and_a_hidden_one_is_as_if_it_were_not_there(
    library: Library, shelf: dict[str, int]
) -> None:
    secret = Filter(documents=(shelf["house/secret.pdf"],))
    scope = library.scope(secret, ROOT)
    assert scope is not None
    assert scope.documents == {shelf["house/secret.pdf"]}
    with pytest.raises(NotInLibraryError, match=f"no document {shelf['house/secret.pdf']}"):
        library.scope(secret, GUEST)


@pytest.mark.parametrize(
    ("only", "said"),
    [
        (Filter(collections=("hous",)), "no collection 'hous'; there are: house, house/deep, household"),
        (Filter(collections=("house", "cellar")), "no collection 'cellar'"),
        (Filter(documents=(1, 2**70)), f"no document {2**70}"),
        (Filter(formats=("odt",)), "no document of type 'odt'; there are: docx, pdf, txt"),
    ],
)
def test_what_is_not_there_is_named_with_what_there_is(
    library: Library, shelf: dict[str, int], only: Filter, said: str
) -> None:
    with pytest.raises(NotInLibraryError, match=said):
        library.scope(only, GUEST)


def test_a_collection_whose_name_is_no_text_is_found_by_the_name_that_is_shown() -> None:
    assert folders_of(["caf�"], [b"caf\xe9", b"cafe", b""]) == [b"caf\xe9"]


def test_an_error_names_ten_of_many() -> None:
    with pytest.raises(NotInLibraryError, match=r"c00, .*c09 and 5 more"):
        folders_of(["x"], [f"c{n:02}".encode() for n in range(15)])


@pytest.fixture
def retriever(library: Library, tmp_path: Path) -> Retriever:
    vectors = RecordVectors(library, EMBEDDER.fingerprint)
    return Retriever(library, vectors, vectors, EMBEDDER, tmp_path / "away", Words())


def test_three_documents_are_found_behind_hundreds_of_chunks_that_are_nearer(
    library: Library, desk: Desk, retriever: Retriever
) -> None:
    desk.put("many.txt", *(f"{BAR} {n}" for n in range(400)))
    for n in range(3):
        desk.put(f"few/{n}.txt", f"something else about gardens {n}")
    found = retriever.search(BAR, ROOT, 5, Filter(collections=("few",)))
    assert sorted(p.path for p in found.passages) == ["few/0.txt", "few/1.txt", "few/2.txt"]


def test_vectors_of_some_documents_are_ranked_exactly(library: Library, desk: Desk) -> None:
    ids = [desk.put(f"{n}.txt", *(f"words {n} {m}" for m in range(30))) for n in range(5)]
    vectors = RecordVectors(library, EMBEDDER.fingerprint)
    query = EMBEDDER.embed(["words 3 7"])[0]
    everything = vectors.query(query, 1000)
    wanted = {
        id
        for id, chunk in library.chunks([i for i, _ in everything], ROOT).items()
        if chunk.document.id in ids[1:4]
    }
    expected = [(id, score) for id, score in everything if id in wanted]
    found = vectors.among(ids[1:4], query, 50)
    assert {id for id, _ in found} <= wanted
    assert np.allclose([score for _, score in found], [score for _, score in expected][:50], atol=1e-6)
    assert vectors.among([], query, 5) == []
