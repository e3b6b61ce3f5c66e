"""A dropped file's way into the record, end to end: real folder, inotify, parse server, SQLite and Chroma."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from ingest.access import Viewer
from ingest.unit import Parsed
from models.embedder import open_embedder
from tests.ingest.desk import Desk, KeptParser
from tests.ingest.hash_embedder import HashEmbedder

MINILM = Path(__file__).parents[2] / ".cache/models/all-minilm-l6-v2/onnx"


def test_a_dropped_file_becomes_searchable_by_words_and_by_meaning(desk: Desk) -> None:
    (desk.folder / "pump.txt").write_text("The red pump is serviced in March.\n")
    (desk.folder / "door.md").write_text("# Doors\n\nThe blue door has a squeaky hinge.\n")
    desk.until_states(pump="ready", door="ready")
    assert desk.words("pump") == ["pump.txt"]
    assert desk.near("squeaky hinge of the blue door") == "door.md"
    pump = desk.documents()["pump.txt"]
    assert (pump.n_chunks, pump.format, pump.reason, len(pump.sha256)) == (1, "txt", "", 64)
    assert desk.ingest.status().n_waiting == 0
    assert desk.n_changes >= 6


def test_a_changed_file_is_read_again_and_keeps_its_id(desk: Desk) -> None:
    file = desk.folder / "a.txt"
    file.write_text("first words\n")
    desk.until_states(a="ready")
    id = desk.documents()["a.txt"].id
    file.write_text("second words\n")
    desk.until(lambda: desk.words("second") == ["a.txt"])
    assert desk.words("first") == []
    assert desk.documents()["a.txt"].id == id


def test_an_atomic_save_never_looks_like_a_deletion(desk: Desk) -> None:
    file = desk.folder / "a.txt"
    file.write_text("version 0\n")
    desk.until_states(a="ready")
    id = desk.documents()["a.txt"].id
    for n in range(1, 6):
        (desk.folder / ".a.txt.new").write_text(f"version {n}\n")
        file.unlink()
        (desk.folder / ".a.txt.new").rename(file)
        time.sleep(0.05)
    desk.until(lambda: desk.words('"version 5"') == ["a.txt"])
    assert desk.documents()["a.txt"].id == id


def test_a_deleted_file_is_gone_from_record_and_index(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("some words\n")
    (desk.folder / "b.txt").write_text("other words\n")
    desk.until_states(a="ready", b="ready")
    (desk.folder / "a.txt").unlink()
    desk.until_states(b="ready")
    assert desk.words("words") == ["b.txt"]
    desk.until(lambda: desk.dense.n_vectors == 1)


def test_a_moved_tree_is_neither_read_nor_embedded_again(desk: Desk) -> None:
    (desk.folder / "old" / "deep").mkdir(parents=True)
    for n in range(5):
        (desk.folder / "old" / "deep" / f"f{n}.txt").write_text(f"document number {n}\n")
    desk.until_states(**{f"f{n}": "ready" for n in range(5)})
    ids = {document.id for document in desk.documents().values()}
    desk.parser.paths.clear()
    (desk.folder / "old").rename(desk.folder / "new")
    desk.until(lambda: sorted(desk.documents()) == [f"new/deep/f{n}.txt" for n in range(5)])
    assert {document.id for document in desk.documents().values()} == ids
    assert desk.parser.paths == []


def test_other_rights_take_effect_without_reading_again(desk: Desk) -> None:
    file = desk.folder / "a.txt"
    file.write_text("pay slips\n")
    file.chmod(0o644)
    desk.until_states(a="ready")
    stranger = Viewer(54_321, frozenset({54_321}))
    assert len(desk.library.documents(stranger)) == 1
    desk.parser.paths.clear()
    file.chmod(0o600)
    desk.until(lambda: desk.library.documents(stranger) == [])
    (desk.folder / "sub").mkdir()
    file.chmod(0o644)
    file.rename(desk.folder / "sub" / "a.txt")
    desk.until(lambda: len(desk.library.documents(stranger)) == 1)
    (desk.folder / "sub").chmod(0o700)
    desk.until(lambda: desk.library.documents(stranger) == [])
    assert desk.parser.paths == []


def test_changes_while_it_was_down_end_up_right(desk: Desk) -> None:
    for name in ("stays", "changes", "goes", "moves"):
        (desk.folder / f"{name}.txt").write_text(f"the file that {name}\n")
    desk.until_states(stays="ready", changes="ready", goes="ready", moves="ready")
    moved = desk.documents()["moves.txt"].id
    desk.stop()
    (desk.folder / "changes.txt").write_text("quite another text\n")
    (desk.folder / "goes.txt").unlink()
    (desk.folder / "moves.txt").rename(desk.folder / "moved.txt")
    (desk.folder / "comes.txt").write_text("a newcomer\n")
    desk.parser.paths.clear()
    desk.start()
    desk.until_states(stays="ready", changes="ready", moved="ready", comes="ready")
    desk.until(lambda: desk.words("another") == ["changes.txt"])
    assert desk.documents()["moved.txt"].id == moved
    assert sorted(desk.parser.paths) == ["changes.txt", "comes.txt"]


def test_a_file_counts_only_once_it_is_closed_and_still(desk: Desk) -> None:
    with open(desk.folder / "a.txt", "w") as file:
        for n in range(8):
            file.write(f"line {n}\n")
            file.flush()
            time.sleep(0.15)  # longer than it must be still, yet open
            assert desk.parser.paths == []
    desk.until_states(a="ready")
    assert desk.parser.paths == ["a.txt"]


def test_a_file_that_changes_while_it_is_read_is_read_again(desk: Desk) -> None:
    desk.embedder.delay_s = 0.3  # type: ignore[attr-defined]
    (desk.folder / "a.txt").write_text("first words\n")
    desk.until_states(a="embedding")
    (desk.folder / "a.txt").write_text("second words\n")
    desk.until_states(a="ready")
    assert (desk.words("first"), desk.words("second")) == ([], ["a.txt"])


def test_a_file_renamed_while_it_is_read_is_not_read_again(desk: Desk) -> None:
    desk.embedder.gate.clear()  # type: ignore[attr-defined]
    (desk.folder / "a.txt").write_text("some words\n")
    desk.until_states(a="embedding")
    (desk.folder / "a.txt").rename(desk.folder / "b.txt")
    desk.until_states(b="embedding")
    desk.embedder.gate.set()  # type: ignore[attr-defined]
    desk.until_states(b="ready")
    assert desk.parser.paths == ["a.txt"]
    assert desk.words("words") == ["b.txt"]


class RenamingParser(KeptParser):
    """Finds the first file renamed, and the sweep aware of it, before it is opened."""

    desk: Desk

    def parse(self, path: Path, part: str | None = None, page: int | None = None) -> Parsed:
        if path.name == "a.txt":
            path.rename(path.with_name("b.txt"))
            self.desk.until(lambda: list(self.desk.states()) == ["b.txt"])
        return super().parse(path, part, page)


def test_a_file_renamed_before_it_is_opened_is_read_under_its_new_name(
    tmp_path: Path, parser: KeptParser
) -> None:
    renaming = RenamingParser(parser.parser)
    renaming.desk = desk = Desk(tmp_path, renaming, HashEmbedder())
    desk.start()
    try:
        (desk.folder / "a.txt").write_text("some words\n")
        desk.until_states(b="ready")
        assert renaming.paths == ["a.txt", "b.txt"]
    finally:
        desk.stop()


def test_a_file_deleted_while_it_is_read_leaves_nothing(desk: Desk) -> None:
    desk.embedder.gate.clear()  # type: ignore[attr-defined]
    (desk.folder / "a.txt").write_text("some words\n")
    desk.until_states(a="embedding")
    (desk.folder / "a.txt").unlink()
    desk.embedder.gate.set()  # type: ignore[attr-defined]
    desk.until(lambda: desk.states() == {})
    desk.until(lambda: desk.ingest.status().current == "")
    assert desk.library.n_chunks() == 0


def test_the_same_text_is_embedded_once_and_found_under_every_name(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("the same words\n")
    desk.until_states(a="ready")
    desk.embedder.texts.clear()  # type: ignore[attr-defined]
    shutil.copy(desk.folder / "a.txt", desk.folder / "b.txt")
    desk.until_states(a="ready", b="ready")
    assert sorted(desk.words("same")) == ["a.txt", "b.txt"]
    assert desk.embedder.texts == []  # type: ignore[attr-defined]


def test_a_failed_file_says_why_and_is_tried_again_only_when_it_changes(desk: Desk) -> None:
    (desk.folder / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    (desk.folder / "blank.txt").write_bytes(b"")
    (desk.folder / "big.txt").write_bytes(b"word " * 500_000)
    desk.until_states(bad="damaged", blank="empty", big="too_large")
    assert all(document.reason for document in desk.documents().values())
    desk.parser.paths.clear()
    desk.stop()
    desk.start()
    (desk.folder / "blank.txt").write_text("now there is something\n")
    desk.until_states(bad="damaged", blank="ready", big="too_large")
    assert desk.parser.paths == ["blank.txt"]


@pytest.mark.skipif(not MINILM.exists(), reason="the embedder is not installed: `make test` fetches it")
def test_the_real_embedder_finds_by_meaning(tmp_path: Path, parser: KeptParser) -> None:
    desk = Desk(tmp_path, parser, open_embedder(MINILM))
    (desk.folder / "dogs.txt").write_text("Our puppy chases its tail in the garden.\n")
    (desk.folder / "tax.txt").write_text("The invoice is due within thirty days.\n")
    desk.start()
    try:
        desk.until_states(dogs="ready", tax="ready")
        assert desk.near("a young dog at play") == "dogs.txt"
        assert desk.near("when must the bill be paid?") == "tax.txt"
    finally:
        desk.stop()
