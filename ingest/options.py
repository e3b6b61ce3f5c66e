"""How ingest goes about its work, and what it needs of the embedding model and the parser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ingest.unit import Parsed


class Embedder(Protocol):
    """What ingest needs of an embedding model. Thread-safe."""

    @property
    def fingerprint(self) -> str:
        """Name that changes whenever the vectors would."""

    @property
    def n_dims(self) -> int:
        """Length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Usable tokens of a text, special tokens not counted."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, n_dims) vectors, L2-normalised."""

    def rest(self) -> None:
        """Give back the memory that only the next batch would use."""

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens, special tokens not counted."""

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token."""


class Parser(Protocol):
    """What ingest needs of the parse server's client."""

    def start(self) -> None:
        """Get ready to parse."""

    def stop(self) -> None:
        """End; a `parse` under way raises ParserStoppedError."""

    def parse(self, path: Path, part: str | None = None, page: int | None = None) -> Parsed:
        """Read a file, a part of it, or a scanned page; whatever it does is an outcome."""


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How ingest goes about its work; see `ingest.*` and `embed.batch` of the settings.

    Attributes:
        chunk_tokens: longest chunk, never above the embedder's window.
        retry_s: after a full disk, and while the folder is missing.
        max_delete_share: of all documents; more that are missing at once are kept until someone confirms.
    """

    settle_ms: int = 500
    sweep_every_s: float = 300.0
    chunk_tokens: int = 200
    embed_batch: int = 8
    retry_s: float = 30.0
    max_delete_share: float = 0.25
