"""Signs of an answer, the sentences they are read from, and what kind of thing a question asks for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from appliance.retrieval.answer_type import fits
from appliance.retrieval.evidence import Signs, confidence, lead_of, signs
from appliance.retrieval.passages import Kept
from appliance.retrieval.sentences import Sentence, Sentences
from appliance.text.words import Words
from ingest.locator import Locator
from ingest.stored import StoredChunk, StoredDocument

WORDS = Words()


class Axes:
    """An embedder of two dimensions: what speaks of boilers, and the rest. Remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.array([[1, 0] if "boiler" in text.lower() else [0, 1] for text in texts], np.float32)


def sentences(question: str, axes: Axes) -> Sentences:
    weights = dict.fromkeys(WORDS.content(question), 1.0)
    return Sentences(question, weights, axes.embed([question])[0], WORDS, axes)


def kept(id: int, score: float, text: str, ordinal: int = 0, document: int = 1) -> Kept:
    it = StoredDocument(document, f"{document}.md", "", "md", "ready", "", 1, 0, 0, 0, 0o644, "", None, 1)
    return Kept(StoredChunk(id, it, ordinal, text, Locator(), frozenset()), score)


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("When was the boiler built?", "It was built in 1936.", True),
        ("When was the boiler of 1936 built?", "The boiler of 1936 is green.", False),
        ("Wann wurde er gebaut?", "Er wurde im März gebaut.", True),
        ("How many boilers are there?", "There are three of them.", True),
        ("How many boilers are there?", "There are boilers.", False),
        ("Who services the boiler?", "It is serviced by Harlow.", True),
        ("Who services it?", "It is serviced in time.", False),
        ("Why is it serviced?", "Because.", True),
    ],
)
def test_a_sentence_fits_when_it_has_what_is_asked_for(question: str, sentence: str, expected: bool) -> None:
    assert fits(question, sentence) is expected


def test_the_best_sentence_is_chosen_by_words_vectors_and_kind() -> None:
    text = "The boiler was serviced. The boiler was built in 1936 and serviced then. Dogs were not."
    start, end = sentences("When was the boiler serviced?", Axes()).best(text) or (0, 0)
    assert text[start:end].startswith("The boiler was built in 1936")
    assert sentences("When was the boiler serviced?", Axes()).best("Cats sleep.") is None


def test_a_sentence_is_embedded_once_and_few_are() -> None:
    axes = Axes()
    found = sentences("Is the boiler green?", axes)
    text = "The boiler is green. A green door. A boiler. It rains. It snows. It hails."
    found.nearest([text, text], 3)
    found.best(text)
    assert len(axes.asked) == 1 + 3


def test_confidence_grows_with_every_sign() -> None:
    low = confidence(Signs())
    assert low < 0.01
    for sign in ("cosine", "lexical", "coverage", "nearness", "fits", "lead"):
        assert confidence(Signs(**{sign: 0.5})) > low
    assert confidence(Signs(0.7, 0.5, 0.9, 0.8, 1.0, 0.4)) > 0.95


def test_signs_are_of_the_best_sentences() -> None:
    near = Sentence((0, 1), coverage=0.2, cosine=0.9, fits=True)
    worded = Sentence((2, 3), coverage=0.8, cosine=0.1, fits=False)
    assert signs(0.5, 3.0, [near, worded], 0.3) == Signs(0.5, 1.0, 0.8, 0.9, 1.0, 0.3)
    assert signs(0.5, 0.2, [], 0.3) == Signs(0.5, 0.2, lead=0.3)


def test_the_lead_is_over_what_says_something_else() -> None:
    first = kept(1, 0.9, "Revenue of Veltora grew to 4,488 in the year 2019", ordinal=3)
    last_year = kept(2, 0.88, "Revenue of Veltora grew to 4,359 in the year 2018", document=2)
    next_page = kept(3, 0.87, "Costs were cut in all of the plants", ordinal=4)
    other = kept(4, 0.6, "Dogs are kept on a lead", document=3)
    assert lead_of([first, last_year, next_page, other], WORDS) == pytest.approx(0.3)
    assert lead_of([first, last_year], WORDS) == 0.5
    assert lead_of([], WORDS) == 0.0
