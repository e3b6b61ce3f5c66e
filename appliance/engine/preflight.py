"""What is refused before it is tried: a file that is no model, and one that does not fit the memory."""

from __future__ import annotations

from pathlib import Path

from appliance.engine.fit import KV_BYTES, Need, Placement

GGUF_MAGIC = b"GGUF"
_GIB = 1024**3
_STEP = 256  # llama.cpp rounds the number of cells up to a multiple of it


def refuse_file(model: Path) -> str:
    """Return why a file can be no model; empty when it may be one."""
    try:
        with model.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        return f"the model {model} cannot be read: {error.strerror}"
    if magic == GGUF_MAGIC:
        return ""
    return f"{model} is not a GGUF file: choose another with `appliance model use`"


def refuse_size(need: Need, placement: Placement, free_bytes: int) -> str:
    """Return why a model cannot be run in this much main memory, and what can be done; empty when it can.

    The weights are mapped, not copied, but a token reads all of them: what does not stay in memory is read from disk
    again each time.
    """
    wanted = need.host_bytes(placement)
    if wanted <= free_bytes:
        return ""
    n_ctx = _n_ctx_that_fits(need, free_bytes - (wanted - _with_context(need)))
    ways = [f"lower engine.n_ctx ({n_ctx} fits)"] if n_ctx else []
    ways += ["choose a smaller model with `appliance model use`", "or stop other programs"]
    return (
        f"not enough memory: {_gib(need.weights.total)} of weights, {_gib(need.kv_total)} of KV cache for "
        f"{need.n_ctx} tokens ({need.kv_type}) and {_gib(need.compute_bytes)} to compute in; "
        f"{_gib(wanted)} of main memory are needed, {_gib(free_bytes)} are free: {', '.join(ways)}"
    )


def _with_context(need: Need) -> int:
    return need.kv_total + need.compute_bytes


def _n_ctx_that_fits(need: Need, free_bytes: int) -> int:
    """Return the largest KV cache for that many bytes, 0 where the model itself is too large."""
    fixed = need.compute_bytes - need.n_ctx * _mask_bytes(need)
    a_cell = sum(need.weights.kv_width) * KV_BYTES[need.kv_type] + _mask_bytes(need)
    n_ctx = int((free_bytes - fixed) / a_cell) // _STEP * _STEP
    return n_ctx if 512 <= n_ctx < need.n_ctx else 0


def _mask_bytes(need: Need) -> int:
    return need.n_ubatch * (2 if need.flash_attention else 4 * (need.weights.n_head + 1))


def _gib(n_bytes: int) -> str:
    return f"{n_bytes / _GIB:.1f} GiB"
