"""The sentences of passages that are nearest to a question, by words and by vectors. No model is asked.

Only the few that hold most of the question's words are embedded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from appliance.retrieval.answer_type import fits
from appliance.text.instructions import quotable
from appliance.text.words import Words, sentence_spans

# Sentences of the first passage that are embedded; one less of the others. XQuAD, 2026-11-30: the best of two, three,
# all has the answer's words for 0.782, 0.788, 0.788 of the questions; chosen by words alone 0.785. 3 ms each.
N_EMBEDDED = 3
_MAX_CHARACTERS = 300  # of one that are embedded, about 75 tokens and 6 ms
# Weight of what the question asks for (answer_type) beside coverage and cosine: 0.782 without, 0.788 with 0.2 or 0.3.
_FITS = 0.3


class SentenceEmbedder(Protocol):
    """Turns texts into vectors."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, n_dims), L2-normalised."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence beside a question.

    Attributes:
        span: its place in the text.
        coverage: share of the question's words, by weight, that it holds; 0 to 1.
        cosine: to the question.
        fits: it has a thing of the kind that is asked for.
    """

    span: tuple[int, int]
    coverage: float
    cosine: float
    fits: bool

    @property
    def score(self) -> float:
        """How near it is to the question, higher is better."""
        return self.coverage + self.cosine + _FITS * self.fits


class Sentences:
    """Ranks sentences for one question; each is embedded once.

    Args:
        weights: of the question's words, by stem.
        vector: the question's, (n_dims,), L2-normalised.
    """

    def __init__(
        self,
        question: str,
        weights: Mapping[str, float],
        vector: NDArray[np.float32],
        words: Words,
        embedder: SentenceEmbedder,
    ) -> None:
        self._question = question
        self._weights = weights
        self._vector = vector
        self._words = words
        self._embedder = embedder
        self._cosines: dict[str, float] = {}

    def coverage(self, text: str, known: Collection[str] = ()) -> float:
        """Return the share (0 to 1) of the question's words, by weight, that stand in a text or are known already."""
        return self.share_of({*self._words.held(self._weights, text), *known})

    def share_of(self, stems: Collection[str]) -> float:
        """Return the share (0 to 1) of the question's words, by weight, that are among these stems."""
        total = sum(self._weights.values())
        return (
            sum(weight for word, weight in self._weights.items() if word in stems) / total if total else 0.0
        )

    def nearest(self, texts: Sequence[str], n: int = N_EMBEDDED) -> list[list[Sentence]]:
        """Return the `n` sentences of each text that hold most of the question's words, in the order of the texts."""
        chosen = [self._chosen(text, n) for text in texts]
        self._embed(
            text[slice(*span)] for text, found in zip(texts, chosen, strict=True) for span, _ in found
        )
        return [
            [self._sentence(text, span, share) for span, share in found]
            for text, found in zip(texts, chosen, strict=True)
        ]

    def best(self, text: str) -> tuple[int, int] | None:
        """Return the span of the sentence nearest to the question; None when none holds any of its words.

        Of the `N_EMBEDDED` with most of its words; the last of them counts only where it is embedded already.
        """
        chosen = self._chosen(text, N_EMBEDDED)
        known = len(chosen) == N_EMBEDDED and text[slice(*chosen[-1][0])] in self._cosines
        (found,) = self.nearest([text], N_EMBEDDED if known else N_EMBEDDED - 1)
        best = max(found, key=lambda each: each.score, default=None)
        return best.span if best is not None and found[0].coverage > 0 else None

    def _chosen(self, text: str, n: int) -> list[tuple[tuple[int, int], float]]:
        # One that addresses the machine is never chosen: it would be quoted.
        spans = [(span, self.coverage(text[slice(*span)])) for span in quotable(text, sentence_spans(text))]
        return sorted(spans, key=lambda each: -each[1])[:n]

    def _embed(self, sentences: Iterable[str]) -> None:
        new = [each for each in dict.fromkeys(sentences) if each not in self._cosines]
        if new:
            vectors = self._embedder.embed([each[:_MAX_CHARACTERS] for each in new])
            self._cosines |= dict(zip(new, map(float, vectors @ self._vector), strict=True))

    def _sentence(self, text: str, span: tuple[int, int], share: float) -> Sentence:
        said = text[slice(*span)]
        return Sentence(span, share, self._cosines[said], fits(self._question, said))
