"""What a question is searched for: its words, and what must be found as written."""

from __future__ import annotations

import pytest

from appliance.retrieval.query import (
    EXACT_WEIGHT,
    MAX_SCORED,
    NAMED_DOCUMENT_WEIGHT,
    NAMES_WEIGHT,
    PLAIN_WEIGHT,
    Query,
    match,
)
from appliance.text.words import Words

WORDS = Words()


@pytest.mark.parametrize(
    ("question", "exact"),
    [
        ("Where is part AX-4471/B stored?", ("AX-4471/B",)),
        ("where is ax-4471/b", ("ax-4471/b",)),
        ("What does ISO 13485:2016 ask for?", ("ISO 13485:2016",)),
        ("Is EN 60601-1 met?", ("EN 60601-1",)),
        ("Is a dose of 10.5 mg allowed?", ("10.5 mg",)),
        ('Who said "lost in transit"?', ("lost in transit",)),
        ("Wer schrieb „auf eigene Gefahr“?", ("auf eigene Gefahr",)),
        ("What means error 0x80070057?", ("0x80070057",)),
        ("Who paid invoice 20231187?", ("20231187",)),
        ("What changed in 2.0.1?", ("2.0.1",)),
        ("Call 0800-123-456", ("0800-123-456",)),
        ("What does the pump in hall A cost?", ("hall A",)),
        ("Wer ist gegen Hepatitis B geimpft?", ("Hepatitis B",)),
        ("Where can I read of Samuel L. Jackson?", ()),
        ("How was the season 1973-74?", ()),
        ("What happened in the mid-1970s to a 38-year-old?", ()),
        ("Who won Super Bowl 50 in 2016?", ()),
        ("What was the revenue in FY2018?", ()),
        ("Who owes 1,200 euros?", ()),
    ],
)
def test_codes_measures_and_quotations_are_told_from_numbers_of_everyday_life(
    question: str, exact: tuple[str, ...]
) -> None:
    assert Query.of(question, WORDS).exact == exact


@pytest.mark.parametrize(
    ("exact", "text", "stands"),
    [
        ("AX-4471/B", "Shelf 3: AX-4471/B, 12 pieces", True),
        ("AX-4471/B", "the ax 4471/b valve", True),
        ("AX-4471/B", "AX-4471/BX and AX-44711/B", False),
        ("hall A", "the pump, in hall A, costs", True),
        ("hall A", "the hall is a large one", False),
        ("10.5 mg", "give 10.5mg at night", True),
        ("10.5 mg", "give 110.5 mg, 10.55 mg or 10-5 mg", False),
        ("ISO 13485:2016", "certified by ISO\u00a013485:2016.", True),
        ("ISO 13485:2016", "certified by ISO 13485:2003", False),
        ('"lost in transit"', "it was Lost  in transit, they say", True),
        ('"lost in transit"', "lost, and in transit", False),
    ],
)
def test_what_the_index_finds_is_compared_with_the_text(exact: str, text: str, stands: bool) -> None:
    assert Query.of(f"Where is {exact}?", WORDS).holds(text) == float(stands)


def test_the_weight_of_vectors_depends_on_the_question() -> None:
    assert Query.of("Where is AX-4471/B?", WORDS).dense_weight() == EXACT_WEIGHT
    assert Query.of("Where did Tesla live?", WORDS).dense_weight() == NAMES_WEIGHT
    assert Query.of("How do plants eat?", WORDS).dense_weight() == PLAIN_WEIGHT
    assert Query.of("How do plants eat?", WORDS).dense_weight(names_document=True) == NAMED_DOCUMENT_WEIGHT
    assert EXACT_WEIGHT < NAMES_WEIGHT <= PLAIN_WEIGHT < NAMED_DOCUMENT_WEIGHT


def test_frequent_words_need_a_rarer_one_beside_them() -> None:
    few = match(["valve", "pump"], {"valve": 10, "pump": 20}, 1000)
    assert few.fts == few.every == '"valve" OR "pump"'
    many = match(["pump", "valve"], {"valve": 10, "pump": MAX_SCORED}, 100_000)
    assert many.fts == '("valve") AND ("pump" OR "valve")'
    assert many.highest > match(["pump"], {"pump": MAX_SCORED}, 100_000).highest
    assert match(["pump"], {"pump": 10 * MAX_SCORED}, 100_000).fts == '"pump"'
    assert match([], {}, 10).fts == ""


def test_a_fiscal_year_is_its_year() -> None:
    assert "2019" in Query.of("What was the revenue in FY2019?", WORDS).words
