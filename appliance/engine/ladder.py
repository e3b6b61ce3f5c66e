"""How far down the engine has come: what fits the GPU, half of that, the CPU with the GPU hidden."""

from __future__ import annotations

# A GPU hidden from the process cannot be used by accident: llama.cpp takes VRAM even for 0 layers
# unless KV cache and operations stay on the CPU as well (ezlocalai PR 110).
GPU_HIDDEN = {
    "CUDA_VISIBLE_DEVICES": "",
    "HIP_VISIBLE_DEVICES": "",
    "ROCR_VISIBLE_DEVICES": "",
    "GGML_VK_VISIBLE_DEVICES": "",
}
SHARES = (1.0, 0.5, 0.0)  # of the layers that fit, or that were asked for


class Ladder:
    """The rungs: shares of the layers that fit; the last is the CPU alone."""

    def __init__(self, uses_gpu: bool) -> None:
        self._wants_gpu = uses_gpu
        self.climb()

    @property
    def share(self) -> float:
        """Share of the layers to try now; 0: the CPU alone."""
        return SHARES[self._rung]

    @property
    def is_lowered(self) -> bool:
        """Whether something better was given up, and may work later."""
        return self._has_gpu and self._rung > 0

    @property
    def environment(self) -> dict[str, str]:
        """What the child's environment needs on this rung."""
        return {} if self.share else dict(GPU_HIDDEN)

    def step_down(self) -> bool:
        """Go to the next rung; False when this is the last."""
        if self._rung == len(SHARES) - 1:
            return False
        self._rung += 1
        return True

    def to_cpu(self) -> None:
        """Go to the last rung: nothing fits the GPU now."""
        self._rung = len(SHARES) - 1

    def without_gpu(self) -> None:
        """Stay on the last rung: this build, or this box, has no GPU."""
        self._has_gpu = False
        self.to_cpu()

    def climb(self) -> None:
        """Go back to the top."""
        self._has_gpu = self._wants_gpu
        self._rung = 0 if self._wants_gpu else len(SHARES) - 1
