"""How answers and rankings are scored. Pure.

Source of the comparison of answers: the evaluation of SQuAD (Rajpurkar et al., EMNLP 2016): lower case, without
punctuation and articles.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from statistics import fmean

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation + "–—“”‘’«»…")
MIN_LINE = 20  # characters; shorter lines stand in many paragraphs


def normalised(text: str) -> str:
    """Return a text as two answers are compared."""
    return " ".join(_ARTICLES.sub(" ", text.casefold().translate(_PUNCTUATION)).split())


def contains(text: str, answers: Sequence[str]) -> bool:
    """Tell whether a text holds any of the answers, as whole words."""
    words = f" {normalised(text)} "
    return any(f" {wanted} " in words for wanted in map(normalised, answers) if wanted)


def f1(text: str, answers: Sequence[str]) -> float:
    """Return the best overlap of words with any of the answers, 0 to 1: harmonic mean of precision and recall."""
    return max((_f1(normalised(text).split(), normalised(answer).split()) for answer in answers), default=0.0)


def overlaps(passage: str, paragraph: str) -> bool:
    """Tell whether a retrieved passage and a paragraph share text: a line of either stands in the other."""
    whole = " ".join(paragraph.split())
    shown = " ".join(passage.split())
    lines = [" ".join(line.split()) for line in passage.splitlines()]
    return whole in shown or any(len(line) >= MIN_LINE and line in whole for line in lines)


def hit_rate(ranks: Sequence[int | None], within: int) -> float:
    """Return the share of questions whose first right passage has at most this rank; ranks count from 1."""
    return fmean(rank is not None and rank <= within for rank in ranks) if ranks else 0.0


def mean_reciprocal_rank(ranks: Sequence[int | None]) -> float:
    """Return the mean of 1 / rank; 0 for a question without a right passage."""
    return fmean(1 / rank if rank else 0.0 for rank in ranks) if ranks else 0.0


def share_below(confidences: Sequence[float], threshold: float) -> float:
    """Return the share of questions that a threshold refuses."""
    return fmean(confidence < threshold for confidence in confidences) if confidences else 0.0


def threshold_at(confidences: Sequence[float], share: float) -> float:
    """Return the highest threshold that refuses at most this share of answerable questions."""
    ranked = sorted(confidences)
    n_refused = int(share * len(ranked))
    return ranked[n_refused] if n_refused < len(ranked) else float("inf")


def _f1(said: Sequence[str], wanted: Sequence[str]) -> float:
    n_same = sum((Counter(said) & Counter(wanted)).values())
    if n_same == 0:
        return 0.0
    precision, recall = n_same / len(said), n_same / len(wanted)
    return 2 * precision * recall / (precision + recall)
