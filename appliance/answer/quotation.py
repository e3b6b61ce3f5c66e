"""A sentence of a document as the answer, where the model found none and the evidence is clear. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.api.schema import Citation, Passage
from appliance.checks.citations import source


@dataclass(frozen=True, slots=True)
class Quotation:
    """What is shown, and its citation, whose offsets count from the beginning of the answer."""

    text: str
    citation: Citation


def quote(passage: Passage, after: str = "") -> Quotation | None:
    """Return the passage's best sentence in quotation marks; None where none stands out.

    Args:
        after: the answer that it is added to.
    """
    if passage.best is None:
        return None
    sentence = " ".join(passage.text[slice(*passage.best)].split())
    gap = "\n\n" if after else ""
    start = len(after) + len(gap)
    marked = f"“{sentence}”"
    citation = Citation(
        start=start, end=start + len(marked), numbers=[passage.number], quote=sentence,
        sources=[source(passage, sentence)], quotation=True,
    )  # fmt: skip
    return Quotation(gap + marked, citation)
