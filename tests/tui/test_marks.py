"""Marks land where a reader expects them, and never break the Markdown around them."""

from __future__ import annotations

import pytest

from appliance.api.schema import Citation, Source
from tui.marks import links, plain, with_marks

MARK = links("cite")


def _citation(answer: str, sentence: str, numbers: list[int]) -> Citation:
    start = answer.index(sentence)
    return Citation(start=start, end=start + len(sentence), numbers=numbers)


def _conflict(answer: str) -> Citation:
    source = Source(number=2, document_id=1, path="a.md", version="", locator="", quote="30 mg")
    return Citation(
        start=0, end=len(answer), state="contradicted", numbers=[], sources=[source], conflicts=["20 mg"]
    )


@pytest.mark.parametrize(
    ("answer", "sentence", "numbers", "marked"),
    [
        ("Keep cold. Call.", "Keep cold.", [1], r"Keep cold. [\[1\]](cite:1) Call."),
        ("Keep cold.", "Keep cold.", [2, 1], r"Keep cold. [\[2\]](cite:2)[\[1\]](cite:1)"),
        ("Keep cold.", "Keep cold.", [], r"Keep cold. [\[?\]](cite:)"),
        ("No! ", "No! ", [1], r"No! [\[1\]](cite:1) "),
        ("| a |\n|---|\n| b |\n", "| b |\n", [1], "| a |\n|---|\n| b [\\[1\\]](cite:1) |\n"),
        ("Use `rm.` now", "Use `rm.", [1], r"Use `rm.` [\[1\]](cite:1) now"),
        ("```\nrun it.\n```\nThen.", "run it.", [1], "```\nrun it.\n```\n\n[\\[1\\]](cite:1)\nThen."),
        ("```\nrun it.\n", "run it.", [1], "```\nrun it.\n"),
        ("", "", [1], ""),
    ],
)
def test_a_mark_stands_after_its_sentence(
    answer: str, sentence: str, numbers: list[int], marked: str
) -> None:
    assert with_marks(answer, [_citation(answer, sentence, numbers)], MARK) == marked


def test_plain_marks_for_the_clipboard() -> None:
    answer = "Keep cold. Call."
    citations = [_citation(answer, "Keep cold.", [1, 3]), _citation(answer, "Call.", [])]
    assert with_marks(answer, citations, plain) == "Keep cold. [1][3] Call. [?]"


def test_offsets_from_the_wire_that_lie_outside_the_answer_are_clamped() -> None:
    wild = [Citation(start=-5, end=-1, numbers=[1]), Citation(start=9, end=10**9, numbers=[2])]
    assert with_marks("Yes.", wild, MARK) == r"Yes. [\[2\]](cite:2)"


def test_a_contradicted_sentence_has_a_mark_that_leads_to_the_passage_against_it() -> None:
    answer = "Take 20 mg."
    assert with_marks(answer, [_conflict(answer)], MARK) == r"Take 20 mg. [\[!\]](cite:!2)"
    assert with_marks(answer, [_conflict(answer)], plain) == "Take 20 mg. [conflicts with 2]"
