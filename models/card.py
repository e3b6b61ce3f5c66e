"""embedder.json: what the compiler knows of a compiled embedder. Reading it loads no heavy library."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from models.errors import CompileError, ModelFileError

MODEL_FILE = "model.onnx"
CARD_FILE = "embedder.json"


class EmbedderCard(BaseModel):
    """What the compiler knows of the model, kept beside it so that opening need not hash or guess.

    Attributes:
        source_sha256: of the weights the model was compiled from; compiling again keeps the fingerprint.
        model_sha256: of model.onnx.
        max_seq_length: tokens of one text, special tokens counted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    precision: Literal["int8", "fp32"]
    source_sha256: str
    model_sha256: str
    n_dims: int
    max_seq_length: int
    mean_cosine: float
    min_cosine: float


def read_card(folder: Path) -> EmbedderCard:
    """Read embedder.json of a compiled folder.

    Raises:
        CompileError: there is none.
        ModelFileError: it cannot be read.
    """
    try:
        return EmbedderCard.model_validate_json((folder / CARD_FILE).read_bytes())
    except FileNotFoundError as error:
        raise CompileError(
            f"{folder}: no compiled embedder; an environment with the `compile` extra makes it: "
            f"python -m models.compile_embedder {folder.parent / 'source'} {folder}"
        ) from error
    except (OSError, ValidationError) as error:
        raise ModelFileError(f"{folder / CARD_FILE}: {error}; remove {folder} and compile again") from error
