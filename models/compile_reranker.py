"""Compile a cross-encoder's folder to ONNX int8, and check it against the original, at install.

Needs the `compile` extra; the daemon never imports this. `python -m models.compile_reranker SOURCE TARGET`: the
model's name is that of the folder TARGET lies in.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from models.card import WEIGHTS_FILE, RerankerCard
from models.compile_onnx import CompileReport, command, compile_model, compilers, export
from models.digest import Progress, sha256_of
from models.errors import ModelFileError
from models.onnx_session import TOKENIZER_FILE
from models.reference_texts import REFERENCE_PAIRS
from models.reranker import OnnxReranker

# The embedder's bound. No published cross-encoder could be had where this was written: it is not measured on one.
MIN_CORRELATION = 0.98
_UNHURRIED_S = 3600.0


def compile_reranker(
    source: Path, target: Path, progress: Progress, min_correlation: float = MIN_CORRELATION
) -> CompileReport[RerankerCard]:
    """Compile the cross-encoder in `source` into `target`, which appears whole or not at all.

    Args:
        source: a folder of a sentence-transformers CrossEncoder of one score, with a tokenizer.json.
        target: the compiled folder, replaced at the end if it exists; its parent's name becomes the model's.
        progress: called with the step, its number and the number of steps.
        min_correlation: int8 below it is refused, and fp32 written instead.
    Raises:
        CompileError: the packages are missing, or the model cannot be exported faithfully.
        ModelFileError: `source` is not such a folder.
    """
    return compile_model(
        lambda: _Original(source, target.parent.name), source, target, progress, min_correlation
    )


class _Original:
    """The original and its scores of the reference pairs, before any activation."""

    otherwise = "this model cannot rerank here"

    def __init__(self, source: Path, name: str) -> None:
        self._model = _load(source)
        self._expected = self._scores()
        self.blank = RerankerCard(
            name=name,
            precision="fp32",
            source_sha256=sha256_of(source / WEIGHTS_FILE),
            model_sha256="",
            max_seq_length=int(self._model.max_seq_length),
            correlation=0,
        )

    def _scores(self) -> Any:
        torch, _ = compilers()
        return self._model.predict(
            list(REFERENCE_PAIRS), activation_fn=torch.nn.Identity(), show_progress_bar=False
        )

    def export(self, file: Path) -> None:
        """Write tokens of a pair → score as one ONNX graph, without activation: it would not change the order."""
        questions, texts = zip(*REFERENCE_PAIRS[:2], strict=True)
        encoded = self._model.tokenizer(list(questions), list(texts), padding=True, return_tensors="pt")
        export(self._model, encoded, "scores", file)

    def compare(self, folder: Path) -> dict[str, float]:
        """Return the correlation with the original's scores."""
        reranker = OnnxReranker(folder, _UNHURRIED_S)
        scores = [reranker.scores(question, [text])[0] for question, text in REFERENCE_PAIRS]
        return {"correlation": round(float(np.corrcoef(scores, self._expected)[0, 1]), 5)}


def _load(source: Path) -> Any:
    _, sentence_transformers = compilers()
    for file in (WEIGHTS_FILE, TOKENIZER_FILE):
        if not (source / file).exists():
            raise ModelFileError(f"{source}: no cross-encoder: it has no {file}")
    try:
        model = sentence_transformers.CrossEncoder(
            str(source), device="cpu", local_files_only=True, model_kwargs={"attn_implementation": "eager"}
        ).eval()
    except Exception as error:  # whatever the folder's parts make transformers raise
        raise ModelFileError(f"{source}: sentence-transformers cannot load it: {error}") from error
    if model.num_labels != 1:
        raise ModelFileError(
            f"{source}: it gives {model.num_labels} numbers for a pair, a reranker gives one"
        )
    if not model.max_seq_length:
        raise ModelFileError(f"{source}: names no window (model_max_length in tokenizer_config.json)")
    return model


def main(arguments: list[str]) -> int:
    """Compile what is not compiled already."""
    return command(arguments, RerankerCard, compile_reranker)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
