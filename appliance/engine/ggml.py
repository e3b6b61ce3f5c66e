"""What the installed build of llama.cpp can compute on: ggml's list of devices, and where tensors are sent.

The binding has no functions for it; these are ggml's own, by ctypes. Beside llama.py the only importer of llama_cpp.
Source: ggml-org/llama.cpp, ggml/include/ggml-backend.h.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from llama_cpp._ggml import libggml

from appliance.engine.fit import Device

_KINDS = ("cpu", "gpu", "igpu")  # enum ggml_backend_dev_type; what follows only helps the CPU
_EXPERTS = r"\.ffn_(up|down|gate|gate_up)_(ch)?exps\."


class _Override(ctypes.Structure):
    """struct llama_model_tensor_buft_override."""

    _fields_ = (("pattern", ctypes.c_char_p), ("buffer_type", ctypes.c_void_p))


def _function(name: str, result: Any, *arguments: Any) -> Any:
    function = libggml[name]
    function.restype, function.argtypes = result, arguments
    return function


def devices() -> list[Device]:
    """Return every device of this build, in ggml's order."""
    count = _function("ggml_backend_dev_count", ctypes.c_size_t)()
    return [_device(index) for index in range(count)]


def handles(indices: Sequence[int]) -> Any:
    """Return the devices with these numbers as llama.cpp wants them: pointers, the last of them null."""
    get = _function("ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t)
    return (ctypes.c_void_p * (len(indices) + 1))(*map(get, indices), None)


def experts_to_cpu(n_layers: int) -> Any:
    """Return overrides that keep the experts of the first layers in main memory, the last of them null."""
    cpu = _function("ggml_backend_cpu_buffer_type", ctypes.c_void_p)()
    patterns = [rf"blk\.{layer}{_EXPERTS}".encode() for layer in range(n_layers)]
    return (_Override * (n_layers + 1))(*[_Override(pattern, cpu) for pattern in patterns], _Override())


def _device(index: int) -> Device:
    pointer = ctypes.c_void_p
    handle = _function("ggml_backend_dev_get", pointer, ctypes.c_size_t)(index)
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    memory = _function("ggml_backend_dev_memory", None, pointer, pointer, pointer)
    memory(handle, ctypes.byref(free), ctypes.byref(total))
    kind = _function("ggml_backend_dev_type", ctypes.c_int, pointer)(handle)
    return Device(
        index=index,
        name=_text("ggml_backend_dev_name", handle),
        description=_text("ggml_backend_dev_description", handle),
        kind=_KINDS[kind] if kind < len(_KINDS) else "other",  # type: ignore[arg-type]
        free_bytes=free.value,
        total_bytes=total.value,
    )


def _text(name: str, handle: int) -> str:
    said: bytes | None = _function(name, ctypes.c_char_p, ctypes.c_void_p)(handle)
    return (said or b"").decode("utf-8", "replace")
