"""What the rest of the daemon may ask of an engine, whichever backend is behind it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from appliance.engine.request import EngineStatus, Event, GenerateRequest, Message


class Engine(Protocol):
    """A language model that answers several people at once."""

    @property
    def model(self) -> str:
        """Name of the chat model."""

    def generate(self, request: GenerateRequest) -> AsyncGenerator[Event, None]:
        """Answer a request: events as they happen, `Done` last. Closing it cancels within one step.

        Raises:
            EngineNotReadyError: the model is loading, or cannot be loaded.
            EngineLostError: the engine died while answering.
            EngineBusyError: the queue is full.
            PromptTooLongError: prompt and answer can never fit the context.
        """

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, control tokens taken as plain text.

        Raises:
            EngineNotReadyError, EngineLostError: as in `generate`.
        """

    async def prepare(self, messages: Sequence[Message]) -> int:
        """Compute the blocks of these messages that are not kept yet, when nobody asks; return how many are kept then.

        Cancelling it drops what is left to do.

        Raises:
            EngineNotReadyError, EngineLostError: as in `generate`.
        """

    def status(self) -> EngineStatus:
        """Say where the engine stands."""

    async def ready(self, timeout_s: float) -> None:
        """Wait until the model can answer.

        Raises:
            EngineNotReadyError: it cannot be loaded, or is not ready in time.
        """

    def reload(self) -> None:
        """Try again what was given up, such as a GPU that failed (SIGHUP); returns at once."""
