"""Blocks measured: a script in place of the daemon for figures and choices, the real one for what it leaves behind."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from typer.testing import CliRunner

from appliance import tuned_blocks
from appliance.api.schema import ContextBudget, DoneEvent, Timings
from appliance.cli import app
from appliance.config import load
from appliance.engine.request import Reuse
from appliance.ops import golden, tune_blocks
from appliance.ops.bench_blocks import Task, compare, task_of
from appliance.ops.block_modes import BLOCKS, COLD, EXACT, Comparison, figures_of, modes
from appliance.ops.block_report import BlocksReport
from appliance.ops.errors import BenchError
from appliance.ops.evaluate_answers import Answered
from appliance.ops.golden import GoldenQuestion
from appliance.ops.machine import Machine
from appliance.ops.report import Report
from models.registry import InstalledModel
from tests.ops.bench_process import running_bench

MODEL = "smollm2-135m-instruct"
N_SYSTEM, N_PROMPT, N_PASSAGES = 40, 900, 800
TTFT_S = {EXACT.reuse: 6.0, BLOCKS.reuse: 0.6, Reuse("blend", 16): 1.2, Reuse("blend", 32): 1.8}
WITHIN_S = 120.0


@dataclass
class ScriptedDesk:
    """Answers as told, and notes what is done in which order.

    Attributes:
        wrong: how many of the first questions are answered wrongly, by mode.
        n_reused: tokens found in the cache by an exact prompt.
        refused: whether no question is put to the model.
    """

    wrong: dict[Reuse, int] = field(default_factory=dict)
    n_reused: int = N_SYSTEM
    refused: bool = False
    block_size: int = N_PASSAGES * 500
    ttft_s: dict[Reuse, float] = field(default_factory=lambda: TTFT_S)
    done: list[str] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)

    async def ask(self, question: GoldenQuestion, reuse: Reuse) -> tuple[Answered, DoneEvent]:
        self.done.append(f"{question.id} {reuse}")
        joined = reuse != EXACT.reuse and question.id in self.kept
        if reuse != EXACT.reuse:
            self.kept.add(question.id)
        ttft_s = self.ttft_s[reuse] if joined else self.ttft_s[EXACT.reuse]
        right = int(question.id) >= self.wrong.get(reuse, 0)
        answered = Answered(
            id=question.id, question=question.question, answerable=True, answer="x", refused=False,
            by_evidence=self.refused, contained=right, f1=float(right), shown=True, quoted=False, n_unsupported=0,
            n_contradicted=0, n_cited=1, n_right=int(right), evidence_s=0.1, ttft_s=ttft_s, n_prompt=N_PROMPT,
            n_decoded=10,
        )  # fmt: skip
        timings = Timings(
            retrieval_s=0.1, ttft_s=0.0 if self.refused else ttft_s, n_prompt=N_PROMPT,
            n_reused=N_SYSTEM + N_PASSAGES if joined else self.n_reused,
        )  # fmt: skip
        budget = ContextBudget(
            n_ctx=4096, n_system=N_SYSTEM, n_history=0, n_passages=N_PASSAGES, n_question=60, max_answer=400
        )
        return answered, DoneEvent(
            finish_reason="stop", answer="x", answered=True, citations=[], context=budget, timings=timings, model="m",
            conversation="",
        )  # fmt: skip

    async def empty_cache(self) -> None:
        self.done.append("empty")

    async def rest(self) -> None:
        self.done.append("rest")

    def drop_blocks(self) -> None:
        self.kept.clear()
        self.done.append("drop")

    def block_bytes(self) -> int:
        return self.block_size


def questions(n: int) -> list[GoldenQuestion]:
    return [GoldenQuestion(str(i), f"Question {i}?", ("x",), "a.md") for i in range(n)]


async def compared(desk: ScriptedDesk, n: int = 50, fresh: tuple[int, ...] = (32, 16)) -> Comparison:
    return await compare(desk, Task(questions(n), Path(), fresh), lambda line: None)


def reported(comparison: Comparison, model: str = MODEL) -> BlocksReport:
    machine = Machine("a cpu", 2, ("avx2",), 8.0, "Linux", "0.3", 0.1)
    report = Report(
        machine=machine, model=model, date="2026-11-30T12:00:00Z", settings={}, results=comparison.results(),
        threads=(), n_runs=50, took_s=10.0, figures=figures_of(model),
    )  # fmt: skip
    return BlocksReport(report, comparison)


async def test_each_mode_is_asked_with_an_empty_cache_and_the_cold_one_without_blocks() -> None:
    desk = ScriptedDesk()
    await compared(desk, 2)
    of_first = [
        "empty", "0 exact", "rest", "empty", "drop", "0 blocks", "rest", "empty", "0 blocks", "rest",
        "empty", "0 blend, 16 tokens", "rest", "empty", "0 blend, 32 tokens", "rest",
    ]  # fmt: skip
    assert desk.done == of_first + [line.replace("0 ", "1 ", 1) for line in of_first]


async def test_ratios_are_taken_question_by_question_and_cells_are_counted() -> None:
    comparison = await compared(ScriptedDesk())
    assert comparison.picked == BLOCKS
    row = comparison.row(BLOCKS)
    assert (row["won"], row["lost"]) == (0, 0)
    assert (row["ttft_ratio"], row["contained"], row["citation_precision"]) == (0.1, 1.0, 1.0)
    assert (row["read_p50_s"], row["read_ratio"]) == (0.5, round(0.5 / 5.9, 4))
    assert comparison.row(COLD)["ttft_ratio"] == 1.0
    assert comparison.bytes_per_token == 500


@pytest.mark.parametrize(
    ("wrong", "picked", "delta"),
    [
        ({}, "blocks", 0.0),
        ({BLOCKS.reuse: 1}, "blocks", -0.02),
        ({BLOCKS.reuse: 2}, "blend_16", 0.0),
        ({BLOCKS.reuse: 2, Reuse("blend", 16): 5}, "blend_32", 0.0),
        ({BLOCKS.reuse: 2, Reuse("blend", 16): 5, Reuse("blend", 32): 2}, "exact", 0.0),
        ({EXACT.reuse: 10, BLOCKS.reuse: 11}, "blocks", -0.02),
        ({EXACT.reuse: 10}, "blocks", 0.2),
    ],
)
async def test_the_fastest_mode_within_two_points_is_picked(
    wrong: dict[Reuse, int], picked: str, delta: float
) -> None:
    comparison = await compared(ScriptedDesk(wrong))
    assert comparison.picked.name == picked
    assert comparison.quality_delta(comparison.picked) == pytest.approx(delta)
    n_wrong = wrong.get(comparison.picked.reuse, 0)
    row = comparison.row(comparison.picked)
    assert row["won"] - row["lost"] == wrong.get(EXACT.reuse, 0) - n_wrong


async def test_a_mode_that_spares_next_to_nothing_is_not_picked() -> None:
    slow = {**TTFT_S, BLOCKS.reuse: 5.7, Reuse("blend", 16): 5.9, Reuse("blend", 32): 6.1}
    comparison = await compared(ScriptedDesk(ttft_s=slow))
    assert comparison.picked == EXACT
    assert comparison.results()["warm_ttft_ratio"].value == 1.0


async def test_where_nothing_is_kept_exact_is_picked_whatever_the_clock_says() -> None:
    comparison = await compared(ScriptedDesk(block_size=0))
    assert comparison.picked == EXACT
    assert "no passage was kept" in reported(comparison).table()


async def test_an_exact_prompt_that_was_found_in_the_cache_is_no_measurement() -> None:
    with pytest.raises(BenchError, match="240 of 900 prompt tokens were found in the cache"):
        await compared(ScriptedDesk(n_reused=N_SYSTEM + 200))


async def test_where_the_model_words_nothing_there_is_nothing_to_compare() -> None:
    with pytest.raises(BenchError, match="worded none of 50 answers"):
        await compared(ScriptedDesk(refused=True))


@pytest.mark.parametrize(("model", "bound"), [(MODEL, 0.25), ("qwen2.5-coder-1.5b-instruct", 0.15)])
async def test_the_report_has_figures_targets_and_a_row_for_each_mode(model: str, bound: float) -> None:
    report = reported(await compared(ScriptedDesk()), model)
    found = json.loads(json.dumps(report.to_json()))
    assert (found["warm_ttft_ratio"], found["cold_ttft_ratio"], found["quality_delta"]) == (0.1, 1.0, 0.0)
    assert found["picked"] == {"name": "blocks", "mode": "blocks", "n_fresh": 0}
    assert found["figures"]["warm_ttft_ratio"]["target"] == {"at_most": bound}
    assert all(figure["met"] for figure in found["figures"].values())
    assert list(found["modes"]) == ["exact", "blocks_cold", "blocks", "blend_16", "blend_32"]
    assert len(found["asked"]) == 250
    assert "picked: blocks; 500 bytes a token" in report.table()
    assert "| blend_16 | 1.000 | 0 | 0 | 1.000 | 1.000 | 1.20 s | 1.20 s | 0.200 |" in report.markdown()


async def test_what_was_picked_is_remembered_with_the_model(tmp_path: Path) -> None:
    comparison = await compared(ScriptedDesk({BLOCKS.reuse: 3}))
    model = InstalledModel(MODEL, "chat", tmp_path, "a" * 64, 1, None, "added", True, True)
    report = reported(comparison)
    tuned_blocks.write(tmp_path, tune_blocks.tuned(report, model))
    [kept] = tuned_blocks.read(tmp_path)
    assert kept.reuse == Reuse("blend", 16)
    assert (kept.measured, kept.figures["warm_ttft_ratio"], kept.figures["questions"]) == (
        "2026-11-30",
        0.2,
        50,
    )
    assert tune_blocks.verdict(report).startswith(
        "blend, 16 tokens: the first word comes after 20% of the time"
    )


def test_fresh_tokens_make_a_mode_each_in_order() -> None:
    assert [mode.name for mode in modes((64, 16, 64))] == [
        "exact",
        "blocks_cold",
        "blocks",
        "blend_16",
        "blend_64",
    ]


def test_made_facts_are_asked_where_a_site_has_too_few_questions_of_its_own(tmp_path: Path) -> None:
    config = load(tmp_path, {})
    config.documents.mkdir()
    for question in questions(19):
        golden.append(tmp_path / golden.FILE_NAME, question)
    with task_of(config, None, None, 60, ()) as task:
        made = task.folder
        assert (len(task.questions), task.fresh) == (60, (32,))
        assert all((made / str(question.document)).is_file() for question in task.questions)
    assert not made.exists()
    golden.append(tmp_path / golden.FILE_NAME, questions(20)[-1])
    golden.append(tmp_path / golden.FILE_NAME, GoldenQuestion("20", "Which planet has the most moons?"))
    with task_of(config, None, None, 60, (8,)) as task:
        assert (len(task.questions), task.folder, task.fresh) == (20, config.documents, (8,))


@pytest.mark.parametrize("command", [("bench", "blocks"), ("tune", "blocks")])
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--model", "no-such-model"], "no-such-model is not installed"),
        (["--questions", "none.jsonl", "--docs", "docs"], "none.jsonl: cannot be read"),
        (
            ["--questions", "absent.jsonl", "--docs", "docs"],
            "absent.jsonl: holds no question that the documents",
        ),
        (["--questions", "own.jsonl", "--docs", "nowhere"], "nowhere: is no folder"),
        (["--questions", "own.jsonl", "--docs", "docs"], "docs: holds no documents"),
    ],
)
def test_what_cannot_be_measured_is_said(
    tmp_path: Path, models_folder: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, str],
    arguments: list[str], complaint: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("APPLIANCE_MODELS__FOLDER", str(models_folder))
    (tmp_path / "docs").mkdir()
    golden.append(tmp_path / "own.jsonl", questions(1)[0])
    golden.append(tmp_path / "absent.jsonl", GoldenQuestion("1", "Who feeds the cat?"))
    result = CliRunner().invoke(app, ["--home", str(tmp_path), *command, *arguments])
    assert complaint in str(result.exception)
    assert not (tmp_path / "state").exists()


def test_tune_alone_still_tunes_the_engine(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["--home", str(tmp_path), "tune"])
    assert "no chat model is installed" in str(result.exception)


def test_a_real_daemon_is_asked_in_every_mode(models_folder: Path, tmp_path: Path) -> None:
    docs, file = tmp_path / "docs", tmp_path / "own.jsonl"
    docs.mkdir()
    (docs / "house.md").write_text("# House\n\nThe boiler of the east wing is serviced by Harlow and Sons.\n")
    asked = "Who services the boiler of the east wing?"
    golden.append(file, GoldenQuestion("1", asked, ("Harlow and Sons",), "house.md"))
    arguments = ("--model", MODEL, "--questions", str(file), "--docs", str(docs), "--fresh", "4", "--json")
    with running_bench(models_folder, "blocks", *arguments) as process:
        out, said = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 0, said
    found = json.loads(out)
    assert [reply["mode"] for reply in found["asked"]] == ["exact", "blocks_cold", "blocks", "blend_4"]
    assert found["modes"]["exact"]["contained_delta"] == 0.0
    assert found["warm_ttft_ratio"] > 0
    assert found["settings"]["blocks"] == "exact"


def test_ctrl_c_leaves_nothing_behind(models_folder: Path) -> None:
    with running_bench(models_folder, "blocks", "--model", MODEL) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if line.startswith("reading "))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=WITHIN_S) == 130
