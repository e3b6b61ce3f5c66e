"""What the bench makes to measure with: the same each time, and readable."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from appliance.ops.figures import at_least
from appliance.ops.ingest_figures import FIGURES, NAMES
from appliance.ops.made_documents import SET, SET_PAGES, write_documents, write_notes
from appliance.ops.made_language import N_STOP_WORDS, Language
from ingest.limits import ParseLimits
from ingest.parser import Parser
from ingest.unit import Outcome


def test_figures_have_the_names_that_scripts_ask_for() -> None:
    assert NAMES == (
        "stages", "pipeline_ratio", "unchanged_s", "chat_decode", "chat_ttft", "memory_ratio", "peak_mb_1000",
        "peak_mb_10000", "index_100k",
    )  # fmt: skip
    targets = {figure.name: figure.target("any-model", 150) for figure in FIGURES}
    assert targets["pipeline_ratio"] == at_least(0.85)
    assert targets["stages"] is None


def test_documents_are_the_same_for_the_same_seed(tmp_path: Path) -> None:
    for name, seed in (("a", 4), ("b", 4), ("c", 5)):
        assert write_documents(tmp_path / name, 2 * SET_PAGES, seed) == 2 * len(SET)
    assert bytes_in(tmp_path / "a") == bytes_in(tmp_path / "b")
    assert not set(bytes_in(tmp_path / "a").values()) & set(bytes_in(tmp_path / "c").values())


def bytes_in(folder: Path) -> dict[str, bytes]:
    """Return the content of every file by its path."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_every_made_format_is_read_in_full(tmp_path: Path) -> None:
    write_documents(tmp_path, SET_PAGES, 4)
    parser = Parser(ParseLimits())
    parser.start()
    try:
        for file in sorted((tmp_path / "set-00").iterdir()):
            parsed = parser.parse(file)
            n_words = sum(len(unit.text.split()) for unit in parsed.units)
            assert (parsed.outcome, parsed.format) == (Outcome.OK, file.suffix[1:])
            assert n_words > 200 * dict(pages_by_name())[file.name], file.name
    finally:
        parser.stop()


def pages_by_name() -> list[tuple[str, int]]:
    """Return the pages of text in each file of a set."""
    return [(f"report-{place}.{suffix}", n) for place, (suffix, _, n) in enumerate(SET)]


def test_notes_go_on_where_they_stopped(tmp_path: Path) -> None:
    write_notes(tmp_path, range(3), 4)
    write_notes(tmp_path, range(3, 101), 4)
    assert len(list(tmp_path.rglob("*.md"))) == 101
    assert [len(list(folder.iterdir())) for folder in sorted(tmp_path.iterdir())] == [100, 1]
    assert len({file.read_bytes() for file in tmp_path.rglob("*.md")}) == 101


def test_words_come_as_often_as_in_a_natural_language() -> None:
    counts = [n for _, n in Counter(Language(1).words(200_000)).most_common()]
    assert counts[0] / counts[9] == pytest.approx(10, rel=0.2)  # the tenth word a tenth as often as the first
    assert sum(counts[:N_STOP_WORDS]) / sum(counts) == pytest.approx(0.46, abs=0.03)
    assert sum(n == 1 for n in counts) > 0.3 * len(counts)  # many words occur once


def test_nobody_searches_for_the_most_frequent_words() -> None:
    language = Language(1)
    text = language.paragraph(100)
    words = language.query(text, 6).split()
    assert len(set(words)) == 6
    assert set(words) <= set(text.lower().replace(".", "").split())
    assert all(len(word) > 3 for word in words)  # the frequent ones are short
