"""Made documents with known facts: the same each time, each question answered by its own document alone."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from appliance.ops import scores
from appliance.ops.made_facts import write_facts


def test_made_facts_are_the_same_each_time(tmp_path: Path) -> None:
    assert write_facts(tmp_path / "one") == write_facts(tmp_path / "two")
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.md"))
    assert len(files) == 24
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_each_question_has_its_answer_in_a_paragraph_of_its_document(tmp_path: Path) -> None:
    questions = write_facts(tmp_path)
    assert len({question.question for question in questions}) == len(questions) == 96
    for question in questions:
        text = (tmp_path / str(question.document)).read_text()
        [paragraph] = [part for part in text.split("\n\n") if question.passage in part]
        assert scores.contains(paragraph, question.answers[:1])
        assert 120 <= len(paragraph.split()) <= 200
    assert all(a.document != b.document for a, b in pairwise(questions))


def test_no_name_date_or_sum_answers_two_questions(tmp_path: Path) -> None:
    answers = [question.answers[0] for question in write_facts(tmp_path)]
    told_apart = [answer for answer in answers if len(answer.split()) > 1 and not answer.endswith("times")]
    assert len(set(told_apart)) == len(told_apart) > 60
