"""What compiling embedders and rerankers has in common: to ONNX, to int8, compared with the original, put in place.

Needs the `compile` extra (torch, sentence-transformers, onnx, onnxscript); the daemon never imports this.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from models.card import MODEL_FILE, WEIGHTS_FILE, Card, Precision, read_card
from models.digest import Progress, sha256_of
from models.errors import CompileError, ModelError
from models.onnx_session import TOKENIZER_FILE

# fp32 is the same arithmetic: anything else is a wrong export, not a loss of precision.
MIN_FP32_AGREEMENT = 0.999
N_STEPS = 5

_C = TypeVar("_C", bound=Card)
_OutC = TypeVar("_OutC", bound=Card, covariant=True)


class Original(Protocol[_OutC]):
    """The model as published, loaded.

    Attributes:
        blank: the card as far as it is known before anything is compiled.
        otherwise: what to do where it cannot be compiled.
    """

    @property
    def blank(self) -> _OutC: ...
    @property
    def otherwise(self) -> str: ...

    def export(self, file: Path) -> None:
        """Write it as one ONNX graph, by `export`."""
        ...

    def compare(self, folder: Path) -> dict[str, float]:
        """Run the compiled model of a folder as the daemon would; return the fields of the card that say how near."""
        ...


@dataclass(frozen=True, slots=True)
class CompileReport(Generic[_C]):
    """What was made.

    Attributes:
        size: bytes of model.onnx.
        note: why it is not int8; empty when it is.
    """

    card: _C
    size: int
    seconds: float
    note: str

    def __str__(self) -> str:
        made = (
            f"{self.card.name}: {self.card.precision}, {self.size / 2**20:.0f} MiB, {self.card.summary()}, "
            f"{self.seconds:.0f} s"
        )
        return f"{made}; {self.note}" if self.note else made


def compile_model(
    load: Callable[[], Original[_C]], source: Path, target: Path, progress: Progress, least: float
) -> CompileReport[_C]:
    """Compile the model in `source` into `target`, which appears whole or not at all.

    Args:
        load: loads the original from `source`.
        target: the compiled folder, replaced at the end if it exists.
        progress: called with the step, its number and the number of steps.
        least: int8 that agrees less is refused, and fp32 written instead.
    Raises:
        CompileError: the packages are missing, or the model cannot be exported faithfully.
        ModelFileError: `source` is not such a folder.
    """
    started = time.monotonic()
    target.parent.mkdir(parents=True, exist_ok=True)
    with _quiet(), tempfile.TemporaryDirectory(dir=target.parent, prefix=".compile-") as name:
        scratch = Path(name)
        progress("loading sentence-transformers", 0, N_STEPS)
        original = load()
        progress("exporting to ONNX", 1, N_STEPS)
        fp32, int8 = scratch / "fp32.onnx", scratch / "int8.onnx"
        original.export(fp32)
        progress("quantising to int8", 2, N_STEPS)
        _quantise(fp32, int8)
        progress("comparing with sentence-transformers", 3, N_STEPS)
        built, note = scratch / "int8", ""
        card = _build(original, source, int8, "int8", built)
        if not card.agreement >= least:  # not a number is not enough either
            built = scratch / "fp32"
            note = f"int8 was refused: its agreement was {card.agreement:.4f}, {least} is the least"
            card = _build(original, source, fp32, "fp32", built)
            if not card.agreement >= MIN_FP32_AGREEMENT:
                raise CompileError(
                    f"{source}: the fp32 export differs from the original (agreement {card.agreement:.4f}), "
                    f"and {note}; {original.otherwise}"
                )
        progress("putting it in place", 4, N_STEPS)
        _swap(built, target, scratch / "old")
    progress("compiled", N_STEPS, N_STEPS)
    return CompileReport(card, (target / MODEL_FILE).stat().st_size, time.monotonic() - started, note)


def _build(original: Original[_C], source: Path, model: Path, precision: Precision, folder: Path) -> _C:
    """Make a compiled folder of a model file (which moves), open it as the daemon would, and compare."""
    folder.mkdir()
    shutil.copyfile(source / TOKENIZER_FILE, folder / TOKENIZER_FILE)
    model.rename(folder / MODEL_FILE)
    card = original.blank.model_copy(
        update={"precision": precision, "model_sha256": sha256_of(folder / MODEL_FILE)}
    )
    _write(card, folder)
    card = card.model_copy(update=original.compare(folder))
    _write(card, folder)
    return card


def _write(card: Card, folder: Path) -> None:
    (folder / card.FILE).write_text(card.model_dump_json(indent=2) + "\n", encoding="utf-8")


def export(model: Any, encoded: Any, output: str, file: Path) -> None:
    """Write a sentence-transformers model as one ONNX graph: tokens in, one of its outputs out.

    Args:
        model: in eval mode, on the CPU, with eager attention: the fused kernels have no ONNX form.
        encoded: its tokenizer's output for two texts or pairs, padded, as tensors.
        output: the feature that the graph returns; its name must not be one of a node of the model.
    Raises:
        CompileError: the model's code cannot be traced.
    """
    torch, _ = compilers()
    names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoded]

    class Graph(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            return self.model(dict(zip(names, inputs, strict=True)))[output]

    axes = {
        0: torch.export.Dim("batch", min=1, max=4096),
        1: torch.export.Dim("tokens", min=2, max=model.max_seq_length),
    }
    try:
        torch.onnx.export(
            Graph(), tuple(encoded[name] for name in names), str(file), input_names=names,
            output_names=[output], dynamic_shapes={"inputs": tuple(axes for _ in names)}, dynamo=True,
            external_data=False, verbose=False,
        )  # fmt: skip
    except Exception as error:  # torch.onnx raises whatever the model's code met
        raise CompileError(f"the model cannot be exported to ONNX: {error}") from error


def _quantise(fp32: Path, file: Path) -> None:
    """Write the int8 form: weights per channel, activations at run time."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    graph = (model := onnx.load(fp32)).graph
    # The quantiser turns weights round, then trips over the shapes that torch has noted for them.
    weights = {weight.name for weight in graph.initializer}
    for noted in [value for value in graph.value_info if value.name in weights]:
        graph.value_info.remove(noted)
    quantize_dynamic(model, file, per_channel=True, weight_type=QuantType.QInt8)


def compilers() -> tuple[Any, Any]:
    """Return torch and sentence_transformers.

    Raises:
        CompileError: one of the packages that compiling needs is not installed.
    """
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


Compile = Callable[[Path, Path, Progress], CompileReport[Any]]


def command(arguments: Sequence[str], kind: type[Card], compile: Compile) -> int:
    """Compile what is not compiled already, and print each step. Exit code 2: called wrongly, 1: it failed."""
    if len(arguments) != 2:
        print(f"usage: python -m {kind.COMPILER} SOURCE TARGET", file=sys.stderr)
        return 2
    os.environ["HF_HUB_OFFLINE"] = "1"  # before any import of it: the folder has everything
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    source, target = map(Path, arguments)
    try:
        if _is_current(source, target, kind):
            print(f"{target} is compiled already")
            return 0
        report = compile(source, target, _print_step)
    except ModelError as error:
        print(error, file=sys.stderr)
        return 1
    print(report)
    return 0


def _is_current(source: Path, target: Path, kind: type[Card]) -> bool:
    if not (target / kind.FILE).exists():
        return False
    card = read_card(target, kind)
    return (card.source_sha256, card.model_sha256) == (
        sha256_of(source / WEIGHTS_FILE),
        sha256_of(target / MODEL_FILE),
    )


def _print_step(step: str, done: int, total: int) -> None:
    print(f"[{done}/{total}] {step}", flush=True)
