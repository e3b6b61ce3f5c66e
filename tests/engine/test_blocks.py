"""Kept blocks on a real folder; their states are any bytes."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.engine.blocks import Blocks
from tests.engine.test_kv_code import of_rows, rows

OWNER, OTHER = "a1" * 16, "b2" * 16
BASE, TOKENS = [1, 2, 3], [7, 8, 9]
STATE = b"its state"


def opened(folder: Path, key: str = "model", max_bytes: int = 10**6) -> Blocks:
    return Blocks(folder, key, max_bytes)


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def kept(folder: Path, state: bytes = STATE) -> tuple[Blocks, str]:
    blocks = opened(folder)
    name = blocks.name(BASE, TOKENS)
    assert blocks.write(OWNER, name, state)
    return blocks, name


def grow_old(folder: Path) -> None:
    for path in files(folder):
        about = path.stat()
        os.utime(path, (about.st_atime, about.st_mtime - 60))


def test_block_is_found_by_this_process_and_the_next(tmp_path: Path) -> None:
    first, name = kept(tmp_path)
    for blocks in (first, opened(tmp_path)):
        assert blocks.has(OWNER, name)
        assert blocks.read(OWNER, name) == STATE
        assert (blocks.n_blocks, blocks.n_bytes) == (1, files(tmp_path)[0].stat().st_size)
    assert [path.parent.name for path in files(tmp_path)] == [OWNER]


def test_block_of_another_document_is_another(tmp_path: Path) -> None:
    blocks, name = kept(tmp_path)
    assert not blocks.has(OTHER, name)
    assert blocks.read(OTHER, name) is None
    assert blocks.write(OTHER, name, b"another")
    assert (blocks.read(OWNER, name), blocks.read(OTHER, name)) == (STATE, b"another")


def test_name_tells_model_base_and_tokens_apart(tmp_path: Path) -> None:
    ours, theirs = opened(tmp_path), opened(tmp_path, "another model")
    names = [
        ours.name(BASE, TOKENS),
        ours.name([1, 2], TOKENS),
        ours.name(BASE, [7, 8]),
        ours.name([1, 2], [3, 7, 8, 9]),  # the same tokens, cut elsewhere
        theirs.name(BASE, TOKENS),
    ]
    assert len(set(names)) == len(names)
    assert opened(tmp_path).name(BASE, TOKENS) == names[0]


def test_state_of_f16_takes_half_on_disk_and_is_nearly_given_back(tmp_path: Path) -> None:
    state = of_rows(rows(1, 100), rows(2, 100))
    blocks, name = kept(tmp_path, state)
    read = blocks.read(OWNER, name)
    assert read is not None
    assert len(read) == len(state) > 1.7 * blocks.n_bytes
    assert bytes(read[:1000]) == state[:1000]


def test_block_written_again_takes_its_own_place(tmp_path: Path) -> None:
    blocks, name = kept(tmp_path)
    assert blocks.write(OWNER, name, b"a longer state than before")
    assert blocks.read(OWNER, name) == b"a longer state than before"
    assert (blocks.n_blocks, blocks.n_bytes) == (1, files(tmp_path)[0].stat().st_size)


# --- damage ---


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[:40],
        lambda data: data + b"x",
        lambda data: bytes(len(data)),  # its size reached the disk, its bytes did not
        lambda _: b"",
    ],
)
def test_damaged_file_is_a_miss_and_removed(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    _, name = kept(tmp_path)
    [path] = files(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    blocks = opened(tmp_path)
    assert blocks.read(OWNER, name) is None
    assert not blocks.has(OWNER, name)
    assert (blocks.n_blocks, blocks.n_bytes) == (0, 0)
    assert list(tmp_path.iterdir()) == [], "folders that become empty go"


def test_flipped_bit_anywhere_is_noticed(tmp_path: Path) -> None:
    blocks, name = kept(tmp_path)
    [path] = files(tmp_path)
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert blocks.read(OWNER, name) is None, at
        assert files(tmp_path) == []


def test_file_under_another_name_is_no_block(tmp_path: Path) -> None:
    blocks, name = kept(tmp_path)
    other = blocks.name(BASE, [1])
    [path] = files(tmp_path)
    shutil.copy(path, path.with_stem(other))
    assert blocks.read(OWNER, other) is None
    assert blocks.read(OWNER, name) == STATE


def test_rest_of_a_write_that_was_killed_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / OWNER).mkdir()
    (tmp_path / OWNER / "abc.part").write_bytes(b"half")
    kept(tmp_path / "other")
    blocks = opened(tmp_path)
    assert not (tmp_path / OWNER).exists()
    assert blocks.n_blocks == 0


def test_file_of_another_model_is_left_alone_and_counts(tmp_path: Path) -> None:
    theirs = opened(tmp_path, "another model")
    name = theirs.name(BASE, TOKENS)
    theirs.write(OWNER, name, b"theirs")
    ours = opened(tmp_path)
    assert not ours.has(OWNER, ours.name(BASE, TOKENS))
    assert ours.read(OWNER, ours.name(BASE, TOKENS)) is None
    assert (ours.n_blocks, ours.n_bytes) == (1, theirs.n_bytes)
    assert opened(tmp_path, "another model").read(OWNER, name) == b"theirs"
    assert ours.read(OWNER, name) is None, "were it asked for by their name"


# --- size ---


def test_least_recently_used_goes_first(tmp_path: Path) -> None:
    owners = [f"{at:032x}" for at in range(4)]
    for at, owner in enumerate(owners[:3]):
        blocks = opened(tmp_path, max_bytes=3500)
        assert blocks.write(owner, str(at), bytes(1000))
        grow_old(tmp_path)
    assert opened(tmp_path, max_bytes=3500).read(owners[0], "0") == bytes(1000)
    blocks = opened(tmp_path, max_bytes=3500)
    assert blocks.write(owners[3], "3", bytes(1000))
    assert [blocks.has(owner, str(at)) for at, owner in enumerate(owners)] == [True, False, True, True]
    assert not (tmp_path / owners[1]).exists()
    assert blocks.n_bytes == sum(path.stat().st_size for path in files(tmp_path)) <= 3500


def test_reading_marks_a_block_used_within_one_process(tmp_path: Path) -> None:
    blocks = opened(tmp_path, max_bytes=2500)
    for name in ("1", "2"):
        blocks.write(OWNER, name, bytes(1000))
    blocks.read(OWNER, "1")
    blocks.write(OWNER, "3", bytes(1000))
    assert [blocks.has(OWNER, name) for name in ("1", "2", "3")] == [True, False, True]


def test_what_is_larger_than_all_may_be_is_not_kept_and_costs_nothing(tmp_path: Path) -> None:
    blocks = opened(tmp_path, max_bytes=2500)
    blocks.write(OWNER, "1", bytes(1000))
    assert not blocks.write(OWNER, "2", bytes(3000))
    assert blocks.has(OWNER, "1")


def test_a_smaller_limit_holds_from_the_start(tmp_path: Path) -> None:
    for name in ("1", "2"):
        opened(tmp_path).write(OWNER, name, bytes(1000))
        grow_old(tmp_path)
    blocks = opened(tmp_path, max_bytes=1500)
    assert [blocks.has(OWNER, name) for name in ("1", "2")] == [False, True]


# --- others touch the folder, and disks fail ---


def test_folder_of_a_forgotten_document_may_go_at_any_time(tmp_path: Path) -> None:
    blocks, name = kept(tmp_path)
    blocks.write(OTHER, name, STATE)
    assert blocks.n_blocks == 2
    assert blocks.has(OWNER, name)
    shutil.rmtree(tmp_path / OWNER)
    assert blocks.read(OWNER, name) is None
    assert not blocks.has(OWNER, name)
    assert blocks.n_blocks == 1
    shutil.rmtree(tmp_path / OTHER)
    assert (blocks.n_blocks, blocks.n_bytes) == (0, 0)
    assert blocks.write(OWNER, name, STATE)
    assert blocks.read(OWNER, name) == STATE


def test_what_somebody_removed_makes_room(tmp_path: Path) -> None:
    blocks = opened(tmp_path, max_bytes=2500)
    blocks.write(OWNER, "1", bytes(1000))
    blocks.write(OTHER, "2", bytes(1000))
    shutil.rmtree(tmp_path / OTHER)
    blocks.write(OTHER, "3", bytes(1000))
    assert [blocks.has(OWNER, "1"), blocks.has(OTHER, "3")] == [True, True]


def test_folder_that_went_after_a_quiet_time_is_noticed(tmp_path: Path) -> None:
    blocks, _ = kept(tmp_path)
    blocks.write(OTHER, "2", STATE)
    os.utime(tmp_path, (0, 0))
    assert blocks.n_blocks == 2
    shutil.rmtree(tmp_path / OWNER)
    assert blocks.n_blocks == 1


def test_whole_folder_may_go_too(tmp_path: Path) -> None:
    blocks, name = kept(tmp_path / "blocks")
    shutil.rmtree(tmp_path / "blocks")
    assert blocks.read(OWNER, name) is None
    assert blocks.n_blocks == 0
    assert blocks.write(OWNER, name, STATE)


def test_full_disk_is_said_once_and_the_block_is_not_kept(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    blocks, name = kept(tmp_path)
    for _ in range(2):
        (tmp_path / OWNER / "full.part").symlink_to("/dev/full")  # what is written to it finds no room
        assert not blocks.write(OWNER, "full", bytes(10**5))
    assert capfd.readouterr().err.count("a block was not kept: [Errno 28] No space left on device") == 1
    assert [path.stem for path in files(tmp_path)] == [name]
    assert blocks.write(OWNER, "full", STATE), "there is room again"


def test_folder_that_cannot_be_made_is_said_and_stops_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    blocks = opened(tmp_path / "file" / "blocks")
    assert (blocks.n_blocks, blocks.has(OWNER, "1"), blocks.read(OWNER, "1")) == (0, False, None)
    assert not blocks.write(OWNER, "1", STATE)
    assert "a block was not kept" in capfd.readouterr().err


def test_block_is_read_where_its_use_cannot_be_noted(tmp_path: Path) -> None:
    _, name = kept(tmp_path)
    [path] = files(tmp_path)
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert opened(tmp_path).read(OWNER, name) == STATE
    finally:
        path.parent.chmod(0o700)


def test_files_are_for_the_daemon_alone(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "blocks"
    kept(folder)
    for made in (folder, folder / OWNER):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in files(folder)] == [0o600]
