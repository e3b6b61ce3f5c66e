"""Sentences, content words and numbers."""

from __future__ import annotations

import pytest

from appliance.answer.words import Words, numbers, sentence_spans, surface_words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Set it to 2.5 bar. Wait.", ["Set it to 2.5 bar.", "Wait."]),
        ("Ask Dr. Brandt or No. 4. Then go.", ["Ask Dr. Brandt or No. 4.", "Then go."]),
        ("A line\nand another", ["A line", "and another"]),
        ('He said "stop." Then left.', ['He said "stop."', "Then left."]),
        ("  padded.  ", ["padded."]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


def test_content_words_are_stems_without_stop_words_and_codes_stay_whole() -> None:
    assert Words().content("How often are the Filters of the XR-200 replaced?") == [
        "often",
        "filter",
        "xr-200",
        "replac",
    ]


def test_surface_words_keep_their_first_occurrence_only() -> None:
    assert surface_words("Filter, filter and Pump") == ["filter", "pump"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,200 EUR or 1200", {"1200"}),
        ("2.5 bar, 2,5 bar", {"2.5"}),
        ("at 07:30.", {"07:30"}),
        ("none", set()),
    ],
)
def test_numbers_are_compared_as_values_not_as_written(text: str, found: set[str]) -> None:
    assert numbers(text) == found
