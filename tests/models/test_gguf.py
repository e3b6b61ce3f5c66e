"""What is no chat model is named before it is installed."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from models.errors import ModelFileError
from models.gguf import GgufHeader, read_header


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _gguf(entries: dict[str, str | int], n_weights: int = 64) -> bytes:
    """Return a GGUF file with one tensor of `n_weights` bytes."""
    data = b"GGUF" + struct.pack("<IQQ", 3, 1, len(entries))
    for key, value in entries.items():
        data += _text(key)
        data += (
            struct.pack("<I", 8) + _text(value) if isinstance(value, str) else struct.pack("<II", 4, value)
        )
    data += _text("token_embd.weight") + struct.pack("<IQQIQ", 2, 8, 8, 0, 0)
    return data + b"\0" * n_weights


LLAMA: dict[str, str | int] = {"general.architecture": "llama", "llama.context_length": 8192}


def test_the_real_model_says_what_it_was_trained_for(models_folder: Path) -> None:
    file = models_folder / "smollm2-135m-instruct" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert read_header(file) == GgufHeader("llama", 8192)


def test_a_small_model_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(_gguf(LLAMA))
    assert read_header(file) == GgufHeader("llama", 8192)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a GGUF file: an empty file"),
        (b"PK\x03\x04rest", "not a GGUF file: a zip archive"),
        (b"<!DOCTYPE html>", "not a GGUF file: a web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "not a GGUF file: a Git LFS pointer"),
        (b"ELF!", r"not a GGUF file: it begins with b'ELF!'"),
        (b"GGUF" + struct.pack("<I", 1), "GGUF version 1"),
        (b"GGUF" + struct.pack("<I", 3), "damaged or cut short"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1, 2**60), "the header is damaged"),
        (_gguf(LLAMA)[:60], "damaged or cut short"),
        (_gguf(LLAMA, n_weights=0), "cut short: "),
        (_gguf({"general.architecture": "bert"}), "architecture 'bert' cannot chat"),
        (_gguf(LLAMA | {"split.count": 2}), "one of 2 pieces"),
        (_gguf(LLAMA | {"general.type": "adapter"}), "an adapter, not a model"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        read_header(file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="No such file"):
        read_header(tmp_path / "none.gguf")
