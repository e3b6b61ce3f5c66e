"""Files that come in through the socket: whole or not at all, and only over what the caller may write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.errors import BadUploadError, ConflictError, NotAllowedError
from appliance.upload import Folder
from ingest.access import Viewer

STRANGER = Viewer(54321, frozenset({54321}))
OWNER = Viewer(os.getuid(), frozenset({os.getgid()}))


def put(folder: Path, name: str, content: bytes, viewer: Viewer = OWNER, *, replace: bool = False) -> None:
    with Folder(folder, max_bytes=1000).receive(name, viewer, replace=replace) as file:
        file.write(content)
        file.commit()


def test_a_file_appears_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", b"words")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a.txt", b"words")]


def test_a_file_that_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    with Folder(tmp_path, max_bytes=1000).receive("a.txt", OWNER, replace=False) as file:
        file.write(b"half of the wor")
        assert [p.name for p in tmp_path.iterdir() if not p.name.startswith(".")] == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", ".hidden", "../up.txt", "sub/file.txt", "nul\0.txt", "x" * 256])
def test_a_name_that_is_no_plain_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadUploadError):
        put(tmp_path, name, b"words")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_grows_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadUploadError, match="is the most"):
        put(tmp_path, "a.txt", b"x" * 1001)
    assert list(tmp_path.iterdir()) == []


def test_a_taken_name_is_a_conflict_and_replacing_keeps_the_mode(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", b"old")
    (tmp_path / "a.txt").chmod(0o640)
    with pytest.raises(ConflictError):
        put(tmp_path, "a.txt", b"new")
    put(tmp_path, "a.txt", b"new", replace=True)
    assert (tmp_path / "a.txt").read_bytes() == b"new"
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


def test_nobody_replaces_what_they_may_not_write(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", b"old")
    with pytest.raises(NotAllowedError, match=r"a\.txt belongs to someone else"):
        put(tmp_path, "a.txt", b"new", STRANGER, replace=True)
    (tmp_path / "b.txt").symlink_to("/etc/hostname")
    with pytest.raises(BadUploadError, match="cannot be replaced"):
        put(tmp_path, "b.txt", b"new", replace=True)
    assert (tmp_path / "a.txt").read_bytes() == b"old"
