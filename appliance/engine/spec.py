"""What the daemon says about the engine it wants."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from appliance.engine.fit import KvPlacement, Split
from appliance.engine.request import Reuse
from appliance.settings import EngineSettings


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """The engine's settings; see `appliance.settings.EngineSettings`.

    Attributes:
        model_name: as people call it.
        threads: 0: one a core that is good for it.
        n_gpu_layers: -1: as many as fit.
        prefixes: folder for what hot slots held; None: nothing is kept across a stop.
        prefixes_mb: most that is kept there.
        reuse: of passages' cells.
        blocks: folder for them; None: none are kept.
        blocks_mb: most that is kept there; 0: by the free disk.
        model_sha256: of the model's file; empty: not known.
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
    prompt_lookup: bool = True
    prefixes: Path | None = None
    prefixes_mb: int = 256
    reuse: Reuse = field(default_factory=Reuse)
    blocks: Path | None = None
    blocks_mb: int = 0
    model_sha256: str = ""


def spec_of(settings: EngineSettings, model_path: Path, model_name: str) -> EngineSpec:
    """Return what the settings say of a model's engine."""
    return EngineSpec(
        model_path=model_path, model_name=model_name, n_ctx=settings.n_ctx, max_sequences=settings.max_sequences,
        max_waiting=settings.max_waiting, n_batch=settings.n_batch, step_target_ms=settings.step_target_ms,
        threads=settings.threads, spin_count=settings.spin_count, n_gpu_layers=settings.n_gpu_layers,
        n_ubatch=settings.n_ubatch, gpu_split=settings.gpu_split, kv_placement=settings.kv_placement,
        kv_type=settings.kv_type, flash_attention=settings.flash_attention, mlock=settings.mlock,
        prompt_lookup=settings.prompt_lookup == "auto", prefixes_mb=settings.saved_prefixes_mb,
        blocks_mb=settings.blocks_mb,
    )  # fmt: skip
