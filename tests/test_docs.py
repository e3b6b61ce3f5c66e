"""The documentation against the code: generated parts are current, links lead somewhere, commands exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from typer.main import get_command

from appliance.api import (
    ask,
    conversations,
    ingest,
    library,
    openai,
    schema,
    schema_documents,
    schema_status,
    schema_tasks,
    status,
    tasks,
    tokenize,
)
from appliance.cli import app

ROOT = Path(__file__).parent.parent
PACKAGES = ("appliance", "ingest", "models", "tui")
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "ingest" / "formats" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
MAX_ARCHITECTURE = 120


def test_generated_pages_are_current() -> None:
    checked = subprocess.run(
        [sys.executable, "docs/make_reference.py", "--check"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout + checked.stderr


@EACH_PAGE
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(file), f"{page.name} links to {target}"


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of a page's headings."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@EACH_PAGE
def test_shown_commands_exist(page: Path) -> None:
    for command in commands(page):
        check(command, page.name)


def commands(page: Path) -> Iterator[list[str]]:
    """Yield the words of each `appliance …` in the sh and console blocks of a page."""
    for language, block in FENCE.findall(page.read_text(encoding="utf-8")):
        if language not in ("sh", "console"):
            continue
        for line in block.replace("\\\n", " ").splitlines():
            if language == "sh" or line.lstrip().startswith("$ "):
                yield from ours(line.strip().removeprefix("$ "))


def ours(line: str) -> Iterator[list[str]]:
    """Yield the parts of a shell line that call our command."""
    lexer = shlex.shlex(line.replace("$(", "; "), posix=True, punctuation_chars="|&;()")
    lexer.whitespace_split, lexer.commenters = True, "#"
    part: list[str] = []
    for word in [*lexer, ";"]:
        if not set(word) <= set("|&;()"):
            part.append(word)
            continue
        words = without_prefix(part)
        if words and Path(words[0]).name == "appliance":
            yield words[1:]
        part = []


def without_prefix(words: list[str]) -> list[str]:
    """Drop assignments, shell keywords and sudo before a command."""
    while words and (re.match(r"\w+=", words[0]) or words[0] in ("until", "while", "if", "!", "sudo", "-u")):
        words = words[2:] if words[0] == "-u" else words[1:]
    return words


def check(words: list[str], where: str) -> None:
    """Walk the command tree along a command line."""
    command: Any = get_command(app)
    n_left = 0  # values of the last option that are still to come
    for word in words:
        if n_left:
            n_left -= 1
        elif word.startswith("-") and word != "-":
            options = {name: each for each in command.params for name in each.opts}
            assert word in options or word == "--help", f"{where}: {' '.join(words)}: no option {word}"
            n_left = 0 if word == "--help" or options[word].is_flag else 1
        elif hasattr(command, "commands"):
            assert word in command.commands, f"{where}: {' '.join(words)}: no command {word}"
            command = command.commands[word]


def test_architecture_is_short_and_names_every_module() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < MAX_ARCHITECTURE
    rooms = re.findall(r"^\*\*(.+?)/\*\*(.*?)\n\n", text, re.DOTALL | re.MULTILINE)
    named = {room: set(re.findall(r"`(\w+)`", said)) for room, said in rooms}
    found: dict[str, set[str]] = {}
    for package in PACKAGES:
        for file in (ROOT / package).rglob("*.py"):
            names = found.setdefault(str(file.parent.relative_to(ROOT)), set())
            # The readers are listed in a page of their own, which is written from them.
            if file.name != "__init__.py" and file.parent != ROOT / "ingest" / "formats":
                names.add(file.stem)
    assert named == found


def test_the_api_page_has_every_route_and_field() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    routes = {
        (method, route.path)
        for room in (ask, conversations, ingest, library, openai, status, tasks, tokenize)
        for route in room.router.routes
        for method in route.methods
    }
    missing = [f"{method} {path}" for method, path in routes if path not in text]
    words = set(re.findall(r"`(\w+)`", text))
    for name, kind in (
        vars(schema) | vars(schema_documents) | vars(schema_status) | vars(schema_tasks)
    ).items():
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in (BaseModel, schema.Wire):
            missing += [f"{name}.{field}" for field in kind.model_fields if field not in words | {"event"}]
    assert not missing
