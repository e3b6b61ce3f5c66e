"""How near sentences are in meaning, by the embedder's vectors; each text is embedded once an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class SentenceEmbedder(Protocol):
    """Turns texts into vectors."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, n_dims), L2-normalised."""


class Likeness:
    """Cosines between texts; vectors are made when first asked for."""

    def __init__(self, embedder: SentenceEmbedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def best(self, text: str, others: Sequence[str]) -> float:
        """Return the largest cosine of `text` to one of the others; 0 where there are none."""
        if not others:
            return 0.0
        new = [each for each in dict.fromkeys((text, *others)) if each not in self._vectors]
        if new:
            self._vectors |= dict(zip(new, self._embedder.embed(new), strict=True))
        return max(float(self._vectors[text] @ self._vectors[other]) for other in others)
