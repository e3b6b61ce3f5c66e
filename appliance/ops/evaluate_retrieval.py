"""`appliance evaluate retrieval`: golden questions to a private record of the documents; where the right passage ranks.

Asks no model. A hit is a passage of the right document that overlaps the paragraph with the answer (its text is looked
up in the document where only its beginning is known); else one on the right page; else one that holds an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from appliance.api.schema import Passage
from appliance.config import Config
from appliance.ops import scores
from appliance.ops.cross_fit import CrossFit, cross_fit
from appliance.ops.figures import percentile
from appliance.ops.golden import GoldenQuestion
from appliance.ops.private_library import EVERYTHING, PrivateLibrary, private_library
from appliance.retrieval.retriever import Retrieved

N_RANKED = 10
WRONGLY_REFUSED = (0.02, 0.03, 0.05, 0.08)  # shares of answerable questions for which a threshold is given
CROSS_FITTED = 0.05  # share that the threshold which is tried on other documents refuses where it is set
_SAY_EVERY = 50
_MIN_BEGINNING = 40  # characters of a paragraph's beginning that find it


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and what came of it.

    Attributes:
        rank: of the first right passage, from 1; None: not among the ten, or there is none.
        answer_rank: likewise of the first passage that holds an answer's words.
        confidence: see `appliance.retrieval.retriever.Retrieved`.
        found: the first passage's place.
        seconds: of the search, with the question's embedding.
        document: that holds the answer.
        right_document: the first passage is of it.
    """

    id: str
    question: str
    answerable: bool
    rank: int | None
    answer_rank: int | None
    confidence: float
    found: str
    seconds: float
    document: str | None = None
    right_document: bool = False


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What a threshold refuses: at most this share of the answerable questions, and so many of the others."""

    wrongly_refused: float
    threshold: float
    rightly_refused: float


@dataclass(frozen=True, slots=True)
class RetrievalScores:
    """What retrieval achieves on a set of questions.

    Attributes:
        refuse_below: the threshold in use.
    """

    n_documents: int
    n_chunks: int
    refuse_below: float
    asked: Sequence[Asked]
    curve: Sequence[CurvePoint] = ()

    def figures(self) -> dict[str, float]:
        """Return the figures by name; those about unanswerable questions only where there are some."""
        right = [each for each in self.asked if each.answerable]
        absent = [each.confidence for each in self.asked if not each.answerable]
        ranks, answer_ranks = [each.rank for each in right], [each.answer_rank for each in right]
        seconds = [each.seconds for each in self.asked]
        found: dict[str, float] = {"questions": len(self.asked)}
        if right:
            found |= {f"hit@{n}": scores.hit_rate(ranks, n) for n in (1, 3, 5, 10)}
            found["document@1"] = fmean(each.right_document for each in right)
            found |= {"mrr": scores.mean_reciprocal_rank(ranks)}
            found |= {f"answer@{n}": scores.hit_rate(answer_ranks, n) for n in (1, 5)}
            found["wrongly_refused"] = scores.share_below([e.confidence for e in right], self.refuse_below)
        if absent:
            found["rightly_refused"] = scores.share_below(absent, self.refuse_below)
        if fitted := self.cross_fit():
            found |= {
                "cross_fitted_wrongly_refused": fitted.wrongly_refused,
                "cross_fitted_rightly_refused": fitted.rightly_refused,
            }
        found |= {
            "search_p50_ms": 1000 * percentile(seconds, 0.5),
            "search_p95_ms": 1000 * percentile(seconds, 0.95),
        }
        return {name: round(value, 4) for name, value in found.items()}

    def cross_fit(self) -> CrossFit | None:
        """Return what a threshold is worth on other documents than those it was set with."""
        right = [(each.document or "", each.confidence) for each in self.asked if each.answerable]
        return cross_fit(right, [each.confidence for each in self.asked if not each.answerable], CROSS_FITTED)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "kind": "retrieval", "figures": self.figures(), "n_documents": self.n_documents, "n_chunks": self.n_chunks,
            "refuse_below": self.refuse_below,
            "cross_fitted": asdict(fitted) if (fitted := self.cross_fit()) else None,
            "curve": [asdict(point) for point in self.curve],
            "asked": [asdict(each) for each in self.asked],
        }  # fmt: skip


def run(
    config: Config, questions: Sequence[GoldenQuestion], folder: Path, say: Callable[[str], None]
) -> RetrievalScores:
    """Read the folder into a private record and ask it every question.

    Raises:
        BenchError: the folder cannot be read.
        ConfigError: no embedder is installed.
    """
    with private_library(config, folder, say) as private:
        asked = []
        for n, question in enumerate(questions, 1):
            asked.append(_ask(question, private))
            if n % _SAY_EVERY == 0:
                say(f"asked {n} of {len(questions)}")
        return RetrievalScores(
            sum(private.library.counts().values()), private.library.n_chunks(), config.settings.answer.refuse_below,
            asked, _curve(asked),
        )  # fmt: skip


def _ask(question: GoldenQuestion, private: PrivateLibrary) -> Asked:
    retrieved = private.retriever.search(question.question, EVERYTHING, N_RANKED)
    paragraph = paragraph_of(question, private.folder)
    return Asked(
        question.id, question.question, question.answerable,
        _rank(retrieved, lambda passage: is_hit(passage, question, paragraph)),
        _rank(retrieved, lambda passage: scores.contains(passage.text, question.answers)),
        round(retrieved.confidence, 4),
        f"{retrieved.passages[0].path}, {retrieved.passages[0].locator}" if retrieved.passages else "",
        round(retrieved.seconds, 4),
        question.document,
        bool(retrieved.passages) and retrieved.passages[0].path == question.document,
    )  # fmt: skip


def paragraph_of(question: GoldenQuestion, folder: Path) -> str:
    """Return the paragraph with the answer, where the document is plain text; else what is known of its beginning."""
    beginning = " ".join(question.passage.split())
    if question.document is None or len(beginning) < _MIN_BEGINNING:
        return beginning
    try:
        text = (folder / question.document).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return beginning
    blocks = (" ".join(block.split()) for block in text.split("\n\n"))
    return next((block for block in blocks if block.startswith(beginning)), beginning)


def is_hit(passage: Passage, question: GoldenQuestion, paragraph: str) -> bool:
    """Tell whether a passage is where the answer stands."""
    if passage.path != question.document:
        return False
    if paragraph:
        return scores.overlaps(passage.text, paragraph)
    if question.page is not None:
        return passage.place.get("page") == question.page
    return scores.contains(passage.text, question.answers)


def _rank(retrieved: Retrieved, is_right: Callable[[Passage], bool]) -> int | None:
    return next((passage.number for passage in retrieved.passages if is_right(passage)), None)


def _curve(asked: Sequence[Asked]) -> list[CurvePoint]:
    right = [each.confidence for each in asked if each.answerable]
    absent = [each.confidence for each in asked if not each.answerable]
    if not right or not absent:
        return []
    thresholds = [(share, scores.threshold_at(right, share)) for share in WRONGLY_REFUSED]
    return [
        CurvePoint(share, round(threshold, 4), round(scores.share_below(absent, threshold), 4))
        for share, threshold in thresholds
    ]
