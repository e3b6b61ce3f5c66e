"""The Chroma index: follows the record, survives an unclean stop, and is built anew when it is bad. Real Chroma."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ingest.chunk import Chunk
from ingest.dense import Dense, collection_name
from ingest.errors import DenseError
from ingest.folder import FileStat
from ingest.library import Library
from ingest.locator import Locator
from ingest.record import READY, Record, Stage, Version
from ingest.sweep import Changes
from ingest.vector_log import VectorLog
from ingest.vectors import RecordVectors

N_DIMS = 32
FINGERPRINT = "Test Embedder/v1 (ünicode)"


class Shelf:
    """A record that is filled with random vectors, and the index beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "chroma"
        self.library = Library(folder / "library.db")
        self.record = Record(self.library.database, FINGERPRINT, N_DIMS, parser_version=1)
        self.exact = RecordVectors(self.library, FINGERPRINT)
        self._rng = np.random.default_rng(7)

    def put(self, path: str, n_chunks: int) -> NDArray[np.float32]:
        stat = FileStat(1, 1, 1, 0, 0, 0o644)
        known = path in self.record.entries()
        self.record.apply(Changes(changed={path: stat}) if known else Changes(new={path: stat}), {})
        id = self.record.entries()[path].id
        self.record.advance(id, Stage.EMBEDDING)
        vectors = self._rng.normal(size=(n_chunks, N_DIMS)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        texts = [f"{path} {row} {vectors[row, 0]}" for row in range(n_chunks)]
        chunks = [
            Chunk(text=t, locator=Locator(), n_tokens=3, embed_text=t, flags=frozenset()) for t in texts
        ]
        assert self.record.finish(id, Version(stat, "00", READY, chunks=chunks, vectors=vectors))
        return vectors

    def open(self) -> Dense:
        return Dense(self.folder, self.library, FINGERPRINT, N_DIMS)

    def directory(self) -> str:
        return str(json.loads((self.folder / "index.json").read_text())["directory"])

    def agree(self, dense: Dense) -> None:
        """Check that the index holds exactly what the record holds."""
        assert dense._index is not None
        assert dense._index.ids() == VectorLog(self.library.database, FINGERPRINT).ids()
        assert dense.n_vectors == self.library.n_chunks()
        for _ in range(5):
            query = self._rng.normal(size=N_DIMS).astype(np.float32)
            found, exact = dense.query(query, 5), self.exact.query(query, 5)
            assert [id for id, _ in found] == [id for id, _ in exact]
            np.testing.assert_allclose([s for _, s in found], [s for _, s in exact], atol=1e-3)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.library.close()


@pytest.fixture
def opened(shelf: Shelf) -> Iterator[Callable[[], Dense]]:
    """Open the index, ready or not; closes what is left open."""
    all_opened: list[Dense] = []

    def open_() -> Dense:
        all_opened.append(shelf.open())
        all_opened[-1].wait(60)
        return all_opened[-1]

    yield open_
    for dense in all_opened:
        dense.close()


def crash(shelf: Shelf, dense: Dense) -> None:
    """Leave the folder as a kill would: Chroma's files as they are, and no word of a good end."""
    dense.close()
    facts = json.loads((shelf.folder / "index.json").read_text())
    (shelf.folder / "index.json").write_text(json.dumps(facts | {"clean": False}))


def test_it_follows_what_the_record_adds_replaces_and_removes(
    shelf: Shelf, opened: Callable[[], Dense]
) -> None:
    dense = opened()
    assert (dense.state, dense.reason, dense.n_vectors) == ("ready", "", 0)
    assert dense.query(np.ones(N_DIMS, np.float32), 5) == []
    shelf.put("a", 30)
    shelf.put("b", 3)
    dense.follow()
    shelf.agree(dense)
    shelf.put("a", 20)
    shelf.record.remove(["b"])
    dense.follow()
    shelf.agree(dense)


def test_it_catches_up_with_what_happened_while_it_was_closed(
    shelf: Shelf, opened: Callable[[], Dense]
) -> None:
    opened().close()
    first = shelf.directory()
    shelf.put("a", 2500)
    dense = opened()
    shelf.agree(dense)
    dense.close()
    shelf.put("a", 10)
    shelf.agree(opened())
    assert shelf.directory() == first, "nothing was built anew"


def test_a_query_before_it_is_ready_is_a_dense_error(shelf: Shelf) -> None:
    dense = shelf.open()
    dense.close()
    with pytest.raises(DenseError, match="off: closed"):
        dense.query(np.ones(N_DIMS, np.float32), 5)
    dense.follow()


def test_an_index_a_little_behind_the_record_answers_with_what_came_since(
    shelf: Shelf, opened: Callable[[], Dense]
) -> None:
    dense = opened()
    vectors = shelf.put("new.txt", 3)
    late = dense.query(vectors[0], 3)
    dense.follow()
    followed = dense.query(vectors[0], 3)
    assert [id for id, _ in late] == [id for id, _ in followed]
    np.testing.assert_allclose([s for _, s in late], [s for _, s in followed], atol=1e-3)


def test_an_index_far_behind_the_record_does_not_answer(shelf: Shelf, opened: Callable[[], Dense]) -> None:
    """Its answer would lack the newest documents, and nobody could tell."""
    dense = opened()
    vectors = shelf.put("new.txt", 2100)
    with pytest.raises(DenseError, match="catching up"):
        dense.query(vectors[0], 3)
    dense.follow()
    assert len(dense.query(vectors[0], 3)) == 3


def test_a_query_of_another_shape_is_a_dense_error_and_harms_nothing(
    shelf: Shelf, opened: Callable[[], Dense]
) -> None:
    dense = opened()
    with pytest.raises(DenseError, match="shape"):
        dense.query(np.ones(3, np.float32), 5)
    assert dense.state == "ready"


def test_after_an_unclean_stop_a_sound_index_is_probed_and_kept(
    shelf: Shelf, opened: Callable[[], Dense]
) -> None:
    shelf.put("a", 300)
    dense = opened()
    directory = shelf.directory()
    shelf.put("b", 5)
    crash(shelf, dense)
    shelf.record.remove(["a"])
    shelf.put("c", 7)
    again = opened()
    assert shelf.directory() == directory
    shelf.agree(again)


def test_an_index_that_lost_and_gained_entries_in_a_crash_is_put_right(
    shelf: Shelf, opened: Callable[[], Dense]
) -> None:
    vectors = shelf.put("a", 50)
    dense = opened()
    assert dense._index is not None
    lost = sorted(dense._index.ids())[:10]
    dense._index.remove(lost)
    dense._index.put([100_000], vectors[:1])
    crash(shelf, dense)
    shelf.agree(opened())


@pytest.mark.parametrize("damage", ["cut", "noise", "no HNSW files"])
def test_a_damaged_index_is_built_anew_from_the_record(
    shelf: Shelf, opened: Callable[[], Dense], damage: str
) -> None:
    shelf.put("a", 1500)  # above Chroma's sync threshold of 1,000, so that HNSW files are on the disk
    dense = opened()
    old = shelf.directory()
    crash(shelf, dense)
    for file in (shelf.folder / old).rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            if damage == "no HNSW files":
                if file.suffix == ".bin":
                    file.unlink()
            elif damage == "cut":
                file.write_bytes(data[: len(data) // 3])
            else:
                file.write_bytes(np.random.default_rng(1).bytes(len(data)))
    again = opened()
    assert shelf.directory() != old
    assert again.state == "ready"
    shelf.agree(again)
    again.close()
    opened()
    assert not (shelf.folder / old).exists(), "orphans go at the next start"


def test_an_index_that_fails_under_us_is_built_anew_and_swapped_in(
    shelf: Shelf, opened: Callable[[], Dense]
) -> None:
    shelf.put("a", 50)
    opened().close()
    dense = opened()
    old = shelf.directory()
    assert dense._index is not None
    dense._index.close()  # whatever Chroma is asked now, it raises
    with pytest.raises(DenseError):
        dense.query(np.ones(N_DIMS, np.float32), 5)
    assert shelf.exact.query(np.ones(N_DIMS, np.float32), 5)
    shelf.put("b", 20)
    assert dense.wait(60)
    dense.follow()
    assert shelf.directory() != old
    shelf.agree(dense)


def test_an_index_that_fails_twice_in_a_short_time_is_left_off(
    shelf: Shelf, opened: Callable[[], Dense]
) -> None:
    shelf.put("a", 5)
    dense = opened()  # built just now
    assert dense._index is not None
    dense._index.close()
    shelf.put("b", 5)
    dense.follow()
    assert dense.state == "off"
    assert "failed again" in dense.reason
    assert len(shelf.exact.query(np.ones(N_DIMS, np.float32), 20)) == 10


def test_an_index_of_another_record_or_another_chroma_is_not_trusted(
    shelf: Shelf, opened: Callable[[], Dense]
) -> None:
    shelf.put("a", 5)
    opened().close()
    for fact in (
        {"record_id": "another"},
        {"chroma": "0.0.1"},
        {"watermarks": {collection_name(FINGERPRINT): 999}},
    ):
        old = shelf.directory()
        facts = json.loads((shelf.folder / "index.json").read_text())
        (shelf.folder / "index.json").write_text(json.dumps(facts | fact))
        dense = opened()
        assert shelf.directory() != old
        shelf.agree(dense)
        dense.close()


def test_ids_that_a_cut_off_record_gives_again_are_not_answered_with_the_old_vectors(
    shelf: Shelf, opened: Callable[[], Dense]
) -> None:
    """The record lost its last commits, is written on past where it was, and only then the index is looked at."""
    shelf.put("a", 5)
    dense = opened()
    dense.close()
    with shelf.library.database.read() as connection:
        before = {row[0]: row[1] for row in connection.execute("SELECT name, seq FROM sqlite_sequence")}
    lost = shelf.put("lost", 5)
    dense = opened()
    crash(shelf, dense)
    shelf.record.remove(["lost"])
    with shelf.library.database.write() as connection:
        connection.execute("DELETE FROM changes WHERE seq > ?", (before["changes"],))
        for name, seq in before.items():
            connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (seq, name))
    shelf.open().close()  # the daemon that is killed before it has an index
    shelf.put("found", 40)
    again = opened()
    shelf.agree(again)
    assert max(score for _, score in again.query(lost[0], 50)) < 0.99


def test_an_index_that_is_off_is_tried_again_and_leaves_nothing_behind(
    shelf: Shelf, opened: Callable[[], Dense]
) -> None:
    shelf.put("a", 5)
    dense = opened()
    assert dense._index is not None
    dense._index.close()
    shelf.put("b", 5)
    dense.follow()
    assert dense.state == "off"
    dense._retry_at = 0.0
    dense.follow()
    assert dense.wait(60)
    shelf.agree(dense)
    assert len(list(shelf.folder.glob("index-*"))) == 1


def test_facts_that_cannot_be_read_mean_a_new_index(shelf: Shelf, opened: Callable[[], Dense]) -> None:
    shelf.put("a", 5)
    opened().close()
    (shelf.folder / "index.json").write_text('{"half": ')
    shelf.agree(opened())


def test_a_folder_that_cannot_be_written_turns_the_index_off_with_a_reason(shelf: Shelf) -> None:
    shelf.folder.parent.mkdir(exist_ok=True)
    shelf.folder.write_text("a file in the way")
    dense = shelf.open()
    assert not dense.wait(60)
    assert dense.state == "off"
    assert "chroma" in dense.reason
    dense.close()


def test_another_embedder_gets_a_second_index_beside_the_first(
    shelf: Shelf, opened: Callable[[], Dense]
) -> None:
    shelf.put("a", 5)
    opened().close()
    first = shelf.directory()
    other = Dense(shelf.folder, shelf.library, "another embedder", 8)
    assert other.wait(60)
    assert (other.n_vectors, shelf.directory()) == (0, first)
    other.close()
    shelf.agree(opened())


def test_collection_names_are_legal_and_differ() -> None:
    names = {collection_name(fingerprint) for fingerprint in ("a/b", "a b", "", "x" * 500, "Ünï", "-.-")}
    assert len(names) == 6
    assert all(3 <= len(name) <= 512 and name.isascii() and name[-1].isalnum() for name in names)
