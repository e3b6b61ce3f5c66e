"""Sentences, content words and numbers."""

from __future__ import annotations

import pytest

from appliance.text.words import Words, numbers, sentence_spans, surface_words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Set it to 2.5 bar. Wait.", ["Set it to 2.5 bar.", "Wait."]),
        ("Ask Dr. Brandt or No. 4. Then go.", ["Ask Dr. Brandt or No. 4.", "Then go."]),
        ("A line\nand another", ["A line", "and another"]),
        ('He said "stop." Then left.', ['He said "stop."', "Then left."]),
        ("  padded.  ", ["padded."]),
        ("压力是五巴。温度是八度。", ["压力是五巴。", "温度是八度。"]),
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


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Wie oft werden die Filter der Anlage gewechselt?", "Der Filter einer Anlage: Wechsel alle 90 Tage"),
        ("Quelles sont les pressions maximales ?", "La pression maximale est de 6 bar."),
        ("¿Cuáles son las presiones máximas?", "La presión máxima es de 6 bar."),
        ("Каково давление насосов?", "Насос: давлением до 6 бар"),
    ],
)
def test_words_are_stemmed_by_the_language_of_the_question(question: str, text: str) -> None:
    english = Words()
    words = english.of(question)
    assert len(set(words.content(question)) & set(words.content(text))) >= 2
    assert words is words.of(question) is english.of(question)
    assert words.of("What is the pressure?") is english


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("锅炉的压力是多少？", ["锅炉", "压力"]),
        ("XR-200水泵", ["xr-200", "水泵"]),
        ("ボイラーの圧力はいくらですか？", ["ボイ", "イラ", "圧力"]),
        ("보일러의 압력", ["보일", "일러", "러의", "압력"]),
    ],
)
def test_scripts_without_spaces_give_pairs_of_letters(text: str, words: list[str]) -> None:
    assert Words().of(text).content(text) == words
    assert surface_words(text) == words


@pytest.mark.parametrize(
    ("question", "text", "held"),
    [
        ("Wie hoch ist der Kesseldruck?", "Der Kessel hat 2 Bar.", {"kesseldruck"}),
        ("Welche Schlüssel?", "Der Torschlüssel liegt bereit.", {"schlussel"}),
        ("¿Cuándo se riega el olivar?", "El riego del olivar es de noche.", {"rieg", "oliv"}),
        ("When is the heating serviced?", "Central heating units, reheating", {"heat"}),
        ("When does it heat?", "The reheater", set()),
    ],
)
def test_other_languages_find_words_in_compounds_and_other_forms_english_does_not(
    question: str, text: str, held: set[str]
) -> None:
    words = Words().of(question)
    assert words.held(words.content(question), text) >= held
    assert bool(held) is bool(words.held(words.content(question), text))


def test_the_index_which_stems_english_is_asked_for_beginnings_of_other_languages_words() -> None:
    words = Words()
    assert words.searched("How often are the filters of the XR-200 replaced?") == [
        "often",
        "filters",
        "xr-200",
        "replaced",
    ]
    assert words.of("Wie oft werden die Filter des XR-200 ersetzt?").searched("die Filter des XR-200 ersetzt") == [
        "filt*", "xr-200", "ersetzt*",
    ]  # fmt: skip
    assert words.of("锅炉的压力").searched("锅炉的压力") == ["锅炉", "压力"]


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
