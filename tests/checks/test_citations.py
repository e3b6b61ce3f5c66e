"""Which passage supports which sentence, as the answer streams."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from appliance.answer.draft import Draft
from appliance.api.schema import Citation, CitationEvent, Passage, TokenEvent
from appliance.checks.citations import Attributor, MarkStripper
from appliance.text.words import Words


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


LABELS = {"bcd": 1, "fgh": 2, "xwz": 3, "qrs": 0}


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
    return Draft(Attributor(question, passages, words=Words()), LABELS)


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
        ("Filters are replaced every 90 days [bcd].", [[2]]),
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


@pytest.mark.parametrize(
    ("answer", "state", "numbers", "conflicts"),
    [
        ("The autoclave runs at 134 °C for four minutes.", "supported", [1], []),
        ("The autoclave runs at 121 °C.", "contradicted", [], ["121 °C"]),
        ("The autoclave runs at 134 °C for 4 hours.", "contradicted", [], ["4 hours"]),
        ("The door may be opened under pressure.", "contradicted", [], ["Never open"]),
        ("The door must not be opened under pressure.", "supported", [1], []),
        ("Filters of the ventilation are replaced by Mr. Okafor.", "supported", [2], []),
        ("Filters of the ventilation are replaced by Mr. Tremaine.", "contradicted", [], ["Tremaine"]),
        ("The filters cost 1200 euros.", "supported", [2], []),
        ("The filters cost 1300 euros.", "contradicted", [], ["1300 euros"]),
        ("Filters are replaced every ninety days.", "supported", [2], []),
        ("The contract with Harlow and Sons ends on 2026-05-05.", "supported", [3], []),
        ("The contract with Harlow and Sons ends on May 6, 2026.", "contradicted", [], ["May 6, 2026"]),
        ("3 boilers of type X-250 are serviced.", "supported", [3], []),
        ("3 boilers of type X-260 are serviced.", "contradicted", [], ["X-260"]),
        ("The moon is made of green cheese.", "unsupported", [], []),
        ("According to the passages, filters are replaced every 90 days.", "supported", [2], []),
        ("Yes.", "unsupported", [], []),
    ],
)
def test_a_sentence_is_checked_by_words_figures_names_and_negation(
    answer: str, state: str, numbers: list[int], conflicts: list[str]
) -> None:
    [citation] = citations_of(answer)
    assert (citation.state, citation.numbers, citation.conflicts) == (state, numbers, conflicts)


GERMAN = (
    passage(1, "Der Autoklav läuft bei 134 °C. Die Tür darf unter Druck nicht geöffnet werden.", "Handbuch"),
    passage(
        2, "Die Filter der Lüftung werden alle 90 Tage gewechselt. Ein Filter kostet 1.200 Euro.", "Handbuch"
    ),
)


@pytest.mark.parametrize(
    ("answer", "state", "numbers"),
    [
        ("Der Autoklav läuft bei 134 Grad Celsius.", "supported", [1]),
        ("Der Autoklav läuft bei 121 °C.", "contradicted", []),
        ("Die Tür darf unter Druck geöffnet werden.", "contradicted", []),
        ("Die Filter der Lüftung wechselt man alle neunzig Tage.", "supported", [2]),
        ("Die Filter der Lüftung werden alle 30 Tage gewechselt.", "contradicted", []),
        ("Ein Filter kostet 1200 Euro.", "supported", [2]),
        ("Der Mond besteht aus Käse.", "unsupported", []),
    ],
)
def test_german_answers_are_checked_as_english_ones(answer: str, state: str, numbers: list[int]) -> None:
    [citation] = citations_of(answer, "Was muss man über Autoklav und Filter wissen?", GERMAN)
    assert (citation.state, citation.numbers) == (state, numbers)


@pytest.mark.parametrize(
    ("question", "answer", "numbers"),
    [
        ("How hot does the autoclave run?", "134.", [1]),
        ("How hot does the autoclave run?", "134 °C", [1]),
        ("Who replaces the filters of the ventilation?", "Okafor.", [2]),
        ("When does the contract with Harlow end?", "5 May 2026.", [3]),
        ("Which boilers are serviced?", "X-250", [3]),
        ("How hot does the autoclave run?", "121.", []),
    ],
)
def test_a_very_short_answer_is_attributed_together_with_the_question(
    question: str, answer: str, numbers: list[int]
) -> None:
    assert [citation.numbers for citation in citations_of(answer, question)] == [numbers]


def test_of_two_passages_with_the_figure_the_one_that_speaks_of_the_question_is_cited() -> None:
    passages = [
        passage(1, "The hall seats 308 people. It was built by the city."),
        passage(2, "The defense of the Panthers gave up 308 points in all."),
    ]
    [citation] = citations_of("308.", "How many points did the Panthers defense surrender?", passages)
    assert citation.numbers == [2]


def test_a_second_passage_is_cited_only_where_it_says_the_same() -> None:
    same = [
        passage(1, "Filters are replaced every 90 days."),
        passage(2, "Every 90 days filters are replaced."),
    ]
    other = [same[0], passage(2, "Filters of cars are cleaned. Tyres are replaced after 90 days, they say.")]
    assert citations_of("Filters are replaced every 90 days.", passages=same)[0].numbers == [1, 2]
    assert citations_of("Filters are replaced every 90 days.", passages=other)[0].numbers == [1]


def test_a_citation_says_where_the_sentence_comes_from() -> None:
    [citation] = citations_of("Filters of the ventilation are replaced every 90 days.")
    [source] = citation.sources
    assert (source.number, source.document_id, source.path, source.locator) == (
        2,
        12,
        "handbook-2.md",
        "page 2",
    )
    assert source.version == "ab" * 32
    assert (
        source.quote
        == citation.quote
        == ("Filters of the ventilation are replaced every 90 days by Mr. Okafor.")
    )


def test_a_contradicted_sentence_names_the_passage_that_it_conflicts_with() -> None:
    [citation] = citations_of("The filters cost 1300 euros.")
    assert [source.number for source in citation.sources] == [2]
    assert citation.quote == "They cost 1,200 euros."


@pytest.mark.parametrize(
    ("answer", "quotation"),
    [
        ("Never open the door under pressure.", True),
        ("“Never open the door under pressure”", True),
        ("The door is never opened under pressure.", False),
        ("134 °C.", False),  # two words stand in many texts
    ],
)
def test_the_documents_own_words_are_told_as_a_quotation(answer: str, quotation: bool) -> None:
    assert citations_of(answer, "How hot does the autoclave run?")[0].quotation is quotation


def test_the_models_mark_decides_between_passages_that_support_equally() -> None:
    passages = [passage(n, f"Filters are replaced yearly. Note {n} says more.") for n in (1, 2, 3)]
    [citation] = citations_of("Filters are replaced yearly [3].", passages=passages)
    assert citation.numbers[0] == 3


def test_a_passage_that_was_not_in_the_context_is_never_cited() -> None:
    assert citations_of("Filters are replaced yearly [7].", passages=[])[0].numbers == []
    [citation] = citations_of("Filters of the ventilation are replaced every 90 days [9].")
    assert citation.numbers == [2]


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [
        ("The steps are:\n1. Never open the door under pressure.\n2. Filters are replaced every 90 days.",
         ["1. Never open the door under pressure.", "2. Filters are replaced every 90 days."]),
        ("- Never open the door.\n- Filters are replaced.", ["- Never open the door.", "- Filters are replaced."]),
        ("The documents do not say.", []),
        ("Filters are replaced every 90 days. The documents do not say.", ["Filters are replaced every 90 days."]),
        ("90.", ["90."]),
    ],
)  # fmt: skip
def test_list_marks_announcements_and_refusals_claim_nothing(answer: str, sentences: list[str]) -> None:
    found = citations_of(answer)
    assert [answer[citation.start : citation.end] for citation in found] == sentences


def test_the_heading_of_a_table_counts_for_its_rows() -> None:
    table = passage(1, "Item | Price\nFilter | 12 €\nPump | 90 €", title="Price list of spare parts 2026")
    assert citations_of("In the price list of 2026 a pump costs 90 €.", passages=[table])[0].numbers == [1]
    assert citations_of("In the price list of 2026 a pump costs 12 €.", passages=[table])[0].numbers == [1]


def test_vectors_are_asked_only_where_words_leave_it_in_doubt() -> None:
    embedder = Bags()
    attributor = Attributor("What is to be known?", PASSAGES, words=Words(), embedder=embedder)
    list(
        attributor.feed(
            "Filters are replaced every 90 days. The moon is made of green cheese.", set(), final=True
        )
    )
    assert embedder.embedded == []
    doubtful = "Filters of the ventilation are swapped quarterly, all replaced."
    attributor = Attributor("What is to be known?", PASSAGES, words=Words(), embedder=embedder)
    [citation] = attributor.feed(doubtful, set(), final=True)
    assert doubtful in embedder.embedded
    assert citation.state == "supported"
    assert len(embedder.embedded) == len(set(embedder.embedded))


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
    marks = MarkStripper(LABELS)
    shown = (
        "".join(marks.feed(piece) for piece in ["Hot [", "1", ", 2] tea [see", "n] now ["]) + marks.flush()
    )
    assert shown == "Hot tea [seen] now ["
    assert marks.take_hints() == {1, 2}


@pytest.mark.parametrize(
    ("written", "shown", "hints"),
    [
        ("Hot [bcd].", "Hot.", {1}),
        ("Hot [bcd, xwz] tea.", "Hot tea.", {1, 3}),
        ("Hot [bcd][xwz] tea.", "Hot tea.", {1, 3}),
        ("Hot [bcd, 2].", "Hot.", {1, 2}),
        ("Hot [bcd, wvt].", "Hot.", {0, 1}),  # one that is nowhere, beside one that is
        ("Hot [qrs].", "Hot.", {0}),  # an earlier turn's
        ("Hot [sic], at 90 [rpm] and [PDF], see [BCD] or (bcd).",) * 2 + (set(),),
        ("Hot [1, rpm].", "Hot [1, rpm].", set()),
        ("Hot [bc", "Hot [bc", set()),
    ],
)
def test_labels_of_passages_are_marks_and_other_words_in_brackets_are_text(
    written: str, shown: str, hints: set[int]
) -> None:
    for n in (1, 2, 3, len(written)):
        marks = MarkStripper(LABELS)
        pieces = [written[i : i + n] for i in range(0, len(written), n)]
        assert "".join(map(marks.feed, pieces)) + marks.flush() == shown
        assert marks.take_hints() == hints


def test_only_what_may_become_a_mark_is_held_back() -> None:
    marks = MarkStripper(LABELS)
    assert [marks.feed(piece) for piece in ["Hot [", "b", "e", " [bc", "d"]] == ["Hot", "", " [be", "", ""]
    assert (marks.feed("]"), marks.flush(), marks.take_hints()) == ("", "", {1})


@settings(deadline=None)
@given(st.text(alphabet="abcd .[]12,\n", max_size=60), st.data())
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


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=120), st.text(max_size=120))
def test_whatever_is_said_only_passages_of_the_context_are_cited(
    question: str, answer: str, text: str
) -> None:
    for citation in citations_of(answer, question, [passage(1, text), *PASSAGES[1:]]):
        assert set(citation.numbers) <= {1, 2, 3}
        assert bool(citation.numbers) is (citation.state == "supported")
        assert bool(citation.conflicts) is (citation.state == "contradicted")
        assert bool(citation.sources) is (citation.state != "unsupported")


@pytest.mark.parametrize(
    "piece", ["1", "1.", "one ", "A. ", "- ", "not ", "minus  ", "May 5 ", "Ab ", "(", "“", "1/1/2000 "]
)
def test_a_long_strange_answer_is_read_in_time_that_grows_with_its_length(piece: str) -> None:
    started = time.perf_counter()
    citations_of(piece * 1000, "What?")
    assert time.perf_counter() - started < 5.0
