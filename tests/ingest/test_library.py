"""The record: versions, access, search, queue, and what it says when its file is bad."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ingest.access import Viewer
from ingest.chunk import Chunk
from ingest.errors import DiskFullError, LibraryError
from ingest.filter import Scope
from ingest.folder import FileStat
from ingest.library import Library, fts_term
from ingest.locator import Locator
from ingest.record import READY, Record, Stage, Version
from ingest.sweep import Changes
from ingest.text_digest import digest_of
from ingest.unit import OCR, Unit
from ingest.vector_log import VectorLog
from ingest.vectors import RecordVectors
from tests.ingest.hash_embedder import HashEmbedder

ROOT = Viewer(0, frozenset())
EMBEDDER = HashEmbedder()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "library.db")
    yield library
    library.close()


@pytest.fixture
def record(library: Library) -> Record:
    return Record(library.database, EMBEDDER.fingerprint, EMBEDDER.n_dims, parser_version=1)


def stat(uid: int = 1000, gid: int = 1000, mode: int = 0o644, size: int = 10) -> FileStat:
    return FileStat(size, 1_700_000_000_000_000_000, 7, uid, gid, mode)


def chunk(text: str, **place: object) -> Chunk:
    return Chunk(
        text=text, locator=Locator(**place), n_tokens=len(text.split()), embed_text=text, flags=frozenset()
    )


def add(
    record: Record, library: Library, path: str, *texts: str, look: FileStat | None = None, title: str = ""
) -> int:
    """Bring a document to `ready`, or to its next version."""
    look = look or stat()
    if path in record.entries():
        record.apply(Changes(changed={path: look}), {})
    else:
        record.apply(Changes(new={path: look}), {})
    id = record.entries()[path].id
    record.advance(id, Stage.PARSING)
    chunks = [chunk(text, page=n) for n, text in enumerate(texts, 1)]
    version = Version(look, "00", READY, title=title, chunks=chunks, vectors=EMBEDDER.embed(list(texts)))
    assert record.finish(id, version)
    return id


def words(library: Library, query: str, viewer: Viewer = ROOT) -> list[str]:
    ids = [id for id, _ in library.lexical(query, 10, viewer)]
    found = library.chunks(ids, viewer)
    return [found[id].text for id in ids]


def check_fts(library: Library) -> None:
    with library.database.write() as connection:
        connection.execute("INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)")


def test_a_document_is_found_by_stemmed_words_without_their_accents(record: Record, library: Library) -> None:
    add(record, library, "a.txt", "The machines were cleaned in the café", "Nothing of interest")
    assert words(library, "machine AND cleaning") == ["The machines were cleaned in the café"]
    assert words(library, "cafe") == ["The machines were cleaned in the café"]


def test_a_term_may_stand_for_all_words_that_begin_so(record: Record, library: Library) -> None:
    add(record, library, "a.txt", "Der Kesseldruck", "Die Kessel", "Ein Topf")
    assert set(words(library, fts_term("kessel*"))) == {"Der Kesseldruck", "Die Kessel"}
    assert words(library, fts_term("kessel")) == ["Die Kessel"]
    assert words(library, fts_term('topf" OR "kessel')) == []
    assert library.document_frequency(["kessel*", "topf"]) == {"kessel*": 2, "topf": 1}


def test_scripts_without_spaces_are_searched_by_pieces_among_what_the_viewer_may_read(
    record: Record, library: Library
) -> None:
    a = add(record, library, "a.txt", "锅炉的压力是八巴", "水泵的压力", "钥匙")
    add(record, library, "b.txt", "锅炉的压力，机密", look=stat(uid=11, mode=0o600))
    assert library.n_containing(["锅炉", "压力", "无"]) == {"锅炉": 2, "压力": 3, "无": 0}
    weights = {"锅炉": 2.0, "压力": 1.0}
    scope = Scope(frozenset({a}), 3)
    texts = {i: chunk.text for i, chunk in library.chunks(range(1, 9), ROOT).items()}
    found = [(texts[i], score) for i, score in library.containing(weights, 10, Viewer(12, frozenset()))]
    assert found == [("锅炉的压力是八巴", 3.0), ("水泵的压力", 1.0)]
    assert len(library.containing(weights, 10, ROOT)) == 3
    assert len(library.containing(weights, 10, ROOT, scope)) == 2
    assert len(library.containing(weights, 1, ROOT)) == 1


def test_better_matches_come_first_with_higher_scores(record: Record, library: Library) -> None:
    add(
        record,
        library,
        "a.txt",
        "pump",
        "pump pump pump",
        "a long text that names a pump once among other things",
    )
    scores = [score for _, score in library.lexical("pump", 10, ROOT)]
    assert scores == sorted(scores, reverse=True)
    assert words(library, "pump")[0] == "pump pump pump"


def test_words_of_the_title_are_found_but_count_for_less(record: Record, library: Library) -> None:
    add(record, library, "a.txt", "lorem ipsum dolor", title="Forklift manual")
    add(record, library, "b.txt", "the forklift is yellow")
    assert words(library, "forklift") == ["the forklift is yellow", "lorem ipsum dolor"]
    assert library.document_frequency(["forklifts", "lorem", "absent"]) == {
        "forklifts": 1,
        "lorem": 1,
        "absent": 0,
    }


def test_a_new_version_replaces_the_old_one_in_one_commit(record: Record, library: Library) -> None:
    id = add(record, library, "a.txt", "old words")
    before = set(library.chunks(range(100), ROOT))
    record.apply(Changes(changed={"a.txt": stat(size=20)}), {})
    assert words(library, "old") == ["old words"], "the old version answers until the new one is there"
    assert add(record, library, "a.txt", "new words", "more words") == id
    assert words(library, "old") == []
    assert words(library, "new") == ["new words"]
    assert library.document(id, ROOT).n_chunks == 2
    assert not before & set(library.chunks(range(100), ROOT)), "ids are never used again"
    check_fts(library)


def test_a_removed_document_leaves_no_chunk_no_word_and_no_vector(record: Record, library: Library) -> None:
    add(record, library, "a.txt", "some words")
    add(record, library, "b.txt", "other words")
    vectors = VectorLog(library.database, EMBEDDER.fingerprint)
    seq = vectors.seq()
    record.remove(["a.txt", "never there"])
    assert words(library, "words") == ["other words"]
    assert vectors.n_vectors() == library.n_chunks() == 1
    delta = vectors.since(seq)
    assert (len(delta.removed), delta.added) == (1, [])
    check_fts(library)


def test_a_failed_version_takes_the_old_text_with_it(record: Record, library: Library) -> None:
    id = add(record, library, "a.txt", "some words")
    record.apply(Changes(changed={"a.txt": stat(size=20)}), {})
    record.advance(id, Stage.PARSING)
    assert record.finish(id, Version(stat(size=20), "11", "damaged", "the file is cut off"))
    found = library.document(id, ROOT)
    assert (found.state, found.reason, found.n_chunks) == ("damaged", "the file is cut off", 0)
    assert words(library, "words") == []


def test_work_on_a_document_that_went_away_writes_nothing(record: Record, library: Library) -> None:
    id = add(record, library, "a.txt", "some words")
    record.remove(["a.txt"])
    assert not record.finish(id, Version(stat(), "00", READY))
    assert library.documents(ROOT) == []


@pytest.mark.parametrize("viewer", [
    ROOT, Viewer(1, frozenset({1})), Viewer(1, frozenset({1, 20})), Viewer(10, frozenset({5})),
    Viewer(10, frozenset({20})), Viewer(11, frozenset()),
])  # fmt: skip
def test_sql_decides_who_may_read_exactly_as_the_viewer_does(
    record: Record, library: Library, viewer: Viewer
) -> None:
    modes = [0o000, 0o400, 0o040, 0o004, 0o440, 0o044, 0o404, 0o444, 0o200, 0o111]
    for mode in modes:
        add(record, library, f"{mode:o}.txt", "word", look=stat(uid=10, gid=20, mode=mode))
    expected = sorted(f"{mode:o}.txt" for mode in modes if viewer.may_read(10, 20, mode))
    assert [document.path for document in library.documents(viewer)] == expected
    assert len(library.lexical("word", 100, viewer)) == len(expected)
    assert len(library.chunks(range(100), viewer)) == len(expected)


def test_a_readable_file_in_a_closed_folder_is_hidden(record: Record, library: Library) -> None:
    for path in ("open/a.txt", "private/deep/b.txt", "private2/c.txt"):
        add(record, library, path, "word")
    doors = {"open": stat(mode=0o755), "private": stat(uid=10, mode=0o700), "private/deep": stat(mode=0o755)}
    record.apply(Changes(), doors | {"private2": stat(mode=0o755)})
    assert [d.path for d in library.documents(Viewer(11, frozenset()))] == ["open/a.txt", "private2/c.txt"]
    assert len(library.documents(Viewer(10, frozenset()))) == 3
    assert len(library.lexical("word", 10, Viewer(11, frozenset()))) == 2


def test_file_names_may_be_any_bytes(record: Record, library: Library) -> None:
    path = b"sub/caf\xe9 \xff\n.txt".decode("utf-8", "surrogateescape")
    id = add(record, library, path, "some \udcff words")
    assert library.document(id, ROOT).path == path
    assert record.path_of(id) == path
    assert words(library, "some") == ["some ? words"]


def test_neighbours_come_in_order_and_only_from_the_same_document(record: Record, library: Library) -> None:
    add(record, library, "a.txt", "zero", "one", "two", "three", "four")
    add(record, library, "b.txt", "elsewhere")
    middle = library.lexical("three", 1, ROOT)[0][0]
    assert [c.text for c in library.around(middle, 1, ROOT)] == ["two", "three", "four"]
    assert library.around(middle, 1, ROOT)[0].locator == Locator(page=3)
    assert library.around(10_000, 1, ROOT) == []


def test_a_query_that_fts_cannot_read_is_a_library_error(library: Library) -> None:
    with pytest.raises(LibraryError, match="unterminated string"):
        library.lexical('"open', 5, ROOT)


def test_the_same_text_is_embedded_once(record: Record, library: Library) -> None:
    add(record, library, "a.txt", "same text")
    known = record.known_vectors([digest_of("same text"), digest_of("another")])
    assert list(known) == [digest_of("same text")]
    np.testing.assert_allclose(known[digest_of("same text")], EMBEDDER.embed(["same text"])[0], atol=1e-3)


def test_a_stop_puts_unfinished_documents_back_into_the_queue(record: Record, library: Library) -> None:
    record.apply(Changes(new={"a.txt": stat(), "b.txt": stat()}), {})
    (a, _), (b, _) = record.waiting()
    record.advance(a, Stage.PARSING)
    record.advance(b, Stage.EMBEDDING)
    assert record.waiting() == []
    record.recover()
    assert record.waiting() == [(a, "a.txt"), (b, "b.txt")]


def test_a_file_that_stops_the_daemon_again_and_again_is_given_up(record: Record, library: Library) -> None:
    record.apply(Changes(new={"a.txt": stat()}), {})
    [(id, _)] = record.waiting()
    for _ in range(5):
        assert library.document(id, ROOT).state == "waiting"
        record.advance(id, Stage.PARSING)
        record.recover()
    assert library.document(id, ROOT).state == "crashed"
    record.recover()
    assert record.waiting() == []


def test_failed_files_wait_again_when_the_parser_is_newer(record: Record, library: Library) -> None:
    add(record, library, "good.txt", "words")
    record.apply(Changes(new={"bad.txt": stat()}), {})
    [(bad, _)] = record.waiting()
    record.advance(bad, Stage.PARSING)
    record.finish(bad, Version(stat(), "11", "damaged", "cut off"))
    record.recover()
    assert record.waiting() == []
    newer = Record(library.database, EMBEDDER.fingerprint, EMBEDDER.n_dims, parser_version=2)
    newer.recover()
    assert newer.waiting() == [(bad, "bad.txt")]


def test_another_embedder_reads_everything_again(record: Record, library: Library) -> None:
    id = add(record, library, "a.txt", "words")
    other = Record(library.database, "another", 3, parser_version=1)
    other.recover()
    assert other.waiting() == [(id, "a.txt")]
    assert words(library, "words") == ["words"]


def test_exact_search_follows_the_record(record: Record, library: Library) -> None:
    vectors = RecordVectors(library, EMBEDDER.fingerprint)
    query = EMBEDDER.embed(["red pump"])[0]
    assert vectors.query(query, 5) == []
    add(record, library, "a.txt", "red pump", "blue door", "green tree")
    found = vectors.query(query * 3, 2)
    assert library.chunks([found[0][0]], ROOT)[found[0][0]].text == "red pump"
    assert found[0][1] == pytest.approx(1.0, abs=1e-3)
    add(record, library, "a.txt", "yellow car", "red pump station", "white wall", "black board")
    record.remove(["never there"])
    again = vectors.query(query, 10)
    assert len(again) == 4
    assert library.chunks([again[0][0]], ROOT)[again[0][0]].text == "red pump station"
    VectorLog(library.database, EMBEDDER.fingerprint).prune(10_000)
    record.remove(["a.txt"])
    assert vectors.query(query, 10) == []
    add(record, library, "b.txt", "x")
    with pytest.raises(LibraryError, match="shape"):
        vectors.query(np.ones(3, np.float32), 1)


def test_exact_search_agrees_with_numpy_after_many_changes(record: Record, library: Library) -> None:
    rng = np.random.default_rng(1)
    vectors = RecordVectors(library, EMBEDDER.fingerprint)
    for step in range(60):
        path = f"{rng.integers(8)}.txt"
        if rng.random() < 0.3:
            record.remove([path])
        else:
            add(
                record,
                library,
                path,
                *[f"text {step} {n} {rng.integers(1000)}" for n in range(rng.integers(1, 6))],
            )
        query = rng.normal(size=64).astype(np.float32)
        ids, matrix = [], []
        for page, rows in VectorLog(library.database, EMBEDDER.fingerprint).pages():
            ids, matrix = page, rows
        expected = sorted(zip(ids, (matrix @ query / np.linalg.norm(query)).tolist() if ids else [], strict=True),
                          key=lambda pair: -pair[1])[:3]  # fmt: skip
        found = vectors.query(query, 3)
        assert [id for id, _ in found] == [id for id, _ in expected]


def test_what_was_left_out_of_a_document_is_kept_with_it(record: Record, library: Library) -> None:
    record.apply(Changes(new={"a.csv": stat()}), {})
    [(id, _)] = record.waiting()
    record.advance(id, Stage.PARSING)
    notes = ("Only the first 20,000 rows were read.", "One sheet is hidden.")
    record.finish(id, Version(stat(), "11", "empty", "no text", notes=notes))
    assert library.document(id, ROOT).notes == notes


def test_pages_of_an_unfinished_document_outlive_a_stop_and_no_more(record: Record, library: Library) -> None:
    units = (Unit("Read \udcff from a picture", Locator(page=2), flags=frozenset({OCR})),)
    record.apply(Changes(new={"a.pdf": stat(), "b.pdf": stat()}), {})
    record.keep_page_text("aa", "", 2, units)
    record.keep_page_text("aa", "1", 2, ())
    record.keep_page_text("bb", "", 1, units)
    again = Record(library.database, EMBEDDER.fingerprint, EMBEDDER.n_dims, parser_version=1)
    assert again.page_text("aa", "", 2) == units
    assert again.page_text("aa", "1", 2) == ()
    assert again.page_text("aa", "", 3) is None
    newer = Record(library.database, EMBEDDER.fingerprint, EMBEDDER.n_dims, parser_version=2)
    assert newer.page_text("aa", "", 2) is None
    [(a, _), _] = record.waiting()
    record.advance(a, Stage.PARSING)
    record.finish(a, Version(stat(), "aa", "empty", "no text"))
    assert record.page_text("aa", "", 2) is None
    assert record.page_text("bb", "", 1) == units
    record.remove(["b.pdf"])
    assert record.page_text("bb", "", 1) is None, "nothing is queued any more"


def test_many_threads_read_while_one_writes(record: Record, library: Library) -> None:
    problems: list[Exception] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                texts = {
                    c.text
                    for c in library.chunks([i for i, _ in library.lexical("word", 50, ROOT)], ROOT).values()
                }
                assert len({text.split()[0] for text in texts}) <= 1, "two versions at once"
        except Exception as error:
            problems.append(error)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for version in range(30):
        add(record, library, "a.txt", *[f"version{version} word {n}" for n in range(5)])
    done.set()
    for reader in readers:
        reader.join()
    assert problems == []


def test_a_full_disk_is_named_and_changes_nothing(record: Record, library: Library) -> None:
    add(record, library, "a.txt", "some words")
    with library.database.write() as connection:
        used = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {used + 2}")
    with pytest.raises(DiskFullError, match="disk is full"):
        add(record, library, "a.txt", *[f"text {n} " * 200 for n in range(50)])
    assert words(library, "words") == ["some words"]
    with library.database.write() as connection:
        connection.execute("PRAGMA max_page_count = 100000")
    add(record, library, "a.txt", *[f"text {n}" for n in range(50)])
    check_fts(library)


def test_a_file_that_is_no_database_is_set_aside_and_a_new_record_begins(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    for text in (b"this is no database at all" * 1000, b"nor is this" * 1000):
        path.write_bytes(text)
        library = Library(path)
        assert library.documents(ROOT) == []
        library.close()
        assert (tmp_path / "library.db.damaged").read_bytes() == text


def test_damage_that_an_unclean_stop_left_is_found_as_the_record_is_opened(tmp_path: Path) -> None:
    path, home = tmp_path / "library.db", tmp_path / "crashed"
    library = Library(path)
    record = Record(library.database, EMBEDDER.fingerprint, EMBEDDER.n_dims, parser_version=1)
    for n in range(20):
        add(record, library, f"{n}.txt", *[f"word{n} word{i}" for i in range(100)])
    home.mkdir()
    for file in tmp_path.glob("library.db*"):
        (home / file.name).write_bytes(file.read_bytes())  # as a kill leaves them
    library.close()
    sound = Library(home / "library.db")
    assert len(sound.documents(ROOT)) == 20
    sound.close()
    damaged = bytearray((home / "library.db").read_bytes())
    damaged[4096 * 5 : 4096 * 30] = bytes(4096 * 25)
    (home / "library.db").write_bytes(damaged)
    (home / "library.db-wal").write_bytes(b"\0" * 32)
    anew = Library(home / "library.db")
    assert anew.documents(ROOT) == []
    record = Record(anew.database, EMBEDDER.fingerprint, EMBEDDER.n_dims, parser_version=1)
    assert add(record, anew, "0.txt", "word") > 1000, "old conversations know other documents by small ids"
    anew.close()


def test_a_record_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    Library(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = '999' WHERE key = 'schema_version'")
    connection.close()
    with pytest.raises(LibraryError, match=r"newer appliance.*version 999"):
        Library(path)


def test_a_folder_that_cannot_be_made_is_a_library_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LibraryError, match="cannot be used"):
        Library(tmp_path / "file" / "library.db")


def test_a_closed_library_says_so(tmp_path: Path) -> None:
    library = Library(tmp_path / "library.db")
    library.close()
    with pytest.raises(LibraryError, match="closed"):
        library.documents(ROOT)


def test_the_same_text_is_found_under_every_name_that_the_viewer_may_read(
    library: Library, record: Record
) -> None:
    add(record, library, "a.txt", "boil the water", "and wait")
    add(record, library, "copy/b.txt", "boil the water")
    add(record, library, "secret.txt", "boil the water", look=stat(mode=0o600))
    add(record, library, "c.txt", "boil the oil")
    ids = {chunk.text: chunk.id for chunk in library.around(1, 5, ROOT)}
    staff = Viewer(2000, frozenset({2000}))
    assert library.same_text(list(ids.values()), ROOT) == {
        ids["boil the water"]: ["copy/b.txt", "secret.txt"]
    }
    assert library.same_text(list(ids.values()), staff) == {ids["boil the water"]: ["copy/b.txt"]}


def test_versions_and_the_order_of_reading_are_told_whoever_may_read_them(
    library: Library, record: Record
) -> None:
    first, second = add(record, library, "a.txt", "one"), add(record, library, "b/b.txt", "two")
    add(record, library, "empty.txt")
    record.apply(Changes(new={"new.txt": stat(mode=0o600)}), {})
    assert library.versions() == {"00"}
    assert library.last_read() == [(second, "b/b.txt", "00"), (first, "a.txt", "00")]
    add(record, library, "a.txt", "one, again")
    assert [id for id, _, _ in library.last_read()] == [first, second]
    record.apply(Changes(changed={"b/b.txt": stat(size=11)}), {})
    assert [id for id, _, _ in library.last_read()] == [first]
