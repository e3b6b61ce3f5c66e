"""A compiled model's card, embedder.json or reranker.json: what the compiler knows of it. Loads no heavy library."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from models.catalogue import Role
from models.errors import CompileError, ModelFileError

MODEL_FILE = "model.onnx"
WEIGHTS_FILE = "model.safetensors"  # what a model is compiled from

Precision = Literal["int8", "fp32"]


class Card(BaseModel):
    """What the compiler knows of a model, kept beside it so that opening need not hash or guess.

    Attributes:
        FILE: the card's name in the compiled folder.
        COMPILER: the module that makes such folders: `python -m COMPILER SOURCE TARGET`.
        source_sha256: of the weights the model was compiled from; compiling again keeps the fingerprint.
        model_sha256: of model.onnx.
        max_seq_length: tokens of one text or one pair, special tokens counted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    FILE: ClassVar[str]
    COMPILER: ClassVar[str]

    name: str
    precision: Precision
    source_sha256: str
    model_sha256: str
    max_seq_length: int

    @property
    def agreement(self) -> float:
        """How well its output agrees with sentence-transformers': 1 is entirely."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return what was found when it was compared, for people."""
        raise NotImplementedError


class EmbedderCard(Card):
    """An embedder's; the cosines are to sentence-transformers, over the reference texts."""

    FILE = "embedder.json"
    COMPILER = "models.compile_embedder"

    n_dims: int
    mean_cosine: float
    min_cosine: float

    @property
    def agreement(self) -> float:
        """The mean cosine."""
        return self.mean_cosine

    def summary(self) -> str:
        """Return what was found when it was compared, for people."""
        return (
            f"{self.n_dims} dimensions, cosine to sentence-transformers {self.mean_cosine:.4f} on average, "
            f"{self.min_cosine:.4f} at worst"
        )


class RerankerCard(Card):
    """A reranker's.

    Attributes:
        correlation: Pearson's, of its scores with those of sentence-transformers, over the reference pairs.
    """

    FILE = "reranker.json"
    COMPILER = "models.compile_reranker"

    correlation: float

    @property
    def agreement(self) -> float:
        """The correlation."""
        return self.correlation

    def summary(self) -> str:
        """Return what was found when it was compared, for people."""
        return f"correlation with the scores of sentence-transformers {self.correlation:.4f}"


CARDS: Mapping[Role, type[Card]] = {"embed": EmbedderCard, "rerank": RerankerCard}
"""The roles whose models are compiled."""

_Card = TypeVar("_Card", bound=Card)


def read_card(folder: Path, kind: type[_Card]) -> _Card:
    """Read the card of a compiled folder.

    Raises:
        CompileError: there is none.
        ModelFileError: it cannot be read.
    """
    file = folder / kind.FILE
    try:
        return kind.model_validate_json(file.read_bytes())
    except FileNotFoundError as error:
        raise CompileError(
            f"{file}: not compiled; an environment with the `compile` extra makes it: "
            f"python -m {kind.COMPILER} {folder.parent / 'source'} {folder}"
        ) from error
    except (OSError, ValidationError) as error:
        raise ModelFileError(f"{file}: {error}; remove {folder} and compile again") from error
