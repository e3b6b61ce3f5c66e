"""Which passage supports which sentence, as the answer streams."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from appliance.answer.citations import Attributor, MarkStripper
from appliance.answer.draft import Draft
from appliance.answer.words import Words
from appliance.api.schema import Citation, CitationEvent, Passage, TokenEvent


def passage(number: int, text: str, title: str = "Handbook") -> Passage:
    return Passage(
        number=number, chunk_id=number, document_id=10 + number, path=f"{title.lower()}-{number}.md", title=title,
        locator=f"page {number}", place={}, text=text, score=0.5, version="ab" * 32,
    )  # fmt: skip


PASSAGES = (
    passage(1, "The autoclave runs at 134 °C for 4 minutes. Never open the door under pressure."),
    passage(2, "Filters of the ventilation are replaced every 90 days by Mr. Okafor. They cost 1,200 euros."),
    passage(
        3, "On 5 May 2026 the contract with Harlow and Sons ends. Three boilers of type X-250 are serviced."
    ),
)


class Bags:
    """An embedder that is no model: a text's vector counts its letters."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        counts = np.array(
            [[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], np.float32
        )
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def draft(question: str = "How hot is it?", passages: Sequence[Passage] = PASSAGES) -> Draft:
    return Draft(Attributor(question, passages, words=Words()))


def citations_of(
    answer: str, question: str = "What is to be known?", passages: Sequence[Passage] = PASSAGES
) -> list[Citation]:
    found = draft(question, passages)
    list(found.feed(answer))
    list(found.finish())
    return found.citations


def numbers_of(answer: str, question: str = "How hot is it?") -> list[list[int]]:
    return [citation.numbers for citation in citations_of(answer, question)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The autoclave runs at 134 °C.", [[1]]),
        ("It runs at 134 °C. Filters are replaced every 90 days.", [[1], [2]]),
        ("It runs at 121 °C.", [[]]),  # the number stands in no passage
        ("The moon is made of cheese.", [[]]),
        ("Filters are replaced every 90 days [1].", [[2]]),  # the model's own mark is only a hint
    ],
)
def test_a_sentence_is_attributed_to_the_passage_that_holds_its_words_and_numbers(
    answer: str, expected: list[list[int]]
) -> None:
    assert numbers_of(answer) == expected


def test_words_of_the_question_support_nothing() -> None:
    assert numbers_of("The autoclave pressure is unknown to science.", "What is the autoclave pressure?") == [
        []
    ]


def test_the_quote_is_the_sentence_of_the_passage_that_says_it() -> None:
    found = draft()
    list(found.feed("It runs at 134 °C for 4 minutes."))
    list(found.finish())
    assert found.citations[0].quote == "The autoclave runs at 134 °C for 4 minutes."


def test_a_citation_comes_before_the_text_that_follows_its_sentence() -> None:
    found = draft()
    events = [*found.feed("It runs at 134 °C. Fil"), *found.feed("ters"), *found.finish()]
    kinds = ["mark" if isinstance(event, CitationEvent) else event.text for event in events]
    assert kinds == ["It runs at 134 °C.", "mark", " Fil", "ters", "mark"]


def test_a_refusal_carries_no_citation() -> None:
    found = draft()
    list(found.feed("The documents do not say."))
    list(found.finish())
    assert found.citations == []


def test_marks_of_the_model_are_taken_out_and_remembered() -> None:
    marks = MarkStripper()
    shown = (
        "".join(marks.feed(piece) for piece in ["Hot [", "1", ", 2] tea [see", "n] now ["]) + marks.flush()
    )
    assert shown == "Hot tea [seen] now ["
    assert marks.take_hints() == {1, 2}


@given(st.text(alphabet="ab .[]12,\n", max_size=60), st.data())
def test_how_the_text_is_cut_into_pieces_changes_nothing(text: str, data: st.DataObject) -> None:
    whole, pieces = draft(), draft()
    events = [*whole.feed(text), *whole.finish()]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    cut_events = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        cut_events += list(pieces.feed(text[start:end]))
    cut_events += list(pieces.finish())
    assert pieces.answer == whole.answer
    assert pieces.raw == whole.raw == text
    assert "".join(e.text for e in cut_events if isinstance(e, TokenEvent)) == pieces.answer
    assert "".join(e.text for e in events if isinstance(e, TokenEvent)) == whole.answer
    for citation in pieces.citations:
        assert 0 <= citation.start < citation.end <= len(pieces.answer)
