"""A compiled model, open: encoded texts in, its output out. What the output means is embedder's and reranker's.

A compiled folder holds model.onnx, tokenizer.json and its card.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from models.card import MODEL_FILE
from models.errors import ModelFileError

TOKENIZER_FILE = "tokenizer.json"


class OnnxSession:
    """A model and its tokenizer. A run is on the calling thread alone: its nice level decides who gives way."""

    def __init__(self, folder: Path, max_seq_length: int) -> None:
        self._tokenizer = open_tokenizer(folder)
        self._tokenizer.enable_truncation(max_seq_length)
        self._session = _open_session(folder / MODEL_FILE)
        self._inputs: list[str] = [node.name for node in self._session.get_inputs()]

    def encode(self, text: str, second: str | None = None) -> Encoding:
        """Return the tokens of a text, or of a pair of texts, cut to the window, the longer of a pair first."""
        # encode, not encode_batch: the latter spreads over every core, whatever our nice level.
        return self._tokenizer.encode(text, second)

    def run(self, encodings: Sequence[Encoding], *, shrink: bool = False) -> NDArray[np.float32]:
        """Return the model's output, a row an encoding.

        Args:
            shrink: give back the memory that only the next run would use; after every run it would cost time.
        """
        shape = len(encodings), max(len(encoding) for encoding in encodings)
        ids, mask, types = (np.zeros(shape, dtype=np.int64) for _ in range(3))
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding)] = encoding.ids
            mask[row, : len(encoding)] = encoding.attention_mask
            types[row, : len(encoding)] = encoding.type_ids
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        options = _shrinking() if shrink else None
        (output,) = self._session.run(None, {name: feed[name] for name in self._inputs}, options)
        return np.asarray(output, dtype=np.float32)


def open_tokenizer(folder: Path) -> Tokenizer:
    """Open the tokenizer of a folder; it cuts and pads nothing.

    Raises:
        ModelFileError: there is none, or it is damaged.
    """
    file = folder / TOKENIZER_FILE
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # tokenizers raises bare Exception
        raise ModelFileError(f"{file}: {error}; remove {folder} and fetch or compile it again") from error
    tokenizer.no_truncation()  # the publisher's file may cut at another length than the model's window
    tokenizer.no_padding()
    return tokenizer


def _open_session(file: Path) -> Any:
    # Set here too, for callers that are not our daemon: later than this import it has no effect.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what is worse than a warning is raised; it need not be on stderr, too
    # It keeps a plan of memory for every shape of batch ever seen: 30 MiB more, for 3 % less time.
    options.enable_mem_pattern = False
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own exceptions share no base class
        raise ModelFileError(f"{file}: {error}; remove {file.parent} and compile again") from error


def _shrinking() -> Any:
    import onnxruntime

    options = onnxruntime.RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    return options
