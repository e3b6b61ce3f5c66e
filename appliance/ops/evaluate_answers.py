"""`appliance evaluate answers`: golden questions to a real model in a private daemon: what it says, what it cites.

Answers are compared as in `scores`. A citation is right when its passage overlaps the answer's paragraph, is on its
page, or holds an answer, as in `evaluate_retrieval`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from appliance.api.schema import DoneEvent, ErrorEvent, Passage, PassagesEvent, ReuseRequest
from appliance.client import Client
from appliance.config import Config
from appliance.ops import bench, scores
from appliance.ops.errors import BenchError
from appliance.ops.evaluate_retrieval import is_hit, paragraph_of
from appliance.ops.figures import percentile
from appliance.ops.golden import GoldenQuestion
from appliance.ops.private_daemon import PrivateDaemon

POLL_S = 0.5
_SAY_EVERY = 10


@dataclass(frozen=True, slots=True)
class Answered:
    """One question and its answer.

    Attributes:
        refused: it was said that the documents do not say.
        by_evidence: without asking the model.
        quoted: the answer is, or ends in, a sentence of a document, since the model's own words did not stand.
        n_unsupported, n_contradicted: sentences marked so.
        contained: a golden answer's words stand in the answer; `shown`: in the passages.
        n_right: of the `n_cited` passages that the answer cites.
        evidence_s: from the question to the passages.
    """

    id: str
    question: str
    answerable: bool
    answer: str
    refused: bool
    by_evidence: bool
    contained: bool
    f1: float
    shown: bool
    quoted: bool
    n_unsupported: int
    n_contradicted: int
    n_cited: int
    n_right: int
    evidence_s: float
    ttft_s: float
    n_prompt: int
    n_decoded: int


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """What a model achieves on a set of questions."""

    model: str
    answered: Sequence[Answered]

    def figures(self) -> dict[str, float]:
        """Return the figures by name; those of answers and citations over the answerable questions."""
        right = [each for each in self.answered if each.answerable]
        absent = [each for each in self.answered if not each.answerable]
        composed = [each for each in self.answered if not each.by_evidence]
        found: dict[str, float] = {"questions": len(self.answered)}
        if right:
            said = [each for each in right if not each.refused]
            n_cited = sum(each.n_cited for each in said)
            found |= {
                "contained": fmean(each.contained for each in right),
                "f1": fmean(each.f1 for each in right),
                "shown": fmean(each.shown for each in right),
                "cited_right": fmean(each.n_right > 0 for each in said) if said else 0.0,
                "citation_precision": sum(each.n_right for each in said) / n_cited if n_cited else 0.0,
                "wrongly_refused": fmean(each.refused for each in right),
                "wrongly_refused_by_evidence": fmean(each.by_evidence for each in right),
                "quoted": fmean(each.quoted for each in right),
            }
        if absent:
            found["rightly_refused"] = fmean(each.refused for each in absent)
            found["rightly_refused_by_evidence"] = fmean(each.by_evidence for each in absent)
        if composed:
            ttft = [each.ttft_s for each in composed]
            found |= {
                "ttft_p50_s": percentile(ttft, 0.5), "ttft_p95_s": percentile(ttft, 0.95),
                "prompt_tokens": fmean(each.n_prompt for each in composed),
                "answer_tokens": fmean(each.n_decoded for each in composed),
            }  # fmt: skip
        found["evidence_p95_s"] = percentile([each.evidence_s for each in self.answered], 0.95)
        return {name: round(value, 4) for name, value in found.items()}

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "kind": "answers", "model": self.model, "figures": self.figures(),
            "answered": [asdict(each) for each in self.answered],
        }  # fmt: skip


def run(
    config: Config, model: str, questions: Sequence[GoldenQuestion], folder: Path, say: Callable[[str], None]
) -> AnswerScores:
    """Read the folder in a private daemon and ask it every question, one after the other.

    Args:
        model: name of an installed chat model.
    Raises:
        BenchError: the daemon, its model or an answer fails.
    """
    return bench.run(_run(config, model, questions, folder, say))


async def _run(
    config: Config, model: str, questions: Sequence[GoldenQuestion], folder: Path, say: Callable[[str], None]
) -> AnswerScores:
    with TemporaryDirectory(prefix="appliance-evaluate-") as parent:
        daemon = PrivateDaemon(Path(parent) / "home", _settings(config, model, folder))
        try:
            say(f"starting a private daemon with {model}")
            await daemon.start()
            await until_read(daemon, folder, say)
            answered = []
            async with Client(daemon.socket) as client:
                for n, question in enumerate(questions, 1):
                    answered.append((await ask(client, question, folder))[0])
                    if n % _SAY_EVERY == 0:
                        say(f"asked {n} of {len(questions)}")
        finally:
            await daemon.stop()
    return AnswerScores(model, answered)


def _settings(config: Config, model: str, folder: Path) -> dict[str, Any]:
    ours = config.settings.model_dump(mode="json")
    engine = {name: value for name, value in ours["engine"].items() if name not in ("key", "key_file")}
    return {
        "models": {"folder": str(config.models)}, "engine": engine | {"model": model}, "embed": ours["embed"],
        "ingest": ours["ingest"] | {"folder": str(folder)}, "answer": ours["answer"],
    }  # fmt: skip


async def until_read(daemon: PrivateDaemon, folder: Path, say: Callable[[str], None]) -> None:
    """Wait until a daemon has read its folder.

    Raises:
        BenchError: it cannot.
    """
    while True:
        ingest = (await daemon.status()).ingest
        if ingest.problem:
            raise BenchError(f"{folder}: {ingest.problem}")
        if ingest.counts and not ingest.n_waiting:
            return
        say(f"reading {folder}: {ingest.n_waiting} files to go")
        await asyncio.sleep(POLL_S)


async def ask(
    client: Client, question: GoldenQuestion, folder: Path, reuse: ReuseRequest | None = None
) -> tuple[Answered, DoneEvent]:
    """Ask a question; return what is to be said of its answer, and the answer itself.

    Raises:
        BenchError: there is none.
    """
    passages: list[Passage] = []
    asked, evidence_s = time.monotonic(), 0.0
    async for event in client.ask(question.question, reuse=reuse):
        match event:
            case PassagesEvent():
                passages, evidence_s = event.passages, time.monotonic() - asked
            case ErrorEvent():
                raise BenchError(f"{question.question!r}: {event.message}")
            case DoneEvent():
                return _scored(question, passages, event, paragraph_of(question, folder), evidence_s), event
    raise BenchError(f"{question.question!r}: the answer broke off")


def _scored(
    question: GoldenQuestion, passages: Sequence[Passage], done: DoneEvent, paragraph: str, evidence_s: float
) -> Answered:
    cited = {number for citation in done.citations for number in citation.numbers}
    right = {
        passage.number
        for passage in passages
        if is_hit(passage, question, paragraph) or scores.contains(passage.text, question.answers)
    }
    states = Counter(citation.state for citation in done.citations)
    return Answered(
        id=question.id, question=question.question, answerable=question.answerable, answer=done.answer,
        refused=not done.answered, by_evidence=done.origin == "evidence",
        contained=done.answered and scores.contains(done.answer, question.answers),
        f1=scores.f1(done.answer, question.answers) if done.answered else 0.0,
        shown=any(scores.contains(passage.text, question.answers) for passage in passages),
        quoted=_ends_in_quotation(done), n_unsupported=states["unsupported"], n_contradicted=states["contradicted"],
        n_cited=len(cited), n_right=len(cited & right),
        evidence_s=round(evidence_s, 4), ttft_s=round(done.timings.ttft_s, 3),
        n_prompt=done.timings.n_prompt, n_decoded=done.timings.n_decoded,
    )  # fmt: skip


def _ends_in_quotation(done: DoneEvent) -> bool:
    """Tell whether the daemon put a document's sentence in the place of the model's words, or behind them."""
    last = done.citations[-1] if done.citations else None
    return last is not None and last.quotation and done.answer[last.start] == "“"
