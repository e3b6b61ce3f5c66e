"""Where the bytes of a model lie: how much each layer weighs, and what its KV cache costs. Reads no weights.

Source: ggml-org/ggml, docs/gguf.md (keys); llama.cpp, src/llama-arch.cpp (names of tensors).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.gguf import GgufParts, read_parts

_LAYER = re.compile(r"blk\.(\d+)\.")
_EXPERTS = re.compile(r"\.ffn_(up|down|gate|gate_up)_(ch)?exps\.")
_INPUT = ("token_embd.", "per_layer_token_embd.")  # looked up by row: llama.cpp leaves these in main memory


@dataclass(frozen=True, slots=True)
class GgufWeights:
    """Sizes of a model's parts in bytes; lists have an entry a layer.

    Attributes:
        layers: weights without experts; `experts`: those of a mixture (0: the layer is dense).
        output: what comes after the last layer; an embedding that serves as output counts here too (`tied` bytes).
        input: what comes before the first.
        kv_width: numbers kept of one token, keys and values together; 0: a recurrent layer.
        n_embd, n_ff, n_head, n_vocab: 0 where the file does not say.
    """

    layers: tuple[int, ...]
    experts: tuple[int, ...]
    output: int
    input: int
    kv_width: tuple[int, ...]
    n_embd: int
    n_ff: int
    n_head: int
    n_vocab: int
    tied: int

    @property
    def total(self) -> int:
        """Bytes of all weights."""
        return sum(self.layers) + sum(self.experts) + self.output + self.input - self.tied


def read_weights(file: Path) -> GgufWeights:
    """Measure a model's parts.

    Raises:
        ModelFileError: it is no GGUF file, or is cut short.
    """
    return measure(read_parts(file))


def measure(parts: GgufParts) -> GgufWeights:
    """Measure a model's parts; a tensor reaches to where the next begins."""
    said = _Said(parts.entries)
    n_layers = said.number("block_count")
    layers, experts = [0] * n_layers, [0] * n_layers
    sizes = _sizes(parts)
    before = sum(n for name, n in sizes.items() if name.startswith(_INPUT))
    after = 0
    for name, n_bytes in sizes.items():
        layer = _LAYER.match(name)
        if layer and int(layer[1]) < n_layers:
            (experts if _EXPERTS.search(name) else layers)[int(layer[1])] += n_bytes
        elif not name.startswith(_INPUT):
            after += n_bytes
    # Without a matrix of its own the output is the embedding; on a GPU that is a second copy.
    tied = 0 if "output.weight" in sizes else sizes.get("token_embd.weight", 0)
    return GgufWeights(
        layers=tuple(layers), experts=tuple(experts), output=after + tied, input=before,
        kv_width=tuple(said.kv_width(layer) for layer in range(n_layers)),
        n_embd=said.number("embedding_length"), n_ff=said.number("feed_forward_length"),
        n_head=said.number("attention.head_count"), n_vocab=_n_vocab(parts),
        tied=tied,
    )  # fmt: skip


def _sizes(parts: GgufParts) -> dict[str, int]:
    in_order = sorted(parts.tensors, key=lambda tensor: tensor[1])
    ends = [offset for _, offset, _ in in_order[1:]] + [parts.size - parts.data_start]
    return {name: end - offset for (name, offset, _), end in zip(in_order, ends, strict=True)}


def _n_vocab(parts: GgufParts) -> int:
    return next((shape[-1] for name, _, shape in parts.tensors if name == "token_embd.weight"), 0)


class _Said:
    """The numbers of a header, whatever its architecture."""

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._entries = entries
        self._architecture = entries.get("general.architecture", "")

    def number(self, key: str, layer: int | None = None, default: int = 0) -> int:
        """Return a number; of a list a layer's, without a layer the largest."""
        value = self._entries.get(f"{self._architecture}.{key}")
        if isinstance(value, tuple):
            in_range = layer is not None and layer < len(value)
            value = value[layer] if in_range and layer is not None else max(value, default=None)
        return default if value is None else int(value)

    def kv_width(self, layer: int) -> int:
        """Return the numbers that a layer keeps of a token."""
        n_head = self.number("attention.head_count", layer)
        n_kv_head = self.number("attention.head_count_kv", layer, default=n_head)
        of_a_head = self.number("embedding_length") // n_head if n_head else 0
        key = self.number("attention.key_length", layer, default=of_a_head)
        value = self.number("attention.value_length", layer, default=of_a_head)
        return n_kv_head * (key + value)
