"""Running the embedder: texts in, unit vectors out. Fetching and compiling it is elsewhere.

The compiled model: tokens in, pooled vector out. Its folder: see `onnx_session`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from models.card import WEIGHTS_FILE, EmbedderCard, read_card
from models.digest import sha256_of
from models.errors import CompileError, ModelFileError
from models.onnx_session import OnnxSession, open_tokenizer

# Tokens in one run, padding included. Measured on 2 EPYC cores (all-MiniLM-L6-v2, int8, 2026-11-30), ms of CPU a text
# of mixed length and MiB of memory afterwards, 95 at rest: 200 tokens 14.5, 124; 400 14.2, 146; 800 14.6, 199;
# 1,600 15.8, 302. Without plans of memory (below) 400 tokens take 14.2 and leave 117.
RUN_TOKENS = 400
BATCH = 8  # texts of sentence-transformers: docs/measurements.md


class Embedder(Protocol):
    """Turns texts into vectors; safe to call from several threads.

    Attributes:
        fingerprint: differs where vectors cannot be compared; letters, digits, `.`, `-` and `_`.
        max_tokens: usable tokens of a text, special ones not counted; embedding cuts off what is longer.
    """

    @property
    def fingerprint(self) -> str: ...
    @property
    def n_dims(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), n_dims) vectors of length 1, in the order of the texts."""
        ...

    def rest(self) -> None:
        """Give back the memory that only the next batch would use."""
        ...

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of the whole text, special tokens not counted."""
        ...

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Return (start, end) of each token in characters, in order, of the whole text."""
        ...


def open_embedder(folder: Path, backend: str = "onnx") -> Embedder:
    """Open the embedder in a folder of the registry.

    Args:
        folder: the compiled folder; `sentence-transformers` runs from source/ beside it, or from the folder.
        backend: `onnx` or `sentence-transformers`.
    Raises:
        CompileError: nothing is compiled there, or the package of the backend is not installed.
        ModelFileError: the folder is damaged.
    """
    if backend == "onnx":
        return OnnxEmbedder(folder)
    if backend == "sentence-transformers":
        return SentenceTransformersEmbedder(
            folder if (folder / "modules.json").exists() else folder.parent / "source"
        )
    raise ValueError(f"unknown embedder backend {backend!r}")


class OnnxEmbedder:
    """The compiled model. A call runs on the calling thread alone: its nice level decides who gives way."""

    def __init__(self, folder: Path) -> None:
        card = read_card(folder, EmbedderCard)
        self.n_dims = card.n_dims
        self.fingerprint = _fingerprint(card.name, "onnx", card.precision, card.source_sha256)
        self._spans = _Spans(open_tokenizer(folder))
        self.max_tokens = card.max_seq_length - self._spans.n_special
        self._session = OnnxSession(folder, card.max_seq_length)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), n_dims) vectors of length 1, in the order of the texts."""
        vectors = np.zeros((len(texts), self.n_dims), dtype=np.float32)
        encodings = [self._session.encode(text) for text in texts]
        for batch in _batches(encodings):
            vectors[batch] = _normalised(self._session.run([encodings[i] for i in batch]))
        return vectors

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of the whole text, special tokens not counted."""
        return self._spans.count(text)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Return (start, end) of each token in characters, in order, of the whole text."""
        return self._spans.of(text)

    def rest(self) -> None:
        """Give back the memory that only the next batch would use, as the end of a run of one word."""
        self._session.run([self._session.encode("rest")], shrink=True)


class SentenceTransformersEmbedder:
    """The model as published: the reference, a GPU embedder, or a model that cannot be compiled."""

    def __init__(self, folder: Path) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise CompileError(
                "the package sentence-transformers is not installed; install the `compile` extra, "
                "or set embed.backend to onnx"
            ) from error
        if not (folder / "modules.json").exists():
            raise ModelFileError(
                f"{folder}: no sentence-transformers model; `appliance model pull` fetches it"
            )
        self._lock = threading.Lock()  # its tokenizer is re-configured by each call
        self._spans = _Spans(open_tokenizer(folder))
        try:
            self._model: Any = SentenceTransformer(str(folder), local_files_only=True)
        except Exception as error:  # whatever the folder's parts make transformers raise
            raise ModelFileError(f"{folder}: sentence-transformers cannot load it: {error}") from error
        window = self._model.max_seq_length
        if window is None:
            raise ModelFileError(f"{folder}: names no window (max_seq_length in sentence_bert_config.json)")
        self.max_seq_length = int(window)
        self.max_tokens = self.max_seq_length - self._spans.n_special
        self.n_dims: int = self._model.encode(["dimensions"], show_progress_bar=False).shape[1]
        self.fingerprint = _fingerprint(
            source_name(folder), "sentence-transformers", "fp32", sha256_of(folder / WEIGHTS_FILE)
        )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), n_dims) vectors of length 1, in the order of the texts."""
        if not texts:
            return np.zeros((0, self.n_dims), dtype=np.float32)
        with self._lock:
            vectors = self._model.encode(list(texts), batch_size=BATCH, show_progress_bar=False)
        return _normalised(vectors)

    def rest(self) -> None:
        """Nothing: torch frees what a run needed at its end."""

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of the whole text, special tokens not counted."""
        return self._spans.count(text)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Return (start, end) of each token in characters, in order, of the whole text."""
        return self._spans.of(text)


class _Spans:
    """The tokenizer for measuring: it cuts and pads nothing. Never re-configured, so thread-safe."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.n_special: int = tokenizer.num_special_tokens_to_add(is_pair=False)

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def of(self, text: str) -> list[tuple[int, int]]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)


def source_name(folder: Path) -> str:
    """Return the model's name of a source folder: `NAME/source`, as in the registry, or `NAME`."""
    return folder.parent.name if folder.name == "source" else folder.name


def _batches(encodings: Sequence[Encoding]) -> Iterator[list[int]]:
    """Yield indices of texts of similar length, longest first, so that little is padded and a run stays small."""
    order = sorted(range(len(encodings)), key=lambda i: len(encodings[i]), reverse=True)
    start = 0
    while start < len(order):
        n_texts = max(1, RUN_TOKENS // max(len(encodings[order[start]]), 1))
        yield order[start : start + n_texts]
        start += n_texts


def _normalised(vectors: Any) -> NDArray[np.float32]:
    array: NDArray[np.float32] = np.asarray(vectors, dtype=np.float32)
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    return np.asarray(array / np.maximum(norms, 1e-12), dtype=np.float32)


def _fingerprint(name: str, backend: str, precision: str, sha256: str) -> str:
    return f"{name}-{backend}-{precision}-{sha256[:12]}"
