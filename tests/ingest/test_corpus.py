"""Every real and hostile file of the corpus, through the real parse server. Skips where the corpus is not there.

The corpus is other people's data and stays out of the repository; `manifest.tsv` beside it says what must be found.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ingest.limits import MIB, ParseLimits
from ingest.locator import Locator
from ingest.parser import Parser
from ingest.unit import Outcome, Parsed
from ingest.whole import read_whole

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
LIMITS = ParseLimits()
MIN_RIGHT, MIN_PLACED, MIN_SCANNED = 0.97, 0.95, 0.85
REFUSALS = {Outcome.DAMAGED, Outcome.UNSUPPORTED, Outcome.TOO_LARGE}
# Hostile files that end otherwise, each looked at: what is read of them is their own text, and little of it.
OTHERWISE = {
    "doc/fuzzed.doc": Outcome.OK,
    "msg/fuzzed.msg": Outcome.OK,
    "pdf/bad_gs698804_fuzzed.pdf": Outcome.EMPTY,
    "pdf/bad_poppler90_fuzzed.pdf": Outcome.OK,
    "pdf/evil_xobjects.pdf": Outcome.OK,
    "syn/flate_bomb_1gb.pdf": Outcome.CRASHED,  # PDFium aborts at the limit of memory
    "syn/redos.html": Outcome.EMPTY,
    "syn/zip_named.docx": Outcome.OK,  # a ZIP under another name: the content decides
}
MAX_UNITS_OF_HOSTILE = 100

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the corpus of real files is not at {CORPUS}")


@dataclass(frozen=True)
class Row:
    path: str
    expect: str
    phrases: list[tuple[str, str]]
    forbidden: list[str]

    @property
    def located(self) -> list[tuple[str, str]]:
        return [(where, what) for where, what in self.phrases if where]


@pytest.fixture(scope="module")
def parsed() -> Iterator[list[tuple[Row, Parsed]]]:
    parser = Parser(LIMITS)
    parser.start()
    yield [(row, read_whole(parser, CORPUS / row.path)) for row in rows()]
    parser.stop()


def rows() -> Iterator[Row]:
    with (CORPUS / "manifest.tsv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            located = [
                phrase.rpartition("::") for phrase in (row["must_contain"] or "").split(" ;; ") if phrase
            ]
            forbidden = [phrase for phrase in (row["must_not_contain"] or "").split(" ;; ") if phrase]
            yield Row(row["path"], row["expect"], [(where, what) for where, _, what in located], forbidden)


def squashed(text: str) -> str:
    return re.sub(r"[\s|-]", "", unicodedata.normalize("NFKC", text))


def place(locator: Locator) -> str:
    if locator.slide:
        return f"slide {locator.slide}"
    return f"sheet {locator.sheet}" if locator.sheet else f"page {locator.page}"


def text_of(found: Parsed, where: str = "") -> str:
    units = [unit for unit in found.units if not where or place(unit.locator) == where]
    return squashed("".join(unit.header + unit.text for unit in units))


def of(parsed: list[tuple[Row, Parsed]], expect: str) -> list[tuple[Row, Parsed]]:
    found = [(row, each) for row, each in parsed if row.expect == expect]
    assert found
    return found


def test_nearly_all_files_have_all_their_phrases(parsed: list[tuple[Row, Parsed]]) -> None:
    texts = of(parsed, "text")
    wrong = [
        (row.path, found.outcome.value, found.reason)
        for row, found in texts
        if found.outcome is not Outcome.OK
        or not all(squashed(what) in text_of(found) for _, what in row.phrases)
    ]
    print(f"{len(texts) - len(wrong)} of {len(texts)} text files right; wrong: {wrong}")
    assert 1 - len(wrong) / len(texts) >= MIN_RIGHT, wrong


def test_nearly_all_phrases_stand_at_the_place_that_is_cited(parsed: list[tuple[Row, Parsed]]) -> None:
    located = [(row, found, *phrase) for row, found in of(parsed, "text") for phrase in row.located]
    wrong = [
        (row.path, where, what)
        for row, found, where, what in located
        if squashed(what) not in text_of(found, where)
    ]
    print(f"{len(located) - len(wrong)} of {len(located)} located phrases right; wrong: {wrong}")
    assert 1 - len(wrong) / len(located) >= MIN_PLACED, wrong


def test_what_a_file_must_not_yield_is_not_there(parsed: list[tuple[Row, Parsed]]) -> None:
    found = [
        (row.path, what) for row, each in parsed for what in row.forbidden if squashed(what) in text_of(each)
    ]
    assert not found
    assert not [row.path for row, each in parsed if "root:x:0" in text_of(each)]


def test_scans_and_pictures_are_read(parsed: list[tuple[Row, Parsed]]) -> None:
    phrases = [(row, found, what) for row, found in of(parsed, "ocr") for _, what in row.phrases]
    wrong = [
        (row.path, what, found.outcome.value)
        for row, found, what in phrases
        if squashed(what) not in text_of(found)
    ]
    print(f"{len(phrases) - len(wrong)} of {len(phrases)} phrases of scans right; wrong: {wrong}")
    assert 1 - len(wrong) / len(phrases) >= MIN_SCANNED, wrong


def test_locked_and_empty_files_are_named(parsed: list[tuple[Row, Parsed]]) -> None:
    names = {"locked": Outcome.NEEDS_PASSWORD, "empty": Outcome.EMPTY}
    for expect, outcome in names.items():
        wrong = [
            (row.path, found.outcome.value)
            for row, found in of(parsed, expect)
            if found.outcome is not outcome
        ]
        assert not wrong


def test_broken_and_hostile_files_are_refused_with_a_reason(parsed: list[tuple[Row, Parsed]]) -> None:
    wrong = [
        (row.path, found.outcome.value, found.reason)
        for row, found in of(parsed, "reject")
        if found.outcome not in ({OTHERWISE[row.path]} if row.path in OTHERWISE else REFUSALS)
        or len(found.units) > MAX_UNITS_OF_HOSTILE
    ]
    assert not wrong


def test_no_file_costs_more_than_its_limits(parsed: list[tuple[Row, Parsed]]) -> None:
    for row, found in parsed:
        assert found.outcome is not Outcome.TIMEOUT, row
        assert found.peak_mb <= LIMITS.ocr_memory_mb, row
        assert found.seconds <= LIMITS.wall_s(found.size) + LIMITS.ocr_timeout_s * (found.n_pages or 1), row
        assert sum(len(unit.text) for unit in found.units) <= LIMITS.max_output_mb * MIB, row
        assert (found.outcome is Outcome.OK) == bool(found.units), row
        assert bool(found.reason) != (found.outcome is Outcome.OK), row
