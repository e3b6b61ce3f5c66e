"""The model's answer as it comes, checked; where it fails and the evidence is clear, a sentence of the documents.

Nothing that was shown is taken back: words that may become a refusal are held, and a quotation is added behind an
answer that nothing supports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from appliance.answer.draft import Draft
from appliance.answer.opening import Opening
from appliance.answer.quotation import Quotation, quote
from appliance.api.schema import Citation, CitationEvent, Passage, TokenEvent
from appliance.checks.citations import Attributor
from appliance.text.guard import says_nothing


class Composition:
    """One answer.

    Args:
        passages: those that the model read, best first.
        labels: what the model may mark them with → their numbers; see `MarkStripper`.
        may_quote: the evidence is clear enough to quote where the model fails.

    Attributes:
        origin: who worded the answer.
    """

    def __init__(
        self,
        attributor: Attributor,
        passages: Sequence[Passage],
        labels: Mapping[str, int],
        *,
        may_quote: bool,
    ) -> None:
        self._draft = Draft(attributor, labels)
        self._passages = passages
        self._may_quote = may_quote
        self._opening = Opening()
        self._quotation: Quotation | None = None
        self.origin: Literal["model", "quotation"] = "model"

    @property
    def raw(self) -> str:
        """What a later turn is told of it: the model's words as written, or the quotation."""
        return self.answer if self.origin == "quotation" else self._draft.raw

    @property
    def answer(self) -> str:
        """What people see."""
        return self._draft.answer + (self._quotation.text if self._quotation else "")

    @property
    def answered(self) -> bool:
        """Whether it says more than that the documents do not say."""
        return not says_nothing(self.answer)

    @property
    def citations(self) -> list[Citation]:
        """Of its sentences, in their order."""
        return self._draft.citations + ([self._quotation.citation] if self._quotation else [])

    def feed(self, text: str) -> Iterator[TokenEvent | CitationEvent]:
        """Take what the model wrote next."""
        yield from self._draft.feed(self._opening.feed(text))

    def finish(self) -> Iterator[TokenEvent | CitationEvent]:
        """Take the end of the answer; decide whether it stands."""
        held = self._opening.take()
        failed = not self._draft.raw and (says_nothing(held) or not held.strip())
        if failed and (quotation := self._best_sentence()):
            self.origin = "quotation"
            yield from self._add(quotation)
            return
        yield from self._draft.feed(held)
        yield from self._draft.finish()
        stands = not self.answered or any(c.state == "supported" for c in self._draft.citations)
        if not stands and (quotation := self._best_sentence()):
            yield from self._add(quotation)

    def _best_sentence(self) -> Quotation | None:
        """What may stand for, or behind, the model's words."""
        if not (self._may_quote and self._passages):
            return None
        return quote(self._passages[0], self._draft.answer)

    def _add(self, quotation: Quotation) -> Iterator[TokenEvent | CitationEvent]:
        self._quotation = quotation
        yield TokenEvent(text=quotation.text)
        yield CitationEvent(citation=quotation.citation)
