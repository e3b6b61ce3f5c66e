"""Evaluation: golden questions read and written, scores by table, and a whole run over a small folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from appliance.cli import app
from appliance.ops import scores
from appliance.ops.cross_fit import cross_fit
from appliance.ops.evaluate_answers import Answered, AnswerScores
from appliance.ops.evaluate_retrieval import Asked, RetrievalScores
from appliance.ops.golden import GoldenQuestion, QuestionsError, append, read, sample
from appliance.ops.made_reports import write_reports

BOILER = "The boiler of the east wing is serviced in September by Harlow and Sons, before the heating season begins."
KEYS = "Keys are handed out at the porter's lodge against a signature; a lost key costs the department 140 euros."


@pytest.mark.parametrize(
    ("text", "answers", "expected"),
    [
        ("It is serviced by Harlow and Sons.", ["Harlow and Sons"], True),
        ("It is serviced by the Harlow, and Sons", ["harlow and sons"], True),
        ("It costs 1400 euros.", ["140 euros"], False),
        ("Nobody knows.", [], False),
        ("anything", ["the"], False),
    ],
)
def test_answers_are_found_as_whole_words(text: str, answers: list[str], expected: bool) -> None:
    assert scores.contains(text, answers) is expected


def test_overlap_of_words_is_scored_against_the_best_answer() -> None:
    assert scores.f1("Harlow and Sons", ["Tremaine", "Harlow and Sons"]) == 1.0
    assert scores.f1("by Harlow", ["Harlow and Sons"]) == pytest.approx(
        2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3)
    )
    assert scores.f1("", ["Harlow"]) == 0.0


@pytest.mark.parametrize(
    ("passage", "expected"),
    [
        (BOILER, True),
        ("Boiler\n" + BOILER[:60] + "\nand something else that is long enough", True),
        ("before " + BOILER + " after", True),
        ("September", False),
        (KEYS, False),
    ],
)
def test_a_passage_overlaps_a_paragraph_when_they_share_a_line(passage: str, expected: bool) -> None:
    assert scores.overlaps(passage, BOILER) is expected


def test_ranks_and_thresholds() -> None:
    ranks = [1, 2, None, 1]
    assert scores.hit_rate(ranks, 1) == 0.5
    assert scores.hit_rate(ranks, 5) == 0.75
    assert scores.mean_reciprocal_rank(ranks) == pytest.approx((1 + 0.5 + 0 + 1) / 4)
    confidences = [0.5, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7]
    threshold = scores.threshold_at(confidences, 0.1)
    assert scores.share_below(confidences, threshold) == 0.1
    assert scores.share_below([0.4, 0.95], threshold) == 0.5


def test_figures_about_absent_answers_stand_only_where_there_are_some() -> None:
    asked = [
        Asked("1", "q", True, 1, 1, 1.2, "a.md", 0.01),
        Asked("2", "q", True, None, 3, 0.3, "a.md", 0.02),
    ]
    figures = RetrievalScores(1, 2, 0.95, asked).figures()
    assert figures["hit@1"] == 0.5
    assert figures["answer@5"] == 1.0
    assert figures["wrongly_refused"] == 0.5
    assert "rightly_refused" not in figures


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 2: is no JSON"),
        ("[]", 'needs a "question"'),
        ('{"question": "Why?", "document": "a.md"}', "by which a right answer is known"),
        ('{"question": "Why?", "answers": "yes"}', '"answers" must be a list'),
        ('{"question": "Why?", "document": 3}', '"document" must be a path'),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"question": "When?", "document": null}\n' + line + "\n")
    with pytest.raises(QuestionsError, match=complaint.replace("?", r"\?")):
        read(file)


def test_a_written_question_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    wanted = [
        GoldenQuestion("1", "Wer wartet den Kessel?", ("Harlow & Söhne",), "kessel.md", page=3),
        GoldenQuestion("2", "Who feeds the cat?"),
    ]
    for question in wanted:
        append(file, question)
    assert read(file) == wanted


def test_a_run_says_where_the_right_passages_rank_and_how_it_was_before(
    tmp_path: Path, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, docs = tmp_path / "home", tmp_path / "docs"
    (home / "documents").mkdir(parents=True)
    docs.mkdir()
    (docs / "house.md").write_text(f"# House\n\n{BOILER}\n\n{KEYS}\n")
    (docs / "pets.md").write_text(
        "# Pets\n\nDogs are kept on a lead in the corridors, and cats stay in their rooms.\n"
    )
    questions = [
        {
            "question": "Who services the boiler?",
            "answers": ["Harlow"],
            "document": "house.md",
            "passage": BOILER[:60],
        },
        {"question": "What does a lost key cost?", "answers": ["140 euros"], "document": "house.md"},
        {"question": "Which planet has the most moons?", "document": None},
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, questions)))
    monkeypatch.setenv("APPLIANCE_MODELS__FOLDER", str(models_folder))
    command = ["--home", str(home), "evaluate", "retrieval", "--questions", str(file), "--docs", str(docs)]

    def run(*more: str) -> str:
        return CliRunner().invoke(app, [*command, *more], catch_exceptions=False).stdout

    first = json.loads(run("--json"))
    assert first["figures"]["hit@1"] == 1.0
    assert first["figures"]["rightly_refused"] == 1.0
    assert first["n_documents"] == 2
    assert first["before"] is None
    again = json.loads(run("--json"))
    assert again["before"]["hit@1"] == 1.0
    assert "hit@1" in run()
    assert sorted(docs.iterdir()) == [docs / "house.md", docs / "pets.md"]


def test_a_question_is_added_only_for_a_document_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "house.md").write_text(BOILER)
    command = ["--home", str(tmp_path), "evaluate", "add", "Who services the boiler?"]
    added = CliRunner().invoke(app, [*command, "--answer", "Harlow", "--document", "house.md"])
    assert "question 1 is in" in added.stdout
    assert read(tmp_path / "questions.jsonl")[0].document == "house.md"
    assert CliRunner().invoke(app, [*command, "--answer", "Harlow", "--document", "cellar.md"]).exit_code != 0


def test_a_model_is_asked_and_its_answers_and_citations_are_scored(
    tmp_path: Path, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "house.md").write_text(f"# House\n\n{BOILER}\n\n{KEYS}\n")
    file = tmp_path / "questions.jsonl"
    append(
        file,
        GoldenQuestion("1", "Who services the boiler of the east wing?", ("Harlow and Sons",), "house.md"),
    )
    append(file, GoldenQuestion("2", "Which planet has the most moons?"))
    monkeypatch.setenv("APPLIANCE_MODELS__FOLDER", str(models_folder))
    monkeypatch.setenv("APPLIANCE_ANSWER__COMPOSE", "always")  # the smallest model would only quote
    command = ["--home", str(tmp_path), "evaluate", "answers", "--model", "smollm2-135m-instruct"]
    command += ["--questions", str(file), "--docs", str(docs), "--json"]
    found = json.loads(CliRunner().invoke(app, command, catch_exceptions=False).stdout)
    first, second = found["answered"]
    assert first["shown"]
    assert first["n_decoded"] > 0
    assert first["n_right"] <= first["n_cited"]
    assert second["refused"]
    assert second["by_evidence"]
    assert found["figures"]["shown"] == 1.0
    assert found["figures"]["rightly_refused"] == 1.0


def test_figures_of_answers_are_of_the_questions_that_have_one() -> None:
    def answered(id: str, **more: object) -> Answered:
        values: dict[str, object] = {
            "id": id, "question": "q", "answerable": True, "answer": "a", "refused": False, "by_evidence": False,
            "contained": True, "f1": 0.5, "shown": True, "n_cited": 1, "n_right": 1, "ttft_s": 2.0, "n_prompt": 100,
            "n_decoded": 10, "quoted": False, "n_unsupported": 0, "n_contradicted": 0, "evidence_s": 0.05,
        }  # fmt: skip
        return Answered(**(values | more))  # type: ignore[arg-type]

    wrong = answered("2", contained=False, f1=0.0, n_cited=3, n_right=0)
    refused = answered("3", refused=True, contained=False, f1=0.0, n_cited=0, n_right=0)
    absent = answered("4", answerable=False, refused=True, by_evidence=True, ttft_s=0.0)
    figures = AnswerScores("m", [answered("1"), wrong, refused, absent]).figures()
    assert figures["contained"] == pytest.approx(1 / 3, abs=1e-4)
    assert figures["cited_right"] == 0.5
    assert figures["citation_precision"] == 0.25
    assert figures["wrongly_refused"] == pytest.approx(1 / 3, abs=1e-4)
    assert figures["rightly_refused"] == 1.0
    assert figures["ttft_p50_s"] == 2.0


def test_a_sample_is_spread_over_the_file_and_takes_as_many_of_both_kinds() -> None:
    questions = [GoldenQuestion(str(n), "?", ("x",), "a.txt" if n < 100 else None) for n in range(120)]
    assert [q.id for q in sample(questions, 4)] == ["0", "25", "50", "75", "100", "105", "110", "115"]
    assert sample(questions, None) == questions
    assert len(sample(questions, 50)) == 70


def test_a_threshold_is_reported_on_documents_it_was_not_set_with() -> None:
    answerable = [(f"{n}.md", 0.5 + n / 100 + extra) for n in range(10) for extra in (0.0, 0.2)]
    fitted = cross_fit(answerable, [0.1, 0.2, 0.9], 0.1)
    assert fitted is not None
    assert 0.5 <= fitted.threshold <= 0.6
    assert 0 < fitted.wrongly_refused < 0.5
    assert fitted.rightly_refused == pytest.approx(2 / 3, abs=1e-4)
    assert cross_fit(answerable, [], 0.1) is None
    assert cross_fit(answerable[:4], [0.1], 0.1) is None


def test_made_reports_are_the_same_each_time_and_their_questions_are_told_apart(tmp_path: Path) -> None:
    first, second = write_reports(tmp_path / "one"), write_reports(tmp_path / "two")
    assert first == second
    assert len({question.question for question in first}) == len(first) == 120
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert len(names) == 12
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    for question in first:
        assert question.answers[0].encode() in (tmp_path / "one" / (question.document or "")).read_bytes()
