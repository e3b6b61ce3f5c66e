"""Figures: how they may be written, and when two are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.checks.figures import figures
from appliance.checks.written_numbers import value_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,200 or 1200", ["1200", "1200"]),
        ("1.200 Euro", ["1.2|1200 €"]),
        ("1.200.000 and 1,200,000", ["1200000", "1200000"]),
        ("1.200,50 €", ["1200.5 €"]),
        ("2.5 bar, 2,5 bar, 2.50 bar", ["2.5 bar", "2.5 bar", "2.5 bar"]),
        ("0,500 kg", ["0.5 kg"]),
        ("134 °C for 4 minutes", ["134 °C", "4 min"]),
        ("12 %, 12 percent, 12 per cent", ["12 %", "12 %", "12 %"]),
        ("$1.2 million", ["1200000 $"]),
        ("3 Millionen Euro", ["3000000 €"]),
        ("5½ sacks", ["5.5"]),
        ("-20 °C and minus 20 °C", ["-20 °C", "-20 °C"]),
        ("2–8 °C, 24-10", ["2", "8 °C", "24", "10"]),
        ("a 90-day limit", ["90 d"]),
        ("at 07:30 or 8:30 pm", ["07:30", "8:30 pm"]),
        ("the 1990s, the 5th, 30s", ["1990", "5", "30 s"]),
        ("three of twenty-five", ["3", "25"]),
        ("two hundred and five kg", ["205 kg"]),
        ("three and four", ["3", "4"]),
        ("one of them, one minute", ["1 min"]),
        ("drei Tage", ["3 d"]),
        ("X-250, 4711B, COVID-19", []),
        ("none", []),
        ("5 May 2026", ["2026-05-05 date"]),
        ("May 5th, 2026", ["2026-05-05 date"]),
        ("5. Mai 2026", ["2026-05-05 date"]),
        ("05.05.2026 or 2026-05-05", ["2026-05-05 date", "2026-05-05 date"]),
        ("03/04/2026", ["2026-03-04|2026-04-03 date"]),
        ("May 2026", ["2026"]),
    ],
)
def test_numbers_units_and_dates_are_read_however_they_are_written(text: str, expected: list[str]) -> None:
    found = [f"{'|'.join(sorted(figure.values))} {figure.unit}".strip() for figure in figures(text)]
    assert found == expected


@pytest.mark.parametrize(
    ("said", "known", "same"),
    [
        ("1200", "1,200 pieces", True),
        ("three", "3", True),
        ("3", "three boilers", True),
        ("20 mg", "20 mg", True),
        ("20 mg", "20 ml", False),
        ("20 mg", "| dose | 20 |", True),
        ("4 minutes", "4 min", True),
        ("4 minutes", "4 hours", False),
        ("5 May 2026", "2026-05-05", True),
        ("6 May 2026", "2026-05-05", False),
        ("2026", "5 May 2026", True),
        ("5 May 2026", "in 2026: 5 May", True),
        ("-20 °C", "20 °C", False),
        ("12 %", "12 percent", True),
        ("1200 €", "1.200 Euro", True),
        ("1.2 million", "1,200,000", True),
        ("7", "", False),
    ],
)
def test_a_figure_is_known_by_value_and_by_unit_where_both_name_one(
    said: str, known: str, same: bool
) -> None:
    assert figures(said)[0].is_in(figures(known)) is same


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("seven", 7),
        ("twenty-five", 25),
        ("hundred", 100),
        ("one hundred and one", 101),
        ("twenty five thousand two hundred", 25_200),
        ("two three", None),
        ("five twenty", None),
    ],
)
def test_words_say_a_number_or_none(words: str, value: int | None) -> None:
    assert value_of(words) == value


@given(st.text(alphabet="0123456789.,:-/ €%½\u202fmgtwo May20", max_size=40))
def test_any_text_is_read_in_order_and_without_overlap(text: str) -> None:
    found = figures(text)
    for figure in found:
        assert 0 <= figure.start < figure.end <= len(text)
        assert figure.values
    assert [figure.start for figure in found] == sorted(figure.start for figure in found)
