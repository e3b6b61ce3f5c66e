"""How a file's bytes are counted, by layer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.gguf import GgufParts
from models.gguf_weights import measure, read_weights

MIB = 1024**2


def parts(tensors: dict[str, int], **entries: Any) -> GgufParts:
    """A header of tensors of so many bytes, in this order."""
    placed, offset = [], 0
    for name, n_bytes in tensors.items():
        placed.append((name, offset, (64, 1000)))
        offset += n_bytes
    said = {
        "general.architecture": "llama",
        **{f"llama.{key.replace('__', '.')}": v for key, v in entries.items()},
    }
    return GgufParts(said, placed, data_start=500, size=500 + offset)


def test_the_real_model_adds_up_to_its_file(models_folder: Path) -> None:
    file = models_folder / "smollm2-135m-instruct" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    weights = read_weights(file)
    assert len(weights.layers) == 30
    assert 0 <= file.stat().st_size - weights.total < 3 * MIB  # the header, with its vocabulary
    # llama.cpp's own word: "CPU KV buffer size = 180.00 MiB" for 8,192 cells in f16
    assert sum(weights.kv_width) * 2 * 8192 == 180 * MIB
    assert (weights.n_vocab, weights.n_head, weights.tied > 0) == (49152, 9, True)


def test_a_tensor_reaches_to_the_next_and_the_last_to_the_end() -> None:
    found = measure(
        parts({"token_embd.weight": 30, "blk.0.attn_q.weight": 10, "output.weight": 20}, block_count=1)
    )
    assert (found.input, found.layers, found.output, found.tied, found.total) == (30, (10,), 20, 0, 60)


def test_an_embedding_that_serves_as_output_is_in_the_file_once() -> None:
    found = measure(
        parts({"token_embd.weight": 30, "blk.0.attn_q.weight": 10, "output_norm.weight": 1}, block_count=1)
    )
    assert (found.input, found.output, found.tied, found.total) == (30, 31, 30, 41)


@pytest.mark.parametrize(
    "name", ["ffn_up_exps", "ffn_down_exps", "ffn_gate_exps", "ffn_gate_up_exps", "ffn_up_chexps"]
)
def test_experts_are_counted_apart_from_what_every_token_needs(name: str) -> None:
    tensors = {f"blk.0.{name}.weight": 100, "blk.0.ffn_up_shexp.weight": 7, "blk.0.ffn_gate_inp.weight": 3}
    found = measure(parts(tensors, block_count=1))
    assert (found.layers, found.experts) == ((10,), (100,))


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({"attention__head_count": 8, "embedding_length": 512}, (1024, 1024)),
        ({"attention__head_count": 8, "attention__head_count_kv": 2, "embedding_length": 512}, (256, 256)),
        ({"attention__head_count": 8, "attention__head_count_kv": (2, 0), "embedding_length": 512}, (256, 0)),
        (
            {"attention__head_count": 8, "attention__head_count_kv": 1, "attention__key_length": 576,
             "attention__value_length": 512},
            (1088, 1088),
        ),
        ({}, (0, 0)),
    ],
    ids=["every head", "grouped heads", "a recurrent layer", "lengths of its own", "nothing said"],
)  # fmt: skip
def test_the_cache_of_a_token_is_read_from_the_heads(
    entries: dict[str, Any], expected: tuple[int, ...]
) -> None:
    assert measure(parts({"token_embd.weight": 1}, block_count=2, **entries)).kv_width == expected
