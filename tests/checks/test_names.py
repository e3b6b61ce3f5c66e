"""Names and codes: which words are some, and whether a text knows them."""

from __future__ import annotations

import pytest

from appliance.checks.figures import figures
from appliance.checks.names import KnownNames, joined, names
from appliance.text.words import Words

WORDS = Words()


def found(text: str, *, german: bool = False) -> list[str]:
    return [name.text for name in names(text, WORDS, figures(text), nouns_have_capitals=german)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Filters are replaced by Mr. Okafor.", ["Okafor"]),
        ("The NFL's champion was Denver Broncos.", ["NFL", "Denver", "Broncos"]),
        ("Berlin is large.", ["Berlin"]),
        ("Filters are replaced.", []),
        ("Peyton Manning led them.", ["Peyton", "Manning"]),
        ("- Mark the box.\n- Call the pharmacy.", []),
        ("Use X-250 with COVID-19.", ["X-250", "COVID-19"]),
        ("It opens on Monday, 5 May 2026.", ["Monday"]),
        ("It weighs 5 kW and 20mg.", []),
        ("He said: “Open it.”", []),
        ("Anglo-Saxon words", []),
        ("the Anglo-Saxon words", ["Anglo-Saxon"]),
    ],
)
def test_capitals_and_codes_are_names_where_a_sentence_does_not_ask_for_the_capital(
    text: str, expected: list[str]
) -> None:
    assert found(text) == expected


def test_in_german_only_codes_and_abbreviations_are_names() -> None:
    assert found("Die Filter der Pumpe XR-200 prüft der TÜV.", german=True) == ["XR-200", "TÜV"]


@pytest.mark.parametrize(
    ("name", "text", "known"),
    [
        ("Okafor", "by Mr. Okafor's men", True),
        ("OKAFOR", "okafor", True),
        ("Beyonce", "Beyoncé sang", True),
        ("German", "the Germans", True),
        ("Norman", "Normandy", True),
        ("Saxon", "Anglo-Saxon", True),
        ("Anglo-Saxon", "Saxon and Anglo", True),
        ("NFL", "the National Football League", True),
        ("X-250", "type X-250", True),
        ("X-250", "type X-251", False),
        ("Austria", "Australia", False),
        ("Berlin", "Paris", False),
    ],
)
def test_a_name_is_known_whatever_its_ending_case_and_accents(name: str, text: str, known: bool) -> None:
    [wanted] = names(f"of {name}", WORDS)
    assert (wanted in KnownNames(text)) is known


def test_words_of_one_name_are_told_together() -> None:
    text = "The ball went to Von Miller and Ward."
    assert joined(names(text, WORDS), text) == ["Von Miller", "Ward"]
    text = "Ask Peyton Manning or Ward."
    assert joined(names(text, WORDS)[-3:], text) == ["Peyton Manning", "Ward"]
