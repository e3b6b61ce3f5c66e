"""Passages shortened for a slow box, and questions that lean on the one before."""

from __future__ import annotations

import pytest

from appliance.answer.followup import ALL, STRONG, WEAK, context, leans
from appliance.answer.prompt import PastTurn
from appliance.answer.trim import GAP, allot, shorten
from appliance.api.schema import Passage
from appliance.retrieval.query import Context
from appliance.text.words import Words

SENTENCES = [
    "The station was built in 1912.",
    "Its roof is green.",
    "The pump runs at 60 °C.",
    "The engineer checks the valve of the pump every week.",
    "Lunch is at noon.",
]
TEXT = " ".join(SENTENCES)


def shortened(room: int, best: int | None = 2) -> str:
    start = TEXT.index(SENTENCES[best]) if best is not None else 0
    passage = Passage(
        number=1, chunk_id=1, document_id=1, path="a.txt", title="", locator="", place={}, text=TEXT, score=1.0,
        best=None if best is None else (start, start + len(SENTENCES[best])),
    )  # fmt: skip
    words = Words()
    return shorten(passage, len(TEXT), room, set(words.content("how hot is the pump")), words).text


def test_a_passage_that_fits_stays_as_it_is() -> None:
    assert shortened(len(TEXT)) == TEXT


def test_the_best_sentence_stays_however_small_the_room() -> None:
    assert shortened(1) == SENTENCES[2]


def test_sentences_with_the_questions_words_come_before_others_and_gaps_show() -> None:
    assert shortened(len(SENTENCES[2]) + len(SENTENCES[3]) + 10) == f"{SENTENCES[2]} {SENTENCES[3]}"
    room = len(SENTENCES[0]) + len(SENTENCES[2]) + 10
    assert shortened(room, best=0) == f"{SENTENCES[0]}{GAP}{SENTENCES[2]}"


@pytest.mark.parametrize(
    ("sizes", "room", "given"),
    [
        ([100, 100], 300, [100, 100]),
        ([100, 100], 100, [100, 0]),
        ([20, 100], 100, [20, 80]),
        ([100, 20, 100], 150, [100, 20, 30]),
        ([50, 100, 100, 20], 150, [50, 40, 40, 20]),
        ([100], 40, [40]),
        ([], 100, []),
    ],
)
def test_the_best_passage_stays_whole_and_the_others_share_what_is_left(
    sizes: list[int], room: int, given: list[int]
) -> None:
    assert allot(sizes, room) == given


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("and how much does it cost?", True),
        ("What about the second pump in the cellar?", True),
        ("who maintains it?", True),
        ("Und was kostet die Wartung der Pumpe im Jahr?", True),
        ("how often?", True),
        ("How often is the boiler in the cellar inspected?", False),
        ("Which documents does a new patient bring to the clinic?", False),
    ],
)
def test_a_question_leans_when_its_words_point_back_or_say_too_little(question: str, expected: bool) -> None:
    assert leans(question) is expected


FIRST = PastTurn("…", "The P-7 pump costs 300 €.", "What does the P-7 pump in the cellar cost?")


def test_the_earlier_question_and_answer_join_only_a_question_that_leans() -> None:
    found = context("and how much does it weigh?", [PastTurn("…", "old", "old?"), FIRST])
    assert found == Context(f"{FIRST.question} {FIRST.raw_answer}", ALL)
    assert context("Which documents does a new patient bring to the clinic?", [FIRST]) is None
    assert context("how often?", []) is None


@pytest.mark.parametrize(
    ("question", "weight"),
    [
        ("weight?", ALL),
        ("who maintains it?", ALL),
        ("the forklift?", WEAK),
        ("and the forklift?", STRONG),
        ("And what does the crane cost?", STRONG),
        ("What does the crane cost?", WEAK),
    ],
)
def test_the_less_a_question_names_the_more_the_context_decides(question: str, weight: float) -> None:
    found = context(question, [FIRST])
    assert found is not None
    assert found.weight == weight


@pytest.mark.parametrize("mark", [" [1]", " [bcd]", " [bcd, fgh]", "[bcd][2]"])
def test_what_the_model_marked_is_not_searched_for(mark: str) -> None:
    found = context("who maintains it?", [PastTurn("…", f"The P-7 pump costs 300 €{mark}.", FIRST.question)])
    assert found is not None
    assert found.text == f"{FIRST.question} {FIRST.raw_answer}"


def test_what_was_quoted_before_need_not_be_found_as_written() -> None:
    found = context("who maintains it?", [PastTurn("…", "“The P-7 pump costs 300 €.”", FIRST.question)])
    assert found is not None
    assert found.text == f"{FIRST.question} {FIRST.raw_answer}"


def test_the_topic_is_found_behind_a_turn_that_leaned_itself_and_a_refusal_adds_nothing() -> None:
    turns = [FIRST, PastTurn("…", "The documents do not say.", "and how much does it weigh?")]
    found = context("who maintains it?", turns)
    assert found is not None
    assert found.text == f"{FIRST.question} {FIRST.raw_answer} and how much does it weigh?"
