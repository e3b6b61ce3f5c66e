"""What is mounted in and under the folder: mountinfo read, and real mounts where root may make them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingest.folder import is_being_written, scan, sha256_of
from ingest.mounts import Mount, mounts_of, parse
from ingest.sweeper import Swept
from ingest.watch import Watch, described
from tests.ingest.shelf import Shelf, many

MOUNTINFO = b"""\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:30 / /srv/share rw shared:9 - cifs //server/share rw
31 22 0:31 / /srv/my\\040files\\043 rw - nfs4 server:/x rw
32 30 254:1 / /srv/share/local rw - xfs /dev/sdb rw
33 22 0:33 / /home/u/remote rw - fuse.sshfs u@h: rw
34 22 0:34 / /over rw - ext4 /dev/vdb rw
36 34 0:36 / /over/hidden rw - tmpfs tmpfs rw
35 34 0:35 / /over rw - overlay overlay rw
37 22 254:0 /var/docs /bound rw - ext4 /dev/vda rw
38 22 0:38 / /any\\351 rw - tmpfs tmpfs rw
39 22 0:39 / /auto rw - autofs systemd-1 rw
40 39 0:40 / /auto rw - nfs server:/a rw
a line of another kind
"""
Mounter = Callable[[Path, str], None]


@pytest.mark.parametrize(("folder", "kind"), [
    ("/srv/documents", "ext4"), ("/srv/share/x", "cifs"), ("/srv/share", "cifs"), ("/srv/shared", "ext4"),
    ("/srv/my files#/x", "nfs4"), ("/srv/share/local/x", "xfs"), ("/home/u/remote", "fuse.sshfs"),
    ("/over/x", "overlay"), ("/auto", "nfs"),
])  # fmt: skip
def test_a_folder_is_on_the_nearest_mount(folder: str, kind: str) -> None:
    assert parse(Path(folder), MOUNTINFO)[""].kind == kind


def test_mounts_in_a_folder_are_found_by_their_place() -> None:
    found = {place: mount.what for place, mount in parse(Path("/srv"), MOUNTINFO).items()}
    assert found == {
        "": "ext4 /dev/vda on /", "share": "cifs //server/share", "my files#": "nfs4 server:/x",
        "share/local": "xfs /dev/sdb",
    }  # fmt: skip
    places = parse(Path("/"), MOUNTINFO)
    assert "any\udce9" in places
    assert "over/hidden" not in places, "what lies under another mount is not seen"
    assert places["auto"].kind == "nfs"
    assert places["bound"].what == "ext4 /dev/vda from /var/docs"
    assert parse(Path("/srv"), b"") == {}


@pytest.mark.parametrize(("kind", "is_remote"), [
    ("ext4", False), ("xfs", False), ("tmpfs", False), ("fuseblk", False), ("cifs", True), ("nfs", True),
    ("nfs4", True), ("fuse", True), ("fuse.sshfs", True), ("overlay", True), ("vfat", False),
])  # fmt: skip
def test_network_and_layered_file_systems_give_no_hints(kind: str, is_remote: bool) -> None:
    assert Mount(kind, "").is_remote is is_remote


def test_how_the_folder_is_watched_is_said_in_words() -> None:
    local, share = Mount("ext4", ""), Mount("cifs", "")
    assert described({"": local, "usb": Mount("vfat", "")}, "") == (False, "inotify")
    assert described({"": local, "scans": share}, "") == (True, "inotify; scans/ every 5 s (cifs)")
    many = {"": local} | {f"{n}": share for n in range(5)}
    assert described(many, "")[1].endswith("2/ every 5 s (cifs) and 2 more")
    assert described({"": share, "local": local}, "") == (True, "polling every 5 s (cifs file system)")
    assert described({"": share}, "the folder is missing") == (
        True,
        "polling every 5 s (the folder is missing)",
    )
    assert described({}, "") == (False, "inotify")


# --- real mounts ---


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.close()


@pytest.fixture
def mount() -> Iterator[Mounter]:
    """Mounts a tmpfs with some options; what is still mounted goes at the end."""
    mounted = []

    def mount(place: Path, options: str = "size=1m") -> None:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "test", place], capture_output=True, check=False
        )
        if done.returncode:
            pytest.skip("nothing can be mounted here")
        mounted.append(place)

    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    yield mount
    for place in reversed(mounted):
        subprocess.run(["umount", "-l", place], capture_output=True, check=False)


def umount(place: Path) -> None:
    subprocess.run(["umount", place], check=True)


def test_a_sub_folder_whose_disk_vanishes_is_held_and_comes_back(shelf: Shelf, mount: Mounter) -> None:
    scans = shelf.folder / "scans"
    scans.mkdir()
    mount(scans, "size=1m")
    shelf.put("scans/a.txt", "b.txt", "c.txt")
    before = shelf.take_in()
    assert mounts_of(shelf.folder)["scans"].what == "tmpfs test"
    umount(scans)
    (shelf.folder / "c.txt").unlink()
    assert shelf.settle() == Swept(n_removed=1), "the hold is for the files of that disk only"
    assert sorted(shelf.ids()) == ["b.txt", "scans/a.txt"]
    assert "the disk of scans/ is not mounted (tmpfs test)" in shelf.sweeper.problem
    shelf.restart()
    shelf.settle()
    assert "scans/a.txt" in shelf.ids(), "a restart does not forget that it was there"
    mount(scans, "size=1m")
    shelf.put("scans/a.txt")
    assert shelf.settle() == Swept()
    assert (shelf.ids()["scans/a.txt"], shelf.sweeper.problem) == (before["scans/a.txt"], "")


def test_a_vanished_disk_may_be_confirmed(shelf: Shelf, mount: Mounter) -> None:
    scans = shelf.folder / "scans"
    scans.mkdir()
    mount(scans, "size=1m")
    shelf.put("scans/a.txt", "b.txt")
    shelf.take_in()
    umount(scans)
    shelf.settle()
    shelf.sweeper.confirm()
    assert shelf.settle() == Swept(n_removed=1)
    assert (list(shelf.ids()), shelf.sweeper.problem) == (["b.txt"], "")


def test_the_folders_own_disk_may_vanish_with_few_files_on_it(shelf: Shelf, mount: Mounter) -> None:
    mount(shelf.folder, "size=1m")
    shelf.put("a.txt")
    before = shelf.take_in()
    umount(shelf.folder)
    assert shelf.settle() == Swept()
    assert shelf.ids() == before
    assert "the folder is on another disk" in shelf.sweeper.problem


def test_a_disk_mounted_over_files_holds_them(shelf: Shelf, mount: Mounter) -> None:
    shelf.put("scans/a.txt", "b.txt")
    before = shelf.take_in()
    mount(shelf.folder / "scans", "size=1m")
    shelf.settle()
    assert shelf.ids() == before
    assert "a disk was mounted over scans/ (tmpfs test)" in shelf.sweeper.problem
    umount(shelf.folder / "scans")
    assert shelf.settle() == Swept()
    assert (shelf.ids(), shelf.sweeper.problem) == (before, "")


def test_a_tree_that_moves_to_another_disk_is_not_read_again(shelf: Shelf, mount: Mounter) -> None:
    (shelf.folder / "disk").mkdir()
    mount(shelf.folder / "disk", "size=8m")
    shelf.put(*many("old", 20))
    before = shelf.take_in()
    subprocess.run(["mv", shelf.folder / "old", shelf.folder / "disk"], check=True)
    assert shelf.settle() == Swept()
    assert shelf.ids() == {f"disk/{path}": id for path, id in before.items()}


def test_a_read_only_folder_is_read(shelf: Shelf, mount: Mounter) -> None:
    mount(shelf.folder, "size=1m")
    shelf.put("a.txt")
    subprocess.run(["mount", "-o", "remount,ro", shelf.folder], check=True)
    assert list(shelf.take_in()) == ["a.txt"]
    assert not is_being_written(shelf.folder / "a.txt")
    assert len(sha256_of(shelf.folder / "a.txt")) == 64


def test_what_is_mounted_later_is_watched_too(shelf: Shelf, mount: Mounter) -> None:
    (shelf.folder / "usb").mkdir()
    hints: list[None] = []
    watch = Watch(shelf.folder, lambda: hints.append(None))
    watch.start()
    try:
        observer = watch._observer
        watch.check()
        assert watch._observer is observer
        mount(shelf.folder / "usb", "size=1m")
        watch.check()
        assert watch._observer is not observer
    finally:
        watch.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user to be")
def test_a_sub_folder_without_rights_is_unknown_and_the_user_is_told() -> None:
    # The test's own folder lies in one that is closed to other users.
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o755)
        (Path(home) / "shut").mkdir(mode=0o700)
        (Path(home) / "shut" / "a.txt").touch()
        (Path(home) / "open.txt").touch()
        os.seteuid(65534)
        try:
            seen = scan(Path(home))
        finally:
            os.seteuid(0)
    assert (list(seen.files), seen.unreadable) == (["open.txt"], {"shut"})
    assert "cannot be read (Permission denied)" in seen.refused["shut"]
    assert seen.hides("shut/a.txt")
