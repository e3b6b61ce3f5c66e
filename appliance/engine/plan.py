"""What the next child is told: its environment, its cores, and how the model is loaded. Starts nothing.

Holds the ladder: each child reports its devices first, then hears what goes where.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import appliance
from appliance import hardware
from appliance.cores import EngineCores
from appliance.engine.fit import CPU_ONLY, Device, Need, Placement, Wish, cards, fit, room_on
from appliance.engine.ladder import Ladder
from appliance.engine.preflight import refuse_file, refuse_size
from appliance.engine.spec import EngineSpec
from appliance.engine.wire import WireMessage
from appliance.gpu import find_gpus
from models.errors import ModelFileError
from models.fetch import free_bytes
from models.gguf_weights import GgufWeights, read_weights

log = logging.getLogger(__name__)

PACKAGES = Path(appliance.__file__).parent.parent
# Rows of logits that llama.cpp makes room for: one a slot and a draft (appliance.engine.llama), which is about 100.
N_OUTPUTS = 100


BLOCKS_SHARE, MAX_BLOCKS_BYTES = 0.1, 20_000_000_000


class RefusedError(Exception):
    """The model cannot be run on this machine as it is; another try would end the same way."""


class NoRoomOnGpuError(Exception):
    """Nothing fits the GPU now: start again with the GPU hidden."""


class Plan:
    """Decides how the engine is started, each time anew."""

    def __init__(self, spec: EngineSpec, root: Path = hardware.ROOT) -> None:
        self._spec = spec
        self._root = root
        self._weights: GgufWeights | None = None
        self._wish = Wish(spec.n_gpu_layers, spec.gpu_split, spec.kv_placement)
        self._told_of_gpus = False
        self.ladder = Ladder(uses_gpu=spec.n_gpu_layers != 0)

    def look(self) -> None:
        """Read the model's head; takes a moment.

        Raises:
            RefusedError: the file can be no model.
        """
        if reason := refuse_file(self._spec.model_path):
            raise RefusedError(reason)
        try:
            self._weights = read_weights(self._spec.model_path)
        except ModelFileError as error:  # what llama.cpp says of it is better; nothing is fitted then
            log.warning("%s", error)
            self._weights = None

    def environment(self, inherited: Mapping[str, str], with_gpu: bool = False) -> dict[str, str]:
        """Return the child's environment: ours, with libgomp's spinning bounded before it is loaded.

        Args:
            with_gpu: show the GPU, whatever the rung.
        """
        # OMP_WAIT_POLICY=active would void the spin count.
        kept = {name: value for name, value in inherited.items() if name != "OMP_WAIT_POLICY"}
        path = os.pathsep.join([str(PACKAGES), *filter(None, [kept.get("PYTHONPATH")])])
        ours = {
            "GOMP_SPINCOUNT": str(self._spec.spin_count),
            "PYTHONPATH": path,
            "GGML_NO_BACKTRACE": "1",  # a failed assert would start gdb, which drowns the reason it printed
        }
        return kept | ours | ({} if with_gpu else self.ladder.environment)

    def cores(self) -> EngineCores:
        """Return the threads that the engine gets, and where they may run."""
        need = self._need(self._kv_types()[0])
        n_bytes = need.host_bytes(CPU_ONLY) if need else 0
        if self._spec.threads:
            return EngineCores(self._spec.threads, (), "")
        return hardware.engine_cores(self._root, n_bytes)

    def order(self, devices: Sequence[Device]) -> WireMessage:
        """Return what a child with these devices is told to load.

        Raises:
            RefusedError: the machine has not the memory.
            NoRoomOnGpuError: the GPU has not the memory.
        """
        refusals = []
        for kv_type in self._kv_types():
            need = self._need(kv_type)
            placement = self._placement(devices, need)
            refusals.append(self._refusal(need, placement))
            if not refusals[-1]:
                if len(refusals) > 1:
                    log.warning("the KV cache holds %s numbers: %s", kv_type, refusals[0])
                model = self._model(placement, kv_type)
                return {
                    "kind": "load",
                    "model": model,
                    "limits": self._limits(),
                    "prefixes": self._prefixes(),
                    "blocks": self._blocks(),
                    "reuse": asdict(self._spec.reuse),
                }
        raise RefusedError(refusals[-1])

    def has_room(self, devices: Sequence[Device]) -> bool:
        """Return whether a part of the model would fit the GPUs among these devices."""
        found = cards(devices)
        need = self._need(self._kv_types()[0])
        return bool(found) and (need is None or fit(need, found, self._wish).n_gpu_layers > 0)

    def _kv_types(self) -> tuple[str, ...]:
        if self._spec.kv_type != "auto":
            return (self._spec.kv_type,)
        return ("f16",) if self._spec.flash_attention == "off" else ("f16", "q8_0")

    def _refusal(self, need: Need | None, placement: Placement) -> str:
        return refuse_size(need, placement, hardware.free_memory_bytes(self._root)) if need else ""

    def _placement(self, devices: Sequence[Device], need: Need | None) -> Placement:
        if not self.ladder.share:
            return CPU_ONLY
        if not (found := cards(devices)):
            self._tell_of_unused_gpus()
            self.ladder.without_gpu()
            return CPU_ONLY
        if need is None:
            return self._unfitted()
        placement = fit(need, found, self._wish, self.ladder.share)
        if placement.n_gpu_layers == 0:
            raise NoRoomOnGpuError(_no_room(found, need))
        log.info("%d of %d layers fit %s", placement.n_gpu_layers, need.n_units, _names(found, placement))
        return placement

    def _unfitted(self) -> Placement:
        """Place a model whose sizes are not known: as asked for, or all."""
        n = self._spec.n_gpu_layers
        if n < 0 and self.ladder.share < 1:
            raise NoRoomOnGpuError("the model's sizes are not known, so that no part of it can be placed")
        return Placement(n if n < 0 else int(n * self.ladder.share), kv_on_gpu=self._wish.kv != "cpu")

    def _need(self, kv_type: str) -> Need | None:
        spec = self._spec
        if self._weights is None:
            return None
        return Need(
            self._weights, spec.n_ctx, min(spec.n_ubatch, spec.n_batch), N_OUTPUTS, kv_type,
            flash_attention=spec.flash_attention != "off",
        )  # fmt: skip

    def _model(self, placement: Placement, kv_type: str) -> WireMessage:
        spec, cores = self._spec, self.cores()
        if cores.why:
            log.info("the engine takes %d threads and leaves out %s", cores.n_threads, cores.why)
        return {
            "path": str(spec.model_path),
            "n_ctx": spec.n_ctx,
            "max_sequences": spec.max_sequences,
            "n_batch": spec.n_batch,
            "n_ubatch": spec.n_ubatch,
            "n_threads": cores.n_threads,
            "n_gpu_layers": placement.n_gpu_layers,
            "devices": placement.devices,
            "tensor_split": placement.tensor_split,
            "n_cpu_experts": placement.n_cpu_experts,
            "kv_on_gpu": placement.kv_on_gpu,
            "kv_type": kv_type,
            "flash_attention": spec.flash_attention,
            "mlock": spec.mlock,
            "sha256": spec.model_sha256,
        }

    def _limits(self) -> WireMessage:
        spec = self._spec
        return {
            "max_sequences": spec.max_sequences,
            "max_waiting": spec.max_waiting,
            "n_batch": spec.n_batch,
            "step_target_ms": spec.step_target_ms,
            "prompt_lookup": spec.prompt_lookup,
        }

    def _prefixes(self) -> WireMessage | None:
        if self._spec.prefixes is None or self._spec.prefixes_mb == 0:
            return None
        return {"folder": str(self._spec.prefixes), "max_bytes": self._spec.prefixes_mb * 1_000_000}

    def _blocks(self) -> WireMessage | None:
        folder, wanted = self._spec.blocks, self._spec.blocks_mb * 1_000_000
        if folder is None:
            return None
        return {"folder": str(folder), "max_bytes": wanted or disk_share(folder)}

    def _tell_of_unused_gpus(self) -> None:
        """Say once that a GPU is here which this build of llama.cpp cannot use."""
        if not self._told_of_gpus:
            for gpu in find_gpus(self._root):
                how = (
                    f": `make run GPU={gpu.build}` makes use of it"
                    if gpu.build
                    else "; it has no driver here"
                )
                log.info("%s is here, and the installed llama.cpp cannot use it%s", gpu.name, how)
        self._told_of_gpus = True


def disk_share(folder: Path) -> int:
    """Return the bytes that passages' cells may take in a folder: a tenth of what is free without them, to a limit."""
    taken = 0
    for path in folder.glob("*/*"):
        with suppress(OSError):  # whoever forgets a document removes its files at any time
            taken += path.stat().st_size
    return min(int((free_bytes(folder) + taken) * BLOCKS_SHARE), MAX_BLOCKS_BYTES)


def _no_room(found: Sequence[Device], need: Need) -> str:
    free = ", ".join(f"{card.name} {card.free_bytes >> 20} MiB free" for card in found)
    room = max(room_on(card, need) for card in found)
    least = min(need.unit_bytes(unit, need.n_units, kv_on_gpu=False) for unit in range(need.n_units))
    return (
        f"no layer fits the GPU ({free}; {max(0, room) >> 20} MiB for layers of {least >> 20} MiB and more)"
    )


def _names(found: Sequence[Device], placement: Placement) -> str:
    used = [card.name for card in found if not placement.devices or card.index in placement.devices]
    experts = (
        f"; the experts of {placement.n_cpu_experts} stay in main memory" if placement.n_cpu_experts else ""
    )
    return " and ".join(used) + experts
