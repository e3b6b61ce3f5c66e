"""Saved prefixes on a real folder; their states are any bytes."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from appliance.engine.prefixes import MAX_AGE_S, MIN_TOKENS, Candidate, Prefixes

LONG = list(range(1000, 1200))


def opened(folder: Path, key: str = "model", max_bytes: int = 10**6) -> Prefixes:
    return Prefixes(folder, key, max_bytes)


def candidate(tokens: Sequence[int], state: bytes = b"state") -> Candidate:
    return Candidate(tokens, lambda: state)


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_saved_prefix_is_found_by_prompts_that_begin_with_it(tmp_path: Path) -> None:
    assert opened(tmp_path).save([candidate(LONG, b"its state")]) == 1
    prefixes = opened(tmp_path)
    for prompt in (LONG, [*LONG, 1, 2], LONG[:150]):
        saved = prefixes.longest(prompt, 0)
        assert saved is not None
        assert saved.tokens == LONG
        assert prefixes.read(saved) == b"its state"


@pytest.mark.parametrize(
    ("prompt", "n_found"),
    [([1, *LONG], 0), (LONG[: MIN_TOKENS - 1], 0), (LONG, len(LONG) - MIN_TOKENS), ([], 0)],
)
def test_prefix_that_saves_little_is_not_read(tmp_path: Path, prompt: list[int], n_found: int) -> None:
    opened(tmp_path).save([candidate(LONG)])
    assert opened(tmp_path).longest(prompt, n_found) is None


def test_longest_of_several_is_taken(tmp_path: Path) -> None:
    other = [*LONG[:100], *range(300)]
    opened(tmp_path).save([candidate(LONG), candidate(other)])
    saved = opened(tmp_path).longest([*LONG[:100], *range(50)], 0)
    assert saved is not None
    assert saved.tokens == other


def test_what_begins_with_the_whole_of_another_takes_its_place(tmp_path: Path) -> None:
    opened(tmp_path).save([candidate(LONG[:100])])
    assert opened(tmp_path).save([candidate(LONG), candidate([*LONG[:190], 1, 2, 3])]) == 1
    assert len(files(tmp_path)) == 1
    assert opened(tmp_path).save([candidate(LONG)]) == 0  # it is there


def test_file_of_another_model_is_left_alone(tmp_path: Path) -> None:
    opened(tmp_path, "one").save([candidate(LONG, b"one")])
    assert opened(tmp_path, "another").longest(LONG, 0) is None
    opened(tmp_path, "another").save([candidate(LONG, b"another")])
    for key in ("one", "another"):
        prefixes = opened(tmp_path, key)
        saved = prefixes.longest(LONG, 0)
        assert saved is not None
        assert prefixes.read(saved) == key.encode()


def flip(at: int) -> Callable[[bytes], bytes]:
    def damage(data: bytes) -> bytes:
        broken = bytearray(data)
        broken[at] ^= 1
        return bytes(broken)

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        flip(0),
        flip(-1),  # the state
        flip(100),  # the tokens
        flip(25),  # their number
        lambda data: data[:-1],
        lambda data: data[:40],
        lambda data: data + b"x",
        lambda _: b"",
    ],
)
def test_damaged_file_is_ignored_and_removed(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    opened(tmp_path).save([candidate(LONG, b"state" * 100)])
    [path] = files(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    prefixes = opened(tmp_path)
    saved = prefixes.longest(LONG, 0)
    assert saved is None or prefixes.read(saved) is None
    assert files(tmp_path) == []
    assert prefixes.longest(LONG, 0) is None


def test_save_ends_in_time_most_wanted_first_and_leaves_nothing_half(tmp_path: Path) -> None:
    now = [0.0]

    def slow_state() -> bytes:
        now[0] += 0.4
        return b"x"

    prefixes = Prefixes(tmp_path, "model", 10**6, clock=lambda: now[0])
    wanted = [Candidate([at, *LONG], slow_state) for at in range(10)]
    assert prefixes.save(wanted, seconds=1.0) == 2
    assert [path.suffix for path in files(tmp_path)] == [".prefix"] * 2
    assert opened(tmp_path).longest([0, *LONG], 0) is not None


def test_folder_stays_within_its_size_and_the_least_recently_used_goes(tmp_path: Path) -> None:
    for at in range(3):
        opened(tmp_path, max_bytes=10_000).save([candidate([at, *LONG], b"x" * 3000)])
        for path in files(tmp_path):
            about = path.stat()
            os.utime(path, (about.st_atime, about.st_mtime - 60))
    opened(tmp_path, max_bytes=10_000).save([candidate([3, *LONG], b"x" * 3000)])
    prefixes = opened(tmp_path, max_bytes=10_000)
    assert [prefixes.longest([at, *LONG], 0) is not None for at in range(4)] == [False, False, True, True]
    assert prefixes.save([candidate([4, *LONG], b"x" * 20_000)]) == 0


def test_what_nobody_asked_for_in_a_week_goes(tmp_path: Path) -> None:
    opened(tmp_path).save([candidate(LONG)])
    [path] = files(tmp_path)
    old = time.time() - MAX_AGE_S - 60
    os.utime(path, (old, old))
    opened(tmp_path).save([candidate([1, *LONG])])
    assert opened(tmp_path).longest(LONG, 0) is None


def test_files_are_for_the_daemon_alone(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "prefixes"
    opened(folder).save([candidate(LONG)])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in files(folder)] == [0o600]


def test_folder_that_cannot_be_written_is_said_and_stops_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    prefixes = opened(tmp_path / "file" / "prefixes")
    assert prefixes.longest(LONG, 0) is None
    assert prefixes.save([candidate(LONG)]) == 0
    assert "prefixes were not saved" in capfd.readouterr().err


def test_rest_of_a_save_that_was_killed_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / "abc.part").write_bytes(b"half")
    opened(tmp_path)
    assert files(tmp_path) == []
