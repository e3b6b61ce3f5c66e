"""Keeps the libraries we use from calling out. Runs before any of them is imported, in every process we start."""

from __future__ import annotations

from collections.abc import MutableMapping

_QUIET = {
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime >= 1.29 sends telemetry unless this is set before its import
    "ANONYMIZED_TELEMETRY": "False",  # ChromaDB
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


def enforce(environment: MutableMapping[str, str]) -> None:
    """Set what makes the libraries stay offline; child processes inherit it."""
    environment.update(_QUIET)
