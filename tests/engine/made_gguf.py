"""GGUF files of any size and no content: a real header before a hole."""

from __future__ import annotations

import struct
from pathlib import Path

MIB = 1024**2


def write_gguf(
    file: Path,
    layers: int = 4,
    layer_mib: int = 100,
    experts_mib: int = 0,
    output_mib: int = 50,
    kv_heads: int = 8,
) -> Path:
    """Write a model of so many equal layers; head size 128, so that a cell of a layer takes 4 KiB in f16."""
    numbers = {
        "block_count": layers, "embedding_length": 1024, "feed_forward_length": 4096, "attention.head_count": 8,
        "attention.head_count_kv": kv_heads, "context_length": 8192,
    }  # fmt: skip
    tensors = {"token_embd.weight": output_mib}
    for layer in range(layers):
        tensors[f"blk.{layer}.ffn_up.weight"] = layer_mib
        if experts_mib:
            tensors[f"blk.{layer}.ffn_up_exps.weight"] = experts_mib
    tensors["output.weight"] = output_mib
    data = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(numbers) + 1)
    data += _text("general.architecture") + struct.pack("<I", 8) + _text("llama")
    for key, value in numbers.items():
        data += _text(f"llama.{key}") + struct.pack("<II", 4, value)
    offset = 0
    for name, mib in tensors.items():
        data += _text(name) + struct.pack("<IQQIQ", 2, 1024, 32, 0, offset)
        offset += mib * MIB
    data += b"\0" * (-len(data) % 32)
    with file.open("wb") as stream:
        stream.write(data)
        stream.truncate(len(data) + offset)  # a hole: takes no disk
    return file


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()
