"""How much of a model goes to which GPU, from its sizes and what is free. Pure: no device is touched here.

llama.cpp numbers the layers from 0 and the output after the last; it puts the last n of these on the GPUs, in the
order of the devices and in proportion to `tensor_split` (src/llama-model.cpp: load_tensors). A layer's KV cache lies
where the layer does. Experts of a mixture are large and each token needs few of them, so they leave the GPU first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from models.gguf_weights import GgufWeights

Split = Literal["auto", "one", "all"]
KvPlacement = Literal["auto", "gpu", "cpu"]

# Bytes a number of the KV cache: blocks of 32 with a 2-byte scale (ggml-common.h).
KV_BYTES = {"f32": 4.0, "f16": 2.0, "q8_0": 34 / 32, "q4_0": 18 / 32}
# Left free on a card: an eighth, and no more than what llama.cpp's own --fit leaves (1024 MiB). Drivers, screens and
# buffers that grow with use take it.
MARGIN_SHARE, MAX_MARGIN = 8, 1024 * 1024**2
_LEVELS = 20  # steps in which cards are filled evenly


@dataclass(frozen=True, slots=True)
class Device:
    """What llama.cpp's build can compute on.

    Attributes:
        index: in ggml's list of devices.
        name: "CUDA0"; `description`: what people call it.
        kind: `igpu` shares the machine's memory; `other` only helps the CPU.
    """

    index: int
    name: str
    description: str
    kind: Literal["cpu", "gpu", "igpu", "other"]
    free_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Need:
    """What a model needs.

    Attributes:
        n_ctx: KV cells.
        n_ubatch: tokens computed at once.
        n_outputs: rows of logits.
        kv_type: key of `KV_BYTES`.
        flash_attention: without it the scores of every head are kept.
    """

    weights: GgufWeights
    n_ctx: int
    n_ubatch: int
    n_outputs: int
    kv_type: str
    flash_attention: bool

    @property
    def n_units(self) -> int:
        """Layers, and the output as one more."""
        return len(self.weights.layers) + 1

    def kv_bytes(self, layer: int) -> int:
        """Return the bytes of a layer's KV cache."""
        return int(self.n_ctx * self.weights.kv_width[layer] * KV_BYTES[self.kv_type])

    @property
    def kv_total(self) -> int:
        """Bytes of the KV cache."""
        return sum(map(self.kv_bytes, range(len(self.weights.layers))))

    @property
    def compute_bytes(self) -> int:
        """Bytes of the buffer that a step computes in.

        With flash attention it is exact to a MiB for SmolLM2 135M and Qwen2.5 1.5 B on the CPU (llama.cpp of
        llama-cpp-python 0.3.36, 8,192 and 32,768 cells, micro-batches of 256 and 512); without, a few MiB above.
        """
        weights = self.weights
        of_a_cell = 2 if self.flash_attention else 4 * (weights.n_head + 1)
        of_a_token = 4 * (3 * weights.n_ff + 4 * weights.n_embd)
        return self.n_ubatch * (of_a_token + self.n_ctx * of_a_cell) + 4 * self.n_outputs * weights.n_vocab

    def unit_bytes(self, unit: int, n_cpu_experts: int, kv_on_gpu: bool) -> int:
        """Return what a unit takes on a GPU when the first `n_cpu_experts` layers' experts stay behind."""
        if unit == self.n_units - 1:
            return self.weights.output
        experts = 0 if unit < n_cpu_experts else self.weights.experts[unit]
        return self.weights.layers[unit] + experts + (self.kv_bytes(unit) if kv_on_gpu else 0)

    def host_bytes(self, placement: Placement) -> int:
        """Return what a placement leaves in main memory."""
        n_units = self.n_units if placement.n_gpu_layers < 0 else min(placement.n_gpu_layers, self.n_units)
        on_gpu = sum(
            self.unit_bytes(unit, placement.n_cpu_experts, placement.kv_on_gpu)
            for unit in range(self.n_units - n_units, self.n_units)
        )
        copied = self.weights.tied if n_units else 0
        return self.weights.total + copied + self.kv_total + self.compute_bytes - on_gpu


@dataclass(frozen=True, slots=True)
class Wish:
    """What the settings ask for.

    Attributes:
        n_gpu_layers: -1: as many as fit.
        split: `one` card, `all` of them, or `auto`: one if all fits there.
    """

    n_gpu_layers: int = -1
    split: Split = "auto"
    kv: KvPlacement = "auto"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the parts of a model go; see `ModelSpec`.

    Attributes:
        n_gpu_layers: layers from the end, the output included; -1: all, untested.
        devices: indices in ggml's list, in the order that takes layers; empty: llama.cpp's choice.
        tensor_split: layers of each device.
        n_cpu_experts: layers from the start whose experts stay in main memory.
    """

    n_gpu_layers: int
    devices: tuple[int, ...] = ()
    tensor_split: tuple[float, ...] = ()
    n_cpu_experts: int = 0
    kv_on_gpu: bool = True


CPU_ONLY = Placement(0, kv_on_gpu=False)


def cards(devices: Sequence[Device]) -> list[Device]:
    """Return the devices that take layers: cards with memory of their own, else one that shares the machine's."""
    return [device for device in devices if device.kind == "gpu"] or [
        device for device in devices if device.kind == "igpu"
    ][:1]


def room_on(card: Device, need: Need) -> int:
    """Return the bytes that layers may take on a card."""
    return card.free_bytes - min(card.total_bytes // MARGIN_SHARE, MAX_MARGIN) - need.compute_bytes


def fit(need: Need, devices: Sequence[Device], wish: Wish, share: float = 1.0) -> Placement:
    """Place as much of a model on the GPUs as fits; `share` of those layers is taken."""
    found = [card for card in cards(devices) if room_on(card, need) > 0]
    if wish.n_gpu_layers >= 0:
        n_units = int(min(wish.n_gpu_layers, need.n_units) * share)
        return _as_told(need, found, wish, n_units)
    for placement in _best_first(need, found, wish):
        n_units = int(placement.n_gpu_layers * share)
        return placement if n_units == placement.n_gpu_layers else _as_told(need, found, wish, n_units)
    return CPU_ONLY


def _as_told(need: Need, found: list[Device], wish: Wish, n_units: int) -> Placement:
    """Place that many layers; if they do not fit by our reckoning, llama.cpp shall try."""
    if n_units == 0:
        return CPU_ONLY
    for kv_on_gpu in _kv_choices(wish):
        for n_cpu_experts in _expert_choices(need):
            if placement := _place(need, found, wish, n_units, n_cpu_experts, kv_on_gpu):
                return placement
    return Placement(n_units, kv_on_gpu=wish.kv != "cpu")


def _best_first(need: Need, found: list[Device], wish: Wish) -> Iterator[Placement]:
    """Yield what fits: all layers, all with ever more experts left behind, then ever fewer layers."""
    n_layers = need.n_units - 1
    without_experts = n_layers if any(need.weights.experts) else 0
    for kv_on_gpu in _kv_choices(wish):
        tries = [(need.n_units, n) for n in _expert_choices(need)]
        tries += [(n_units, without_experts) for n_units in range(n_layers, 0, -1)]
        for n_units, n_cpu_experts in tries:
            if placement := _place(need, found, wish, n_units, n_cpu_experts, kv_on_gpu):
                yield placement


def _kv_choices(wish: Wish) -> tuple[bool, ...]:
    return {"auto": (True, False), "gpu": (True,), "cpu": (False,)}[wish.kv]


def _expert_choices(need: Need) -> range:
    return range(need.n_units) if any(need.weights.experts) else range(1)


def _place(
    need: Need, found: list[Device], wish: Wish, n_units: int, n_cpu_experts: int, kv_on_gpu: bool
) -> Placement | None:
    costs = [
        need.unit_bytes(unit, n_cpu_experts, kv_on_gpu)
        for unit in range(need.n_units - n_units, need.n_units)
    ]
    roomiest = sorted(found, key=lambda card: -room_on(card, need))[:1]
    groups = {"auto": [roomiest, found], "one": [roomiest], "all": [found]}[wish.split]
    for group in groups:
        rooms = [room_on(card, need) for card in group]
        if counts := _fill_evenly(costs, rooms):
            used = [(card.index, n) for card, n in zip(group, counts, strict=True) if n]
            devices, split = zip(*used, strict=True)
            return Placement(n_units, devices, tuple(map(float, split)), n_cpu_experts, kv_on_gpu)
    return None


def _fill_evenly(costs: Sequence[int], rooms: Sequence[int]) -> list[int] | None:
    """Return how many units in order each room takes, all rooms filled to about the same share of their size."""
    for level in range(1, _LEVELS + 1):
        if counts := _fill(costs, [room * level // _LEVELS for room in rooms]):
            return counts
    return None


def _fill(costs: Sequence[int], rooms: Sequence[int]) -> list[int] | None:
    counts = [0] * len(rooms)
    left, room = list(rooms), 0
    for cost in costs:
        while room < len(rooms) and left[room] < cost:
            room += 1
        if room == len(rooms):
            return None
        left[room] -= cost
        counts[room] += 1
    return counts
