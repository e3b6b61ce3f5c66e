"""Running the reranker, a cross-encoder: a query and texts in, scores out. Ordering by them is not done here.

The compiled model: tokens of a pair in, one number out. Its folder: see `onnx_session`.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from models.card import RerankerCard, read_card
from models.errors import CompileError, ModelFileError, ModelRunError
from models.onnx_session import OnnxSession
from models.registry import Registry

log = logging.getLogger(__name__)


class OnnxReranker:
    """The compiled model; a call runs on the calling thread alone. Safe to call from several threads."""

    def __init__(self, folder: Path, budget_s: float, clock: Callable[[], float] = time.perf_counter) -> None:
        """Open a compiled folder.

        Args:
            budget_s: seconds for all texts of one query.
        Raises:
            CompileError: nothing is compiled there.
            ModelFileError: the folder is damaged.
        """
        card = read_card(folder, RerankerCard)
        self.name = card.name
        self._budget_s = budget_s
        self._clock = clock
        self._session = OnnxSession(folder, card.max_seq_length)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how well texts answer the query, higher is better: of the first texts, as many as fit the budget.

        A text begins only if, taking as long as the slowest so far, it would end in time; the first always begins.

        Raises:
            ModelRunError: the model fails on a pair.
        """
        started = last = self._clock()
        slowest, scores = 0.0, list[float]()
        for text in texts:
            if scores and last + slowest - started > self._budget_s:
                break
            scores.append(self._score(query, text))
            now = self._clock()
            slowest, last = max(slowest, now - last), now
        return scores

    def _score(self, query: str, text: str) -> float:
        # One pair a run: pairs are long, and several at once take no less time (RUN_TOKENS of the embedder).
        try:
            score = float(self._session.run([self._session.encode(query, text)]).item())
        except Exception as error:  # onnxruntime's own exceptions share no base class
            raise ModelRunError(f"{self.name}: {error}") from error
        if not math.isfinite(score):
            raise ModelRunError(f"{self.name}: its score is {score}")
        return score


def open_reranker(registry: Registry, name: str, budget_s: float) -> OnnxReranker | None:
    """Open the reranker that a setting names; one that cannot be opened is logged, and done without.

    Args:
        name: of an installed model; `auto`: the one in use, if any; `none`: no reranker.
        budget_s: see `OnnxReranker`.
    Raises:
        UnknownModelError: a model is named that is not installed.
    """
    chosen = None if name == "none" else registry.chosen("rerank", name)
    if chosen is None:
        return None
    try:
        reranker = OnnxReranker(chosen.path, budget_s)
    except (CompileError, ModelFileError) as error:
        log.warning("going without the reranker %s: %s", chosen.name, error)
        return None
    log.info("reranking with %s, %.0f ms a question", chosen.name, budget_s * 1000)
    return reranker
