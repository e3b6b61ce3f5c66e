"""A small embedder for tests that need speed: words hashed into a vector. Enters where the real one does."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray


class HashEmbedder:
    fingerprint = "hash-64"
    n_dims = 64
    max_tokens = 128

    def __init__(self, delay_s: float = 0.0) -> None:
        self.delay_s = delay_s
        self.gate = threading.Event()  # a test closes it to look at a file that is being embedded
        self.gate.set()
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.gate.wait()
        time.sleep(self.delay_s * len(texts))
        self.texts.extend(texts)
        vectors = np.zeros((len(texts), self.n_dims), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                digest = crc32(word.encode())
                row[digest % self.n_dims] += 1.0 if digest >> 16 & 1 else -1.0
            row[0] += 1e-3
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def count_tokens(self, text: str) -> int:
        return len(self.token_spans(text))

    def rest(self) -> None:
        """Holds nothing."""

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]
