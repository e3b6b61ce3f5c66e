"""The engine of a home that has no chat model: search and documents work, answers say what is missing."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from appliance.engine.request import EngineStatus, Event, GenerateRequest, Message
from appliance.errors import EngineNotReadyError


class AbsentEngine:
    """Refuses every request with the same reason."""

    model = ""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[Event, None]:
        """Raise EngineNotReadyError."""
        raise EngineNotReadyError(self._reason)
        yield  # makes this a generator

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Raise EngineNotReadyError."""
        raise EngineNotReadyError(self._reason)

    async def prepare(self, messages: Sequence[Message]) -> int:
        """Raise EngineNotReadyError."""
        raise EngineNotReadyError(self._reason)

    def status(self) -> EngineStatus:
        """Return `failed`, with the reason."""
        return EngineStatus("failed", reason=self._reason)

    async def ready(self, timeout_s: float) -> None:
        """Raise EngineNotReadyError."""
        raise EngineNotReadyError(self._reason)

    def reload(self) -> None:
        """Do nothing: a model is taken in when the daemon starts."""
