"""An answer that grows: what the model wrote, what is shown of it, and which passage supports which sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from appliance.api.schema import Citation, CitationEvent, TokenEvent
from appliance.checks.citations import Attributor, MarkStripper


class Draft:
    """Turns pieces of generated text into events; a sentence's citation comes before the text that follows it.

    Args:
        labels: see `MarkStripper`.

    Attributes:
        raw: what the model wrote, its own marks included.
        answer: what people see.
        citations: one for each complete sentence that claims something.
    """

    def __init__(self, attributor: Attributor, labels: Mapping[str, int]) -> None:
        self.raw = ""
        self.answer = ""
        self.citations: list[Citation] = []
        self._attributor = attributor
        self._marks = MarkStripper(labels)
        self._n_emitted = 0

    def feed(self, text: str) -> Iterator[TokenEvent | CitationEvent]:
        """Take what the model wrote next."""
        self.raw += text
        yield from self._grow(self._marks.feed(text), final=False)

    def finish(self) -> Iterator[TokenEvent | CitationEvent]:
        """Take the end of the answer."""
        yield from self._grow(self._marks.flush(), final=True)

    def _grow(self, text: str, *, final: bool) -> Iterator[TokenEvent | CitationEvent]:
        self.answer = (self.answer + text).lstrip()
        for citation in self._attributor.feed(self.answer, self._marks.take_hints(), final=final):
            self.citations.append(citation)
            yield from self._emit(until=citation.end)
            yield CitationEvent(citation=citation)
        yield from self._emit(until=len(self.answer))

    def _emit(self, until: int) -> Iterator[TokenEvent]:
        if until > self._n_emitted:
            yield TokenEvent(text=self.answer[self._n_emitted : until])
            self._n_emitted = until
