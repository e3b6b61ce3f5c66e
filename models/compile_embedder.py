"""Compile a sentence-transformers folder to ONNX int8, and check it against the original, at install.

Needs the `compile` extra; the daemon never imports this. `python -m models.compile_embedder SOURCE TARGET`: the
model's name is that of the folder TARGET lies in.
"""

from __future__ import annotations

import sys
from pathlib import Path

from models.card import WEIGHTS_FILE, EmbedderCard
from models.compile_onnx import CompileReport, command, compile_model, compilers, export
from models.digest import Progress, sha256_of
from models.embedder import OnnxEmbedder, SentenceTransformersEmbedder
from models.reference_texts import REFERENCE_TEXTS

# int8 of all-minilm-l6-v2: mean 0.9935 over 1,190 passages, and retrieval no worse (docs/measurements.md).
MIN_MEAN_COSINE = 0.98


def compile_embedder(
    source: Path, target: Path, progress: Progress, min_mean_cosine: float = MIN_MEAN_COSINE
) -> CompileReport[EmbedderCard]:
    """Compile the embedder in `source` into `target`, which appears whole or not at all.

    Args:
        source: a sentence-transformers folder with a tokenizer.json.
        target: the compiled folder, replaced at the end if it exists; its parent's name becomes the model's.
        progress: called with the step, its number and the number of steps.
        min_mean_cosine: int8 below it is refused, and fp32 written instead.
    Raises:
        CompileError: the packages are missing, or the model cannot be exported faithfully.
        ModelFileError: `source` is not such a folder.
    """
    return compile_model(
        lambda: _Original(source, target.parent.name), source, target, progress, min_mean_cosine
    )


class _Original:
    """The original and its vectors of the reference texts."""

    otherwise = "set embed.backend to sentence-transformers"

    def __init__(self, source: Path, name: str) -> None:
        self._source = source
        original = SentenceTransformersEmbedder(source)
        self._expected = original.embed(REFERENCE_TEXTS)
        self.blank = EmbedderCard(
            name=name,
            precision="fp32",
            source_sha256=sha256_of(source / WEIGHTS_FILE),
            model_sha256="",
            n_dims=original.n_dims,
            max_seq_length=original.max_seq_length,
            mean_cosine=0,
            min_cosine=0,
        )

    def export(self, file: Path) -> None:
        """Write tokens → vector as one ONNX graph: whatever pooling the folder names is in it."""
        _, sentence_transformers = compilers()
        model = sentence_transformers.SentenceTransformer(
            str(self._source),
            device="cpu",
            local_files_only=True,
            model_kwargs={"attn_implementation": "eager"},
        ).eval()
        encoded = model.tokenizer(
            ["a short text", "a text of a few more words"], padding=True, return_tensors="pt"
        )
        export(model, encoded, "sentence_embedding", file)

    def compare(self, folder: Path) -> dict[str, float]:
        """Return the cosines to the original's vectors."""
        cosines = (OnnxEmbedder(folder).embed(REFERENCE_TEXTS) * self._expected).sum(axis=1)
        return {
            "mean_cosine": round(float(cosines.mean()), 5),
            "min_cosine": round(float(cosines.min()), 5),
        }


def main(arguments: list[str]) -> int:
    """Compile what is not compiled already."""
    return command(arguments, EmbedderCard, compile_embedder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
