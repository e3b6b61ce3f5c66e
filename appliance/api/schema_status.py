"""What travels over the socket about the appliance as a whole."""

from __future__ import annotations

from typing import Literal

from appliance.api.schema import Wire
from appliance.api.schema_documents import IngestStatus


class EngineReply(Wire):
    """See `appliance.engine.request.EngineStatus`."""

    state: Literal["starting", "ready", "restarting", "failed"]
    model: str
    device: str
    reason: str
    note: str = ""
    pid: int | None
    n_ctx: int
    n_running: int
    n_waiting: int
    n_restarts: int
    prefill_tps: float
    decode_tps: float


class IndexReply(Wire):
    """The vector index: `state` is "ready", "rebuilding" or "off" (search then uses the record's vectors)."""

    state: str
    reason: str
    n_vectors: int
    embedder: str


class StatusReply(Wire):
    """The whole appliance at a glance."""

    version: str
    pid: int
    home: str
    uptime_s: float
    engine: EngineReply
    ingest: IngestStatus
    index: IndexReply
