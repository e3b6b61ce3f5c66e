"""The second stage: texts in flight get their vectors, in batches of like length from whichever documents wait."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from ingest.flight import Flight, Pending, Text
from ingest.gate import Gate
from ingest.options import Embedder
from ingest.progress import Progress

log = logging.getLogger(__name__)

# Tokens of one batch, padding included. Measured on 2 EPYC cores (all-MiniLM-L6-v2, int8, 30.11.2026): ms of CPU a
# text of 190 tokens 18.6 alone, 20.5 in a batch of 8, 25.9 of 32; of 20 tokens 3.7, 2.6, 2.8. So is memory.
BATCH_TOKENS = 400


class Embedding:
    """Embeds what waits.

    Args:
        hand_over: takes documents that are whole.
    """

    def __init__(
        self, *, embedder: Embedder, flight: Flight, gate: Gate, progress: Progress, max_texts: int,
        hand_over: Callable[[Pending], None],
    ) -> None:  # fmt: skip
        self._embedder = embedder
        self._flight = flight
        self._gate = gate
        self._progress = progress
        self._max_texts = max_texts
        self._hand_over = hand_over

    def turn(self) -> float:
        """Embed until ingest is stopped.

        Raises:
            StoppedError: it is.
        """
        while True:
            self._flight.wait()
            self._gate.checkpoint()  # before the batch is taken: meanwhile more texts come to choose from
            batch = self._flight.take(self._max_texts, BATCH_TOKENS)
            self._gate.wait(0)
            for document in self._embedded(batch):
                self._hand_over(document)
            self._progress.announce()

    def _embedded(self, batch: Sequence[Text]) -> list[Pending]:
        """Return the documents that are whole with this batch; a text that fails alone fails its own documents."""
        try:
            vectors = self._embedder.embed([text.text for text in batch])
        except Exception as error:
            if len(batch) == 1:
                log.exception("a text of %r cannot be embedded", [d.path for d in batch[0].wanted_by])
                return self._flight.give_up(batch[0], error)
            return [document for text in batch for document in self._embedded([text])]
        return self._flight.put(batch, vectors)
