"""Which missing documents are kept: pure tables."""

from __future__ import annotations

import pytest

from ingest.folder import FileStat
from ingest.hold import Hold, Memory, Missing, hold
from ingest.sweep import Entry

DISK, SHARE = "ext4 /dev/sda1 on /", "cifs //srv/scans"


def look(n: int) -> FileStat:
    return FileStat(size=n, mtime_ns=n, inode=n, uid=1, gid=1, mode=0o644)


def record(*paths: str) -> dict[str, Entry]:
    return {path: Entry(n, look(n), f"hash {n}", False) for n, path in enumerate(paths, 1)}


def numbered(folder: str, n: int) -> list[str]:
    return [f"{folder}{i}.txt" for i in range(n)]


def held(
    there: list[str], gone: list[str], memory: Memory | None = None, mounts: dict[str, str] | None = None,
    n_removed: int = 0, share: float = 0.25,
) -> Hold:  # fmt: skip
    before = memory or Memory({"": DISK})
    known = record(*there, *gone)
    return hold(Missing(known, gone, there, mounts or {"": DISK}, before, n_removed), share)


@pytest.mark.parametrize(("n_there", "n_gone", "share", "is_held"), [
    (0, 9, 0.25, False), (0, 10, 0.25, True), (30, 10, 0.25, False), (29, 10, 0.25, True), (0, 500, 1.0, False),
    (1000, 10, 0.0, True),
])  # fmt: skip
def test_a_large_share_of_many_documents_is_held(
    n_there: int, n_gone: int, share: float, is_held: bool
) -> None:
    gone = numbered("old/", n_gone)
    found = held(numbered("", n_there), gone, share=share)
    assert found.paths == (frozenset(gone) if is_held else frozenset())


def test_it_says_how_many_are_missing_and_where_and_what_to_do() -> None:
    assert held(numbered("", 5), numbered("2023/a/", 9) + numbered("2023/b/", 9)).problem == (
        "18 of 23 documents are missing, all of them in 2023/: they are kept. Put the files back, or mount their "
        "disk; if the files were deleted on purpose, run `appliance ingest confirm`"
    )
    assert "missing, 12 of them in b/: they" in held([], numbered("a/", 3) + numbered("b/c/", 12)).problem
    assert "10 of them not in any sub-folder" in held([], [*numbered("", 10), "a/b.txt"]).problem


def test_what_was_held_stays_held_when_the_share_becomes_small() -> None:
    gone = numbered("old/", 3)
    there = numbered("", 500)
    ids = frozenset(entry.id for path, entry in record(*there, *gone).items() if path in gone)
    assert held(there, gone, Memory({"": DISK}, ids)).paths == frozenset(gone)


def test_who_deletes_slowly_deletes_as_much() -> None:
    gone = numbered("old/", 5)
    assert held(numbered("", 35), gone).paths == frozenset()
    assert held(numbered("", 35), gone, n_removed=20).paths == frozenset(gone)


def test_what_is_still_there_under_another_name_is_not_lost() -> None:
    known = record(*numbered("old/", 20))
    copies = {f"new/{path}": Entry(100 + e.id, e.stat, e.sha256, False) for path, e in known.items()}
    missing = Missing(known | copies, list(known), list(copies), {"": DISK}, Memory({"": DISK}))
    assert hold(missing, 0.25).paths == frozenset()


def test_a_mount_that_is_away_holds_its_own_files_only() -> None:
    memory = Memory({"": DISK, "scans": SHARE})
    found = held(numbered("", 90), ["scans/a.txt", "b.txt", "scanned.txt"], memory)
    assert found.paths == {"scans/a.txt"}
    assert found.problem == (
        "the disk of scans/ is not mounted (cifs //srv/scans): documents that are missing below it are kept "
        "(1). Mount it; if the files were deleted on purpose, run `appliance ingest confirm`"
    )
    assert found.memory.mounts == memory.mounts, "the next sweep must still know that it is away"


def test_the_hold_of_a_mount_ends_when_it_is_back() -> None:
    memory = Memory({"": DISK, "scans": SHARE}, frozenset({1}))
    found = held(["scans/a.txt"], [], memory, {"": DISK, "scans": SHARE})
    assert found == Hold(frozenset(), "", Memory({"": DISK, "scans": SHARE}))


def test_a_mount_that_went_for_good_is_forgotten_when_nothing_is_missing() -> None:
    memory = Memory({"": DISK, "scans": SHARE})
    assert held(["scans/a.txt"], [], memory).memory == Memory({"": DISK})


def test_a_mount_over_a_sub_folder_holds_what_it_hides() -> None:
    found = held(numbered("", 90), ["scans/a.txt"], mounts={"": DISK, "scans": SHARE})
    assert found.paths == {"scans/a.txt"}
    assert found.problem.startswith("a disk was mounted over scans/ (cifs //srv/scans)")
    assert found.memory.mounts == {"": DISK}


def test_another_disk_in_a_place_is_told_from_the_same_one_by_what_is_on_it() -> None:
    other = {"": "ext4 /dev/sdb1 on /"}
    assert held([], ["a.txt"], mounts=other).paths == {"a.txt"}
    assert "the folder is on another disk (ext4 /dev/sdb1 on /, before: ext4 /dev/sda1 on /)" in (
        held([], ["a.txt"], mounts=other).problem
    )
    assert held(["b.txt"], ["a.txt"], mounts=other).paths == frozenset()


def test_memory_is_kept_as_text_with_names_of_any_bytes() -> None:
    memory = Memory({"caf\udce9": SHARE}, frozenset({3, 1}))
    text = memory.text()
    text.encode("ascii")
    assert Memory.read(text) == memory
    assert Memory.read("") == Memory()
