"""What a threshold is worth on documents that it was not chosen with. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

from appliance.ops.scores import share_below, threshold_at

N_HALVINGS = 40
MIN_DOCUMENTS = 4  # with an answer; halves of fewer say nothing


@dataclass(frozen=True, slots=True)
class CrossFit:
    """A threshold from one half of the documents, reported on the other; means of many halvings.

    Attributes:
        aimed_at: share of the answerable questions of the one half that the threshold refuses.
        wrongly_refused: share of the answerable questions of the other half.
        rightly_refused: share of the questions that no document answers.
    """

    aimed_at: float
    threshold: float
    wrongly_refused: float
    rightly_refused: float


def cross_fit(
    answerable: Sequence[tuple[str, float]], absent: Sequence[float], aimed_at: float
) -> CrossFit | None:
    """Return what a threshold does that is set on other documents; None with too few documents or nothing absent.

    Args:
        answerable: (document, confidence) of each question with an answer.
        absent: confidence of each question without.
    """
    documents = sorted({document for document, _ in answerable})
    if len(documents) < MIN_DOCUMENTS or not absent:
        return None
    random, found = Random(0), []
    for _ in range(N_HALVINGS):
        half = set(random.sample(documents, len(documents) // 2))
        threshold = threshold_at([c for document, c in answerable if document in half], aimed_at)
        others = [c for document, c in answerable if document not in half]
        found.append((threshold, share_below(others, threshold), share_below(absent, threshold)))
    means = (round(fmean(values), 4) for values in zip(*found, strict=True))
    return CrossFit(aimed_at, *means)
