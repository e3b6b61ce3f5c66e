"""Blocks go when their document's version does; nothing else ever goes."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.answer.left_blocks import LeftBlocks, SweepTimes
from appliance.changes import Changes
from ingest.access import Viewer
from ingest.errors import LibraryError
from tests.tasks.bench import Bench

AT_ONCE = SweepTimes(apart=0.0, again=0.01, idle=0.01)


class House:
    """A record, the folder of the blocks, and what removes them."""

    def __init__(self, home: Path) -> None:
        self.bench = Bench(home)
        self.blocks = home / "blocks"
        self.left = LeftBlocks(self.blocks, self.bench.library.versions, AT_ONCE)

    def keep(self, owner: str) -> Path:
        """Keep a block, as the engine does."""
        (self.blocks / owner).mkdir(parents=True, exist_ok=True)
        (self.blocks / owner / "a.kv").write_bytes(b"cells")
        return self.blocks / owner

    def owner(self, id: int) -> str:
        document = self.bench.library.document(id, Viewer(0, frozenset()))
        assert document is not None
        return document.sha256[:32]

    def owners(self) -> set[str]:
        return {each.name for each in self.blocks.iterdir()}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.bench.tasks.close()
    house.bench.library.close()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 (it looks at files)
            await asyncio.sleep(0.005)


def test_blocks_go_with_the_version_that_they_are_of(house: House) -> None:
    kept, changed, deleted = (house.bench.put(f"{name}.txt", f"of {name}") for name in "abc")
    for id in (kept, changed, deleted):
        house.keep(house.owner(id))
    assert house.left.sweep()
    assert len(house.owners()) == 3
    house.bench.put("b.txt", "another text")
    house.bench.record.remove(["c.txt"])
    house.keep(house.owner(changed))
    assert house.left.sweep()
    assert house.owners() == {house.owner(kept), house.owner(changed)}


def test_the_same_bytes_under_another_name_keep_the_blocks(house: House) -> None:
    first = house.keep(house.owner(house.bench.put("a.txt", "the same")))
    house.bench.put("b.txt", "the same")
    house.bench.record.remove(["a.txt"])
    assert house.left.sweep()
    assert first.exists()
    house.bench.record.remove(["b.txt"])
    assert house.left.sweep()
    assert not first.exists()


def test_blocks_stay_while_a_changed_document_waits_to_be_read(house: House) -> None:
    owner = house.keep(house.owner(house.bench.put("a.txt", "one")))
    house.bench.put("a.txt", "two", state="waiting")  # what is asked meanwhile is answered from what is known
    assert house.left.sweep()
    assert owner.exists()


def test_what_is_not_a_folder_of_blocks_is_left_alone(house: House, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.kv").write_bytes(b"")
    house.keep("abcdef0")  # too short
    house.keep("0" * 65)  # too long
    house.keep("ABCDEF0123456789")
    house.keep("lost+found")
    (house.blocks / ("a" * 32)).write_bytes(b"a file")
    (house.blocks / ("b" * 32)).symlink_to(elsewhere)
    before = house.owners()
    house.keep("c" * 32)
    assert house.left.sweep()
    assert house.owners() == before
    assert (elsewhere / "a.kv").exists()


def test_what_cannot_be_removed_is_said_once_and_goes_later(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    stuck, other = house.keep("a" * 32), house.keep("b" * 32)
    (stuck / "folder").mkdir()
    with caplog.at_level(logging.WARNING):
        assert not house.left.sweep()
        assert not house.left.sweep()
    assert not other.exists()
    assert len(caplog.records) == 1
    (stuck / "folder").rmdir()
    assert house.left.sweep()
    assert not stuck.exists()


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_said_once(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.keep("a" * 32)
    house.blocks.chmod(0o500)
    try:
        with caplog.at_level(logging.WARNING):
            assert [house.left.sweep(), house.left.sweep()] == [False, False]
    finally:
        house.blocks.chmod(0o700)
    assert len(caplog.records) == 1


def test_a_record_that_cannot_be_read_removes_nothing(house: House) -> None:
    owner = house.keep("a" * 32)

    def damaged() -> set[str]:
        raise LibraryError("the record is damaged")

    assert not LeftBlocks(house.blocks, damaged, AT_ONCE).sweep()
    assert owner.exists()


def test_no_folder_at_all_is_no_trouble(house: House) -> None:
    assert house.left.sweep()
    assert not house.blocks.exists()


async def test_it_sweeps_at_the_start_after_a_change_and_once_more(house: House) -> None:
    changes = Changes(asyncio.get_running_loop())
    before = house.keep("a" * 32)
    owner = house.keep(house.owner(house.bench.put("a.txt", "one")))
    following = asyncio.create_task(house.left.follow(changes))
    await until(lambda: not before.exists())
    assert owner.exists()
    house.bench.record.remove(["a.txt"])
    changes.announce()
    await until(lambda: not owner.exists())
    house.keep(owner.name)  # by an answer that had begun with the old version
    await until(lambda: not owner.exists())
    changes.close()
    await asyncio.wait_for(following, 20)


async def test_a_change_is_not_waited_for_longer_than_asked() -> None:
    changes = Changes(asyncio.get_running_loop())
    assert await changes.within(0, 0.001) == 0
    changes.announce()
    assert await changes.within(0, 20) == 1
    changes.close()
    assert await changes.within(2, 20) is None
