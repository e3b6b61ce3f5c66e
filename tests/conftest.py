"""Fixtures that several rooms share: where the test models lie."""

from __future__ import annotations

import os

# Before any import of onnxruntime: from 1.29 on it sends telemetry unless the environment says otherwise.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"
