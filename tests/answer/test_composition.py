"""The model's answer as it comes: what is held, what is quoted in its place, what is added."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from appliance.answer.composition import Composition
from appliance.answer.opening import Opening, may_refuse
from appliance.api.schema import CitationEvent, Passage, TokenEvent
from appliance.checks.citations import Attributor
from appliance.text.words import Words

TEXT = "The pump runs at 60 °C. Check the valve every 12 weeks."
PASSAGE = Passage(
    number=1, chunk_id=7, document_id=3, path="pump.pdf", title="", locator="page 2", place={}, text=TEXT,
    best=(24, len(TEXT)), score=1.0, version="ab12",
)  # fmt: skip
QUOTED = "“Check the valve every 12 weeks.”"


def composition(*, may_quote: bool = True, passage: Passage = PASSAGE) -> Composition:
    question = "How often is the valve checked?"
    return Composition(Attributor(question, [passage], Words()), [passage], {"bcd": 1}, may_quote=may_quote)


def write(composition: Composition, answer: str) -> list[str]:
    """Feed an answer in small pieces; return the texts that were shown, piece by piece."""
    pieces = [answer[i : i + 4] for i in range(0, len(answer), 4)]

    def events() -> Iterator[TokenEvent | CitationEvent]:
        for piece in pieces:
            yield from composition.feed(piece)
        yield from composition.finish()

    return [event.text for event in events() if isinstance(event, TokenEvent)]


@pytest.mark.parametrize("mark", ["[1]", "[bcd]"])
def test_an_answer_that_the_passages_support_stands_as_the_model_wrote_it(mark: str) -> None:
    made = composition()
    shown = write(made, f"Check the valve every 12 weeks {mark}.")
    assert made.raw == f"Check the valve every 12 weeks {mark}."
    assert "".join(shown) == made.answer == "Check the valve every 12 weeks."
    assert (made.origin, made.answered) == ("model", True)
    assert len(shown) > 3  # it came as it was written


@pytest.mark.parametrize(
    "refusal",
    ["The documents do not say.", "There is no information about this.", "I cannot answer that.", ""],
)
def test_a_refusal_against_clear_evidence_is_never_shown_but_the_documents_sentence_is(refusal: str) -> None:
    made = composition()
    assert "".join(write(made, refusal)) == made.answer == QUOTED
    assert (made.origin, made.answered) == ("quotation", True)
    (citation,) = made.citations
    assert (citation.quotation, citation.numbers, citation.state) == (True, [1], "supported")
    assert made.answer[citation.start : citation.end] == QUOTED
    (source,) = citation.sources
    assert (source.path, source.version, source.locator) == ("pump.pdf", "ab12", "page 2")
    assert source.quote == "Check the valve every 12 weeks."


def test_a_refusal_stands_where_the_evidence_is_not_clear() -> None:
    made = composition(may_quote=False)
    assert "".join(write(made, "The documents do not say.")) == made.answer == "The documents do not say."
    assert (made.origin, made.answered, made.citations) == ("model", False, [])


def test_an_answer_that_nothing_supports_is_followed_by_the_documents_sentence() -> None:
    made = composition()
    shown = "".join(write(made, "Ask the captain of the ship for permission."))
    assert shown == made.answer == f"Ask the captain of the ship for permission.\n\n{QUOTED}"
    assert [citation.state for citation in made.citations] == ["unsupported", "supported"]
    assert made.answer[made.citations[1].start : made.citations[1].end] == QUOTED


def test_no_sentence_is_quoted_where_none_stands_out() -> None:
    made = composition(passage=PASSAGE.model_copy(update={"best": None}))
    write(made, "The documents do not say.")
    assert (made.answer, made.answered) == ("The documents do not say.", False)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("", True),
        ("The", True),
        ("The documents", True),
        ("The passages do not mention", True),
        ("Die Dokumente sagen", True),
        ("There is no", True),
        ("The pump runs", False),
        ("Every 12 weeks", False),
        ("Die Pumpe läuft", False),
        ("The documents are kept in the cellar, next to the old boiler and the pump room of", False),
    ],
)
def test_only_what_may_become_a_refusal_is_held(text: str, held: bool) -> None:
    assert may_refuse(text) is held


def test_what_was_held_comes_out_whole_once_it_is_no_refusal() -> None:
    opening = Opening()
    assert opening.feed("The") == opening.feed(" pump") == ""  # the word may go on
    assert opening.feed(" runs") == "The pump runs"
    assert opening.feed(" now.") == " now."
    assert opening.take() == ""
