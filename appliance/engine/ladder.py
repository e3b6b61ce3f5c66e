"""How many layers go to the GPU, and how many the next try gets after the engine died on it.

Layers are not fitted to the free memory yet: each rung is tried, and a crash leads one down.
"""

from __future__ import annotations

# A GPU hidden from the process cannot be used by accident: llama.cpp takes VRAM even for 0 layers
# unless KV cache and operations stay on the CPU as well (ezlocalai PR 110).
GPU_HIDDEN = {
    "CUDA_VISIBLE_DEVICES": "",
    "HIP_VISIBLE_DEVICES": "",
    "ROCR_VISIBLE_DEVICES": "",
    "GGML_VK_VISIBLE_DEVICES": "",
}


class Ladder:
    """The rungs, most GPU layers first; the last is the CPU alone."""

    def __init__(self, n_gpu_layers: int) -> None:
        if n_gpu_layers < 0:
            self._rungs = [-1, 24, 12, 0]
        else:
            self._rungs = sorted({n_gpu_layers, n_gpu_layers // 2, 0}, reverse=True)

    @property
    def n_gpu_layers(self) -> int:
        """Layers to try now; -1: all."""
        return self._rungs[0]

    @property
    def environment(self) -> dict[str, str]:
        """What the child's environment needs on this rung."""
        return {} if self.n_gpu_layers else dict(GPU_HIDDEN)

    def step_down(self) -> bool:
        """Go to the next rung; False when this is the last."""
        if len(self._rungs) == 1:
            return False
        del self._rungs[0]
        return True

    def without_gpu(self) -> None:
        """Keep the last rung alone: this build, or this box, has no GPU."""
        del self._rungs[:-1]
