"""Lists of what to ignore: git's syntax, and git itself as the judge; no line can stop a sweep."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from ingest.folder import scan
from ingest.ignore import Rules, parse

ATOMS = (
    "*", "a", "b", "*.txt", "/a", "/*", "a/", "!*/", "!*.txt", "!a", "!a/", "**/b", "a/**", "a/*", "!a/b", "/a/b",
    "!/a", "*/b", "a/**/b.txt", "!b.txt", "[ab]", "?", "a*", "\\!a", "**", "!**/", "**/", "/**", "[!a]*", "*.t?t",
    "**/a/**", "#x", "\\#x", "b\\ ", "b  ", "[a", "[z-a]", "a\\", "!", "/", "a//b", "[]a]", "[-a]", "*a*.*t*",
)  # fmt: skip


def left_out(lines: str, path: str, is_folder: bool = False) -> bool:
    rules, broken = parse(lines.encode())
    assert broken == []
    return Rules().below("", rules).leave_out(path, is_folder)


@pytest.mark.parametrize(("lines", "path", "expected"), [
    ("*.bak", "a.bak", True), ("*.bak", "sub/a.bak", True), ("*.bak", "a.bak.txt", False),
    ("/a.txt", "a.txt", True), ("/a.txt", "sub/a.txt", False), ("sub/a.txt", "sub/a.txt", True),
    ("sub/a.txt", "x/sub/a.txt", False), ("old/", "old", False), ("**/old/*.doc", "x/y/old/a.doc", True),
    ("a/**/z", "a/z", True), ("a/**/z", "a/b/c/z", True), ("*\n!keep.txt", "keep.txt", False),
    ("# words\n\n  \na", "a", True), ("\\#a", "#a", True), ("\\!a", "!a", True), ("[a-c]x", "bx", True),
    ("[!a-c]x", "bx", False), ("a?c", "abc", True), ("Straße*", "Straße 1.txt", True), ("\ufeffa", "a", True),
    ("a\r\nb\r\n", "b", True), ("a*b*c", "a/b/c", False),
])  # fmt: skip
def test_a_line_means_what_it_means_to_git(lines: str, path: str, expected: bool) -> None:
    assert left_out(lines, path) is expected


def test_a_line_that_ends_in_a_slash_is_for_folders() -> None:
    assert left_out("old/", "old", is_folder=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_agrees_on_random_lists(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for folder in ("", "a", "b", "a/a", "a/b", "b/a"):
        (tmp_path / folder).mkdir(exist_ok=True)
        for name in ("a.txt", "b.txt", "x", "#x", "b ", "]"):
            (tmp_path / folder / name).touch()
    chance = random.Random(1)
    for _ in range(60):
        for folder in ("", "a"):
            list_of = "\n".join(chance.choices(ATOMS, k=chance.randint(1, 4)))
            (tmp_path / folder / ".applianceignore").write_text(list_of)
        ours = set(scan(tmp_path).files)
        command = ["git", "-C", tmp_path, "ls-files", "-oz", "--exclude-per-directory=.applianceignore"]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
        assert ours == {path for path in told if path and not path.endswith(".applianceignore")}


@pytest.mark.parametrize("line", ["*a" * 60 + "b", "*" * 500 + "b", "**/a/" * 200 + "b", "[a-z]*" * 60 + "9"])
def test_no_line_and_no_name_take_long(line: str) -> None:
    [rule], _ = parse(line.encode())
    began = time.process_time()
    rule.matches(["a"] * 300 + ["a" * 255], False)
    assert time.process_time() - began < 0.2


@pytest.mark.parametrize(("line", "word"), [
    ("[ab", "without its ]"), ("[z-a]", "range"), ("a\\", "backslash"), ("!", "names nothing"),
    ("[[:alpha:]]", "only characters"), ("[a--b]", "only characters"),
])  # fmt: skip
def test_a_broken_line_is_told_and_the_others_hold(line: str, word: str) -> None:
    rules, broken = parse(f"*.bak\n{line}\n*.old\n".encode())
    assert len(rules) == 2
    assert [("line 2 " in told, word in told) for told in broken] == [(True, True)]


def test_a_list_is_for_its_folder_and_those_below_and_the_nearest_decides(tmp_path: Path) -> None:
    for folder in ("plans", "plans/old"):
        (tmp_path / folder).mkdir()
    for name in ("a.log", "plans/a.log", "plans/keep.log", "plans/old/a.log", "plans/old/b.txt", "b.txt"):
        (tmp_path / name).touch()
    (tmp_path / ".applianceignore").write_text("*.log\n")
    (tmp_path / "plans" / ".applianceignore").write_text("!keep.log\n/old/b.txt\n")
    seen = scan(tmp_path)
    assert sorted(seen.files) == ["b.txt", "plans/keep.log"]
    assert seen.ignored == {"a.log", "plans/a.log", "plans/old/a.log", "plans/old/b.txt"}
    assert seen.leaves_out("plans/a.log")
    assert not seen.leaves_out("plans/keep.log")


def test_an_ignored_folder_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "a.txt").touch()
    (tmp_path / ".applianceignore").write_text("build/\n")
    seen = scan(tmp_path)
    assert (seen.files, seen.folders, seen.ignored) == ({}, {}, {"build"})
    assert seen.leaves_out("build/a.txt")


def test_a_list_may_name_files_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).touch()
    (tmp_path / ".applianceignore").write_bytes(b"caf\xe9.*\n")
    assert scan(tmp_path).files == {}


def test_broken_lines_are_shown_with_what_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".applianceignore").write_text("[a\n*.log\n!\n")
    assert scan(tmp_path).refused == {
        "sub/.applianceignore": "line 1 is not understood and is not used: [ without its ]; "
        "line 3 is not understood and is not used: it names nothing"
    }


def test_a_list_that_is_a_link_or_far_too_long_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").touch()
    (tmp_path / "list").write_text("*\n")
    (tmp_path / ".applianceignore").symlink_to("list")
    (tmp_path / "sub" / ".applianceignore").write_text("a\n" * 40_000)
    seen = scan(tmp_path)
    assert sorted(seen.files) == ["a.txt", "list"]
    assert "must be a plain file" in seen.refused[".applianceignore"]
    assert "longer than 64 KB" in seen.refused["sub/.applianceignore"]
