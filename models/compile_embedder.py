"""Compile a sentence-transformers folder to ONNX int8, and check it against the original, at install.

Needs the `compile` extra (torch, sentence-transformers, onnx, onnxscript); the daemon never imports this.
`python -m models.compile_embedder SOURCE TARGET`: the model's name is that of the folder TARGET lies in.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from models.card import CARD_FILE, MODEL_FILE, EmbedderCard, read_card
from models.digest import Progress, sha256_of
from models.embedder import TOKENIZER_FILE, WEIGHTS_FILE, OnnxEmbedder, SentenceTransformersEmbedder
from models.errors import CompileError, ModelError
from models.reference_texts import REFERENCE_TEXTS

# int8 of all-minilm-l6-v2: mean 0.9935 over 1,190 passages, and retrieval no worse (docs/measurements.md).
MIN_MEAN_COSINE = 0.98
# fp32 is the same arithmetic: anything else is a wrong export, not a loss of precision.
MIN_FP32_COSINE = 0.999
N_STEPS = 5

Precision = Literal["int8", "fp32"]


@dataclass(frozen=True, slots=True)
class CompileReport:
    """What was made.

    Attributes:
        mean_cosine, min_cosine: to sentence-transformers, over the reference texts.
        note: why it is not int8; empty when it is.
    """

    name: str
    precision: Precision
    mean_cosine: float
    min_cosine: float
    n_dims: int
    size: int
    seconds: float
    note: str

    def __str__(self) -> str:
        made = (
            f"{self.name}: {self.precision}, {self.size / 2**20:.0f} MiB, {self.n_dims} dimensions, "
            f"cosine to sentence-transformers {self.mean_cosine:.4f} on average, {self.min_cosine:.4f} "
            f"at worst ({len(REFERENCE_TEXTS)} texts), {self.seconds:.0f} s"
        )
        return f"{made}; {self.note}" if self.note else made


def compile_embedder(
    source: Path, target: Path, progress: Progress, min_mean_cosine: float = MIN_MEAN_COSINE
) -> CompileReport:
    """Compile the model in `source` into `target`, which appears whole or not at all.

    Args:
        source: a sentence-transformers folder with a tokenizer.json.
        target: the compiled folder, replaced at the end if it exists; its parent's name becomes the model's.
        progress: called with the step, its number and the number of steps.
        min_mean_cosine: int8 below it is refused, and fp32 written instead.
    Raises:
        CompileError: the packages are missing, or the model cannot be exported faithfully.
        ModelFileError: `source` is not such a folder.
    """
    started = time.monotonic()
    target.parent.mkdir(parents=True, exist_ok=True)
    with _quiet(), tempfile.TemporaryDirectory(dir=target.parent, prefix=".compile-") as name:
        scratch = Path(name)
        progress("loading sentence-transformers", 0, N_STEPS)
        trial = _Trial(source, target.parent.name)
        progress("exporting to ONNX", 1, N_STEPS)
        fp32 = _export(source, scratch / "fp32.onnx")
        progress("quantising to int8", 2, N_STEPS)
        int8 = _quantise(fp32, scratch / "int8.onnx")
        progress("comparing with sentence-transformers", 3, N_STEPS)
        built, note = scratch / "int8", ""
        card = trial.build(int8, "int8", built)
        if card.mean_cosine < min_mean_cosine:
            built = scratch / "fp32"
            note = f"int8 was refused: mean cosine {card.mean_cosine:.4f}, {min_mean_cosine} is the least"
            card = trial.build(fp32, "fp32", built)
            if card.mean_cosine < MIN_FP32_COSINE:
                raise CompileError(
                    f"{source}: the fp32 export differs from the original (mean cosine "
                    f"{card.mean_cosine:.4f}), and {note}; set embed.backend to sentence-transformers"
                )
        progress("putting it in place", 4, N_STEPS)
        _swap(built, target, scratch / "old")
    progress("compiled", N_STEPS, N_STEPS)
    size = (target / MODEL_FILE).stat().st_size
    return CompileReport(
        card.name,
        card.precision,
        card.mean_cosine,
        card.min_cosine,
        card.n_dims,
        size,
        time.monotonic() - started,
        note,
    )


class _Trial:
    """The original's vectors of the reference texts; builds folders and compares them with these."""

    def __init__(self, source: Path, name: str) -> None:
        self._source = source
        original = SentenceTransformersEmbedder(source)
        self._expected = original.embed(REFERENCE_TEXTS)
        self._blank = EmbedderCard(
            name=name,
            precision="fp32",
            source_sha256=sha256_of(source / WEIGHTS_FILE),
            model_sha256="",
            n_dims=original.n_dims,
            max_seq_length=original.max_seq_length,
            mean_cosine=0,
            min_cosine=0,
        )

    def build(self, model: Path, precision: Precision, folder: Path) -> EmbedderCard:
        """Make a compiled folder of a model file (which moves), open it as the daemon would, and compare."""
        folder.mkdir()
        shutil.copyfile(self._source / TOKENIZER_FILE, folder / TOKENIZER_FILE)
        model.rename(folder / MODEL_FILE)
        card = self._blank.model_copy(
            update={"precision": precision, "model_sha256": sha256_of(folder / MODEL_FILE)}
        )
        (folder / CARD_FILE).write_text(card.model_dump_json(indent=2) + "\n", encoding="utf-8")
        cosines = (OnnxEmbedder(folder).embed(REFERENCE_TEXTS) * self._expected).sum(axis=1)
        card = card.model_copy(
            update={
                "mean_cosine": round(float(cosines.mean()), 5),
                "min_cosine": round(float(cosines.min()), 5),
            }
        )
        (folder / CARD_FILE).write_text(card.model_dump_json(indent=2) + "\n", encoding="utf-8")
        return card


def _export(source: Path, file: Path) -> Path:
    """Write tokens → unit vector as one ONNX graph: whatever pooling the folder names is in it."""
    torch, sentence_transformers = _compilers()
    # eager attention: the fused kernels have no ONNX form; the CPU, because the graph must not name a GPU.
    model = sentence_transformers.SentenceTransformer(
        str(source), device="cpu", local_files_only=True, model_kwargs={"attn_implementation": "eager"}
    ).eval()
    encoded = model.tokenizer(
        ["a short text", "a text of a few more words"], padding=True, return_tensors="pt"
    )
    names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoded]

    class Graph(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            return self.model(dict(zip(names, inputs, strict=True)))["sentence_embedding"]

    axes = {
        0: torch.export.Dim("batch", min=1, max=4096),
        1: torch.export.Dim("tokens", min=2, max=model.max_seq_length),
    }
    try:
        torch.onnx.export(
            Graph(),
            tuple(encoded[name] for name in names),
            str(file),
            input_names=names,
            output_names=[
                "sentence_embedding"
            ],  # "embedding" collides with the name of the token table's node
            dynamic_shapes={"inputs": tuple(axes for _ in names)},
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    except Exception as error:  # torch.onnx raises whatever the model's code met
        raise CompileError(
            f"{source}: cannot be exported to ONNX: {error}; set embed.backend to sentence-transformers"
        ) from error
    return file


def _quantise(fp32: Path, file: Path) -> Path:
    """Write the int8 form: weights per channel, activations at run time."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(fp32, file, per_channel=True, weight_type=QuantType.QInt8)
    return file


def _compilers() -> tuple[Any, Any]:
    try:
        import onnx  # noqa: F401  (onnxruntime.quantization and torch.onnx need these two only later)
        import onnxscript  # noqa: F401
        import sentence_transformers
        import torch
    except ImportError as error:
        raise CompileError(
            f"compiling needs the package {error.name}: install the `compile` extra"
        ) from error
    return torch, sentence_transformers


def _swap(built: Path, target: Path, old: Path) -> None:
    """Put a folder in the place of another; a kill between the renames leaves no target: compile again."""
    for file in built.iterdir():
        with file.open("rb") as stream:
            os.fsync(stream.fileno())
    if target.exists():
        target.rename(old)
    built.rename(target)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence what the compilers say: deprecations and hints meant for their own developers."""
    previous = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(previous)


def main(arguments: Sequence[str]) -> int:
    """Compile what is not compiled already, and print each step. Exit code 2: called wrongly, 1: it failed."""
    if len(arguments) != 2:
        print("usage: python -m models.compile_embedder SOURCE TARGET", file=sys.stderr)
        return 2
    source, target = map(Path, arguments)
    try:
        if _is_current(source, target):
            print(f"{target} is compiled already")
            return 0
        report = compile_embedder(source, target, _print_step)
    except ModelError as error:
        print(error, file=sys.stderr)
        return 1
    print(report)
    return 0


def _is_current(source: Path, target: Path) -> bool:
    if not (target / CARD_FILE).exists():
        return False
    card = read_card(target)
    return (card.source_sha256, card.model_sha256) == (
        sha256_of(source / WEIGHTS_FILE),
        sha256_of(target / MODEL_FILE),
    )


def _print_step(step: str, done: int, total: int) -> None:
    print(f"[{done}/{total}] {step}", flush=True)


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"  # before any import of it: the folder has everything
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    sys.exit(main(sys.argv[1:]))
