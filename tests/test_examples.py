"""The example documents say what questions.yaml expects of them, and the script still writes them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from ingest.limits import ParseLimits
from ingest.parser import Parser
from ingest.unit import Outcome, Parsed, Unit

EXAMPLES = Path(__file__).parent.parent / "examples"
DOCUMENTS = EXAMPLES / "documents"
MAX_TOTAL_BYTES = 400_000  # small enough to be cloned by everybody


@dataclass(frozen=True)
class Answerable:
    """One entry of the list `answerable`; another key or type is an error in the file."""

    question: str
    file: str
    expect: list[str]
    page: int | None = None
    page_label: str | None = None
    heading: str | None = None

    def stands_at(self, unit: Unit) -> bool:
        """Return whether the unit is at the place that the entry names."""
        right_page = self.page is None or unit.locator.page == self.page
        right_label = self.page_label is None or unit.locator.page_label == self.page_label
        right_heading = self.heading is None or self.heading in " › ".join(unit.locator.heading)
        return right_page and right_label and right_heading


def _questions() -> dict[str, list[dict[str, Any]]]:
    questions: dict[str, list[dict[str, Any]]] = yaml.safe_load(
        (EXAMPLES / "questions.yaml").read_text("utf-8")
    )
    return questions


ANSWERABLE = [Answerable(**entry) for entry in _questions()["answerable"]]
DOCUMENT_NAMES = sorted(path.name for path in DOCUMENTS.iterdir())


@pytest.fixture(scope="module")
def parsed() -> Iterator[dict[str, Parsed]]:
    parser = Parser(ParseLimits())
    parser.start()
    try:
        yield {name: parser.parse(DOCUMENTS / name) for name in DOCUMENT_NAMES}
    finally:
        parser.stop()


@pytest.mark.parametrize("name", DOCUMENT_NAMES)
def test_every_document_can_be_read(name: str, parsed: dict[str, Parsed]) -> None:
    assert parsed[name].outcome is Outcome.OK, parsed[name].reason


@pytest.mark.parametrize("asked", ANSWERABLE, ids=lambda asked: asked.question)
def test_the_expected_words_stand_at_the_named_place(asked: Answerable, parsed: dict[str, Parsed]) -> None:
    there = " ".join(unit.text for unit in parsed[asked.file].units if asked.stands_at(unit))
    missing = [words for words in asked.expect if words not in there]
    assert not missing, f"{asked.file} says there: {there!r}"


def test_every_document_is_asked_about() -> None:
    assert sorted({asked.file for asked in ANSWERABLE}) == DOCUMENT_NAMES


def test_unanswerable_questions_are_off_topic_or_near_misses() -> None:
    unanswerable = _questions()["unanswerable"]
    assert {entry["kind"] for entry in unanswerable} == {"off-topic", "near miss"}
    assert all(set(entry) == {"question", "kind"} for entry in unanswerable)


def test_the_demo_question_is_answered_by_a_page_of_the_manual() -> None:
    assert (ANSWERABLE[0].file, ANSWERABLE[0].page) == ("generator-manual.pdf", 8)


def test_menus_of_the_intranet_page_are_left_out(parsed: dict[str, Parsed]) -> None:
    text = " ".join(unit.text for unit in parsed["intranet-vaccine-fridge.html"].units)
    assert "VF-1" in text
    assert "Lunch menu" not in text


def test_the_documents_stay_small() -> None:
    assert sum(path.stat().st_size for path in DOCUMENTS.iterdir()) < MAX_TOTAL_BYTES


def test_the_script_writes_the_committed_bytes(tmp_path: Path) -> None:
    for module in ("reportlab", "docx"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed: pip install -e '.[examples]'")
    script = EXAMPLES / "make_examples.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, capture_output=True, timeout=120)
    assert sorted(path.name for path in tmp_path.iterdir()) == DOCUMENT_NAMES
    changed = [
        name for name in DOCUMENT_NAMES if (tmp_path / name).read_bytes() != (DOCUMENTS / name).read_bytes()
    ]
    assert not changed, f"run `python {script.relative_to(EXAMPLES.parent)}` and look at the difference"
