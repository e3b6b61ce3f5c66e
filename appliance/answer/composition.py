"""The model's answer as it comes, checked; where it fails and the evidence is clear, a sentence of the documents.

Nothing that was shown is taken back: words that may become a refusal are held, and a quotation is added behind an
answer that nothing supports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from appliance.answer.draft import Draft
from appliance.answer.opening import Opening
from appliance.answer.quotation import quote
from appliance.api.schema import Citation, CitationEvent, Passage, TokenEvent
from appliance.checks.citations import Attributor
from appliance.text.guard import says_nothing


class Composition:
    """One answer.

    Args:
        passages: those that the model read, best first.
        may_quote: the evidence is clear enough to quote where the model fails.

    Attributes:
        origin: who worded the answer.
    """

    def __init__(self, attributor: Attributor, passages: Sequence[Passage], *, may_quote: bool) -> None:
        self._draft = Draft(attributor)
        self._passages = passages
        self._may_quote = may_quote
        self._opening = Opening()
        self._added = ""
        self._quoted: list[Citation] = []
        self.origin: Literal["model", "quotation"] = "model"

    @property
    def raw(self) -> str:
        """What a later turn is told of it: the model's words as written, or the quotation."""
        return self._added if self.origin == "quotation" else self._draft.raw

    @property
    def answer(self) -> str:
        """What people see."""
        return self._draft.answer + self._added

    @property
    def answered(self) -> bool:
        """Whether it says more than that the documents do not say."""
        return not says_nothing(self.answer)

    @property
    def citations(self) -> list[Citation]:
        """Of its sentences, in their order."""
        return self._draft.citations + self._quoted

    def feed(self, text: str) -> Iterator[TokenEvent | CitationEvent]:
        """Take what the model wrote next."""
        yield from self._draft.feed(self._opening.feed(text))

    def finish(self) -> Iterator[TokenEvent | CitationEvent]:
        """Take the end of the answer; decide whether it stands."""
        held = self._opening.take()
        failed = not self._draft.raw and (says_nothing(held) or not held.strip())
        if failed and self._may_quote and self._passages and self._passages[0].best:
            self.origin = "quotation"
            yield from self._quote()
            return
        yield from self._draft.feed(held)
        yield from self._draft.finish()
        if (
            self._may_quote
            and self.answered
            and not any(c.state == "supported" for c in self._draft.citations)
        ):
            yield from self._quote()

    def _quote(self) -> Iterator[TokenEvent | CitationEvent]:
        quotation = quote(self._passages[0], self._draft.answer) if self._passages else None
        if quotation is None:
            return
        self._added = quotation.text
        self._quoted.append(quotation.citation)
        yield TokenEvent(text=quotation.text)
        yield CitationEvent(citation=quotation.citation)
