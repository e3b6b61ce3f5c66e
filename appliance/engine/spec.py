"""What the daemon says about the engine it wants."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from appliance.engine.fit import KvPlacement, Split


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """The engine's settings; see `appliance.config.EngineSettings`.

    Attributes:
        model_name: as people call it.
        threads: 0: one a core that is good for it.
        n_gpu_layers: -1: as many as fit.
    """

    model_path: Path
    model_name: str
    n_ctx: int
    max_sequences: int
    max_waiting: int
    n_batch: int
    step_target_ms: float
    threads: int
    spin_count: int
    n_gpu_layers: int
    n_ubatch: int = 512
    gpu_split: Split = "auto"
    kv_placement: KvPlacement = "auto"
    kv_type: str = "f16"
    flash_attention: str = "auto"
    mlock: bool = False
