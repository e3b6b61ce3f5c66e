"""What travels over the socket about the appliance as a whole."""

from __future__ import annotations

from typing import Literal

from appliance.api.schema import Wire
from appliance.api.schema_documents import IngestStatus


class EngineReply(Wire):
    """See `appliance.engine.request.EngineStatus`; `reuse` is in words: "exact", "blocks" or "blend, 32 tokens"."""

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
    reuse: str = "exact"
    n_blocks: int = 0
    block_bytes: int = 0
    max_block_bytes: int = 0
    n_preparing: int = 0

    @property
    def reads_ahead(self) -> bool:
        """Whether passages are, or will be, read before anyone asks."""
        return self.reuse != "exact" and bool(self.n_blocks or self.n_preparing)


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
