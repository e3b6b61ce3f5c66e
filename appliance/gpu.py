"""The GPUs that the machine shows, whether or not the installed llama.cpp can use one.

What the engine works with is what its build of llama.cpp reports (`appliance.engine.ggml`). This room knows what
that could have been, so that a box with an idle GPU is told how to use it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.sysfiles import read_field, read_int, read_text

ROOT = Path("/")
_VENDORS = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel"}
_VULKAN_DRIVERS = ("usr/share/vulkan/icd.d", "etc/vulkan/icd.d", "usr/local/share/vulkan/icd.d")


@dataclass(frozen=True, slots=True)
class Gpu:
    """A graphics processor.

    Attributes:
        build: the value of `make run GPU=…` that makes use of it; empty: no driver for that is here.
        total_bytes, free_bytes: of its own memory; None where the driver does not say, or has none.
    """

    name: str
    build: str
    total_bytes: int | None
    free_bytes: int | None


def find_gpus(root: Path = ROOT) -> list[Gpu]:
    """Return the GPUs that drivers and /sys know of."""
    return (_nvml() if root == ROOT else []) or [*_nvidia(root), *_cards(root)]


def _nvml() -> list[Gpu]:
    """Ask NVIDIA's library, if nvidia-ml-py and a driver are installed."""
    try:
        import pynvml
    except ImportError:
        return []
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return []
    try:
        return [
            _nvml_card(pynvml, pynvml.nvmlDeviceGetHandleByIndex(index))
            for index in range(pynvml.nvmlDeviceGetCount())
        ]
    except pynvml.NVMLError:
        return []
    finally:
        pynvml.nvmlShutdown()


def _nvml_card(nvml: Any, handle: Any) -> Gpu:
    name = nvml.nvmlDeviceGetName(handle)
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    return Gpu(name if isinstance(name, str) else name.decode(), "cuda", int(memory.total), int(memory.free))


def _nvidia(root: Path) -> Iterator[Gpu]:
    """Yield what NVIDIA's kernel driver lists; it tells no memory there."""
    for file in sorted((root / "proc/driver/nvidia/gpus").glob("*/information")):
        yield Gpu(read_field(file, "Model") or "NVIDIA GPU", "cuda", None, None)


def _cards(root: Path) -> Iterator[Gpu]:
    """Yield the cards of the kernel's graphics drivers, save those that NVIDIA's own driver lists."""
    for device in sorted((root / "sys/class/drm").glob("card[0-9]*/device")):
        vendor = _VENDORS.get(read_text(device / "vendor") or "")
        listed = vendor == "NVIDIA" and (root / "proc/driver/nvidia").exists()
        if vendor is None or "-" in device.parent.name or listed:  # card0-HDMI-A-1 is a connector
            continue
        total, used = read_int(device / "mem_info_vram_total"), read_int(device / "mem_info_vram_used")
        name = read_text(device / "product_name") or f"{vendor} {read_text(device / 'device') or 'GPU'}"
        yield Gpu(name, _build(root, vendor), total, None if total is None or used is None else total - used)


def _build(root: Path, vendor: str) -> str:
    if vendor == "AMD" and (root / "dev/kfd").exists():  # what ROCm talks to
        return "rocm"
    return "vulkan" if any(any((root / folder).glob("*.json")) for folder in _VULKAN_DRIVERS) else ""
