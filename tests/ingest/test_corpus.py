"""Real files of the formats we read, through the real parse server. Skips where the corpus is not there.

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

from ingest.limits import ParseLimits
from ingest.parser import Parser
from ingest.unit import Outcome, Parsed

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
FORMATS = {"txt", "log", "md", "csv", "tsv", "html", "pdf", "docx"}
FOLDERS = {"txt", "md", "csv", "html", "pdf", "docx", "syn", "img", "zip"}
SLOW = {"huge_619p.pdf", "book_freeculture.pdf"}  # seconds each, and nothing that the others do not show
MIN_SHARE = 0.95

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the corpus of real files is not at {CORPUS}")


@dataclass(frozen=True)
class Row:
    path: str
    expect: str
    phrases: list[tuple[str, str]]
    forbidden: list[str]


@pytest.fixture(scope="module")
def parsed() -> Iterator[list[tuple[Row, Parsed]]]:
    parser = Parser(ParseLimits())
    parser.start()
    wanted = [
        row for row in rows() if row.path.partition("/")[0] in FOLDERS and Path(row.path).name not in SLOW
    ]
    yield [(row, parser.parse(CORPUS / row.path)) for row in wanted]
    parser.stop()


def rows() -> Iterator[Row]:
    with (CORPUS / "manifest.tsv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            located = [phrase.rpartition("::") for phrase in (row["must_contain"] or "").split(" ;; ")]
            forbidden = [phrase for phrase in (row["must_not_contain"] or "").split(" ;; ") if phrase]
            yield Row(row["path"], row["expect"], [(where, what) for where, _, what in located], forbidden)


def squashed(text: str) -> str:
    return re.sub(r"[\s|-]", "", unicodedata.normalize("NFKC", text))


def text_of(found: Parsed, page: str = "") -> str:
    units = [unit for unit in found.units if not page or f"page {unit.locator.page}" == page]
    return squashed("".join(unit.header + unit.text for unit in units))


def is_right(row: Row, found: Parsed) -> bool:
    if found.outcome is not Outcome.OK:
        return False
    said = all(squashed(what) in text_of(found, where) for where, what in row.phrases)
    return said and not any(squashed(what) in text_of(found) for what in row.forbidden)


def test_nearly_all_files_have_all_their_phrases_on_the_right_page(parsed: list[tuple[Row, Parsed]]) -> None:
    texts = [(row, found) for row, found in parsed if row.expect == "text" and found.format in FORMATS]
    wrong = [
        (row.path, found.outcome.value, found.reason) for row, found in texts if not is_right(row, found)
    ]
    assert len(texts) > 80
    assert 1 - len(wrong) / len(texts) >= MIN_SHARE, wrong


def test_locked_empty_and_scanned_files_are_named(parsed: list[tuple[Row, Parsed]]) -> None:
    names = {"locked": Outcome.NEEDS_PASSWORD, "empty": Outcome.EMPTY, "ocr": Outcome.NEEDS_OCR}
    ours = [
        (row, found)
        for row, found in parsed
        if row.expect in names and found.format not in ("zip", "png", "jpeg", "tiff")
    ]
    wrong = [(row.path, found.outcome.value) for row, found in ours if found.outcome is not names[row.expect]]
    assert len(ours) > 8
    assert not wrong


def test_hostile_files_are_contained(parsed: list[tuple[Row, Parsed]]) -> None:
    for row, found in parsed:
        assert found.outcome is not Outcome.TIMEOUT, row
        assert found.peak_mb <= 1024, row
        assert (found.outcome is Outcome.OK) == bool(found.units), row
        assert bool(found.reason) != (found.outcome is Outcome.OK), row
        assert "root:x:0" not in text_of(found), row
    assert {row.path for row, found in parsed if found.outcome is Outcome.CRASHED} <= {
        "syn/flate_bomb_1gb.pdf"
    }
