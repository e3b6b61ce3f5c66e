"""Archives: what they hold is listed, their files are parts, and no archive can unpack more than its limits."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from ingest.formats import zip_archive
from ingest.formats.reading import Reading, RefusedError
from ingest.limits import MIB, ParseLimits
from ingest.unit import Outcome

LIMITS = ParseLimits()


def archive(*members: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members:
            file.writestr(name, data)
    return out.getvalue()


def named(reading: Reading) -> list[str]:
    return [part.name[0] for part in reading.parts]


def locked(data: bytes, names: int) -> bytes:
    """Set the mark of a password on the first members."""
    out, at = bytearray(data), 0
    for _ in range(names):
        at = out.index(b"PK\x01\x02", at) + 8
        out[at] |= 1
    return bytes(out)


def renamed(data: bytes, old: bytes, new: bytes) -> bytes:
    assert len(old) == len(new)
    return data.replace(old, new)


def test_an_archive_is_found_by_what_it_holds_and_its_files_are_parts() -> None:
    data = archive(("plans/boiler.csv", b"1;2"), ("notes.txt", b"x"))
    reading = zip_archive.read(data, LIMITS)
    assert [unit.text for unit in reading.units] == ["This archive holds: plans/boiler.csv, notes.txt"]
    assert named(reading) == ["plans/boiler.csv", "notes.txt"]
    assert zip_archive.extract(data, reading.parts[0].key, LIMITS) == b"1;2"
    assert reading.parts[0].key.endswith("/boiler.csv")


def test_what_systems_leave_behind_and_empty_files_are_no_parts() -> None:
    names = ("__MACOSX/._a.txt", ".DS_Store", "a/.git/config", "Thumbs.db", "~$a.docx", "folder/")
    reading = zip_archive.read(
        archive(*((name, b"x") for name in names), ("a.txt", b"x"), ("b.txt", b"")), LIMITS
    )
    assert named(reading) == ["a.txt"]


def test_two_members_of_one_name_are_both_found() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = archive(("a.txt", b"one"), ("a.txt", b"two"))
    parts = zip_archive.read(data, LIMITS).parts
    assert [zip_archive.extract(data, part.key, LIMITS) for part in parts] == [b"one", b"two"]


def test_archives_in_archives_become_a_note() -> None:
    reading = zip_archive.read(archive(("in.zip", archive(("a.txt", b"x"))), ("b.TAR.GZ", b"x")), LIMITS)
    assert reading.parts == []
    assert reading.notes == ["not opened, they are archives inside the archive: in.zip, b.TAR.GZ"]


def test_names_that_climb_out_are_only_names() -> None:
    data = archive(("../../etc/passwd", b"x"), ("/root/.ssh", b"y"), ("c:\\a.txt", b"z"))
    assert named(zip_archive.read(data, LIMITS)) == ["../../etc/passwd", "c:/a.txt"]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("Größe".encode("cp437"), "Größe"),
        ("Größe".encode("cp1252"), "Größe"),
        ("Größe".encode(), "Größe"),
    ],
)
def test_member_names_in_any_encoding_are_read(raw: bytes, shown: str) -> None:
    data = renamed(archive(("n" * len(raw) + ".txt", b"x")), b"n" * len(raw), raw)
    assert named(zip_archive.read(data, LIMITS)) == [shown + ".txt"]


def test_an_archive_with_a_password_on_half_its_files_asks_for_one() -> None:
    data = locked(archive(("a.txt", b"x"), ("b.txt", b"y")), 1)
    with pytest.raises(RefusedError, match="password") as refusal:
        zip_archive.read(data, LIMITS)
    assert refusal.value.outcome is Outcome.NEEDS_PASSWORD


def test_a_few_files_with_a_password_become_a_note() -> None:
    data = locked(archive(("a.txt", b"x"), ("b.txt", b"y"), ("c.txt", b"z")), 1)
    reading = zip_archive.read(data, LIMITS)
    assert named(reading) == ["b.txt", "c.txt"]
    assert reading.notes == ["not read, they have a password: a.txt"]
    with pytest.raises(RefusedError, match="password"):
        zip_archive.extract(data, "0/a.txt", LIMITS)


def test_a_member_that_says_it_is_too_large_is_left_out() -> None:
    limits = ParseLimits(max_part_mb=1)
    data = archive(("bomb.txt", bytes(3 * MIB)), ("a.txt", b"x"))
    assert zip_archive.read(data, limits).notes == ["not read, they unpack to too much: bomb.txt"]
    with pytest.raises(RefusedError, match="more than 1 MB"):
        zip_archive.read(archive(("bomb.txt", bytes(3 * MIB))), limits)
    with pytest.raises(RefusedError, match="more than 1 MB"):
        zip_archive.extract(data, "0/bomb.txt", limits)


def test_a_member_that_lies_about_its_size_is_stopped() -> None:
    limits = ParseLimits(max_part_mb=1)
    data = archive(("bomb.txt", bytes(3 * MIB)))
    lie = data.replace(struct.pack("<I", 3 * MIB), struct.pack("<I", 10))
    assert named(zip_archive.read(lie, limits)) == ["bomb.txt"]
    with pytest.raises(RefusedError):
        zip_archive.extract(lie, "0/bomb.txt", limits)


def test_files_beyond_the_limit_of_the_whole_are_left_out() -> None:
    limits = ParseLimits(max_part_mb=2, max_zip_mb=3)
    reading = zip_archive.read(archive(*((f"{i}.txt", bytes(MIB)) for i in range(5))), limits)
    assert named(reading) == ["0.txt", "1.txt", "2.txt"]


def test_too_many_members_are_refused_and_too_many_parts_noted() -> None:
    with pytest.raises(RefusedError, match="holds 11 files"):
        zip_archive.read(archive(*((f"{i}.txt", b"x") for i in range(11))), ParseLimits(max_zip_members=10))
    reading = zip_archive.read(archive(*((f"{i}.txt", b"x") for i in range(600))), LIMITS)
    assert len(reading.parts) == 200
    assert reading.notes == ["only the first 200 of 600 files are read"]
    assert reading.units[-1].text == "This archive holds: and 100 more files"


@pytest.mark.parametrize("cut", [30, 90])
def test_a_cut_off_archive_is_refused(cut: int) -> None:
    with pytest.raises(RefusedError, match="cut off or broken"):
        zip_archive.read(archive(("a.txt", b"x" * 50), ("b.txt", b"y"))[:cut], LIMITS)


def test_broken_bytes_of_a_member_are_refused() -> None:
    data = bytearray(archive(("a.txt", bytes(range(256)) * 10)))
    data[60] ^= 0xFF
    with pytest.raises(RefusedError, match="broken"):
        zip_archive.extract(bytes(data), "0/a.txt", LIMITS)


@pytest.mark.parametrize("key", ["", "9/a.txt", "x", "-1/a.txt", "../a.txt"])
def test_a_key_that_names_nothing_is_refused(key: str) -> None:
    with pytest.raises(RefusedError, match="not in the archive"):
        zip_archive.extract(archive(("a.txt", b"x")), key, LIMITS)


def test_an_empty_archive_has_nothing_to_say() -> None:
    assert zip_archive.read(archive(), LIMITS).units == []
