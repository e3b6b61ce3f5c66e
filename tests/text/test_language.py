"""The language of a question is told by its script and its commonest words."""

from __future__ import annotations

import pytest

from appliance.text.language import BY_CODE, LANGUAGES, Language, detect
from appliance.text.stop_words import STOP_WORDS

QUESTIONS = {
    "en": ["At what pressure does the safety valve open?", "Boiler pressure?", "Who won the war?", "XR-200", "",
           "What does the word 'über' mean?", "Did they die in the war?", "Tell me about the hat of Der Spiegel"],
    "de": ["Wie hoch ist der Druck im Kessel?", "Wer leitet die Abteilung?", "Was war die Ursache?",
           "Nenne den Preis.", "Wann öffnet das Büro?", "Kündigungsfrist?"],
    "fr": ["Quelle est la pression de la chaudière ?", "Qui dirige le service ?", "Combien coûte l'abonnement ?",
           "Quand ouvre le bureau ?"],
    "es": ["¿Cuál es la presión de la caldera?", "Quién dirige el departamento?", "Dónde está la llave?"],
    "it": ["Qual è la pressione della caldaia?", "Chi dirige il reparto?", "Dove si trova la chiave?"],
    "pt": ["Qual é a pressão da caldeira?", "Onde está a chave?"],
    "nl": ["Hoe hoog is de druk in de ketel?", "Waar ligt de sleutel?"],
    "sv": ["Vad är trycket i pannan?", "Vem leder avdelningen?"],
    "pl": ["Jakie jest ciśnienie w kotle?", "Kto kieruje działem?"],
    "ru": ["Какое давление в котле?", "Кто руководит отделом XR-200?"],
    "zh": ["锅炉的压力是多少？", "XR-200 的价格是多少？"],
    "ja": ["ボイラーの圧力はいくらですか？", "営業時間は？"],
    "ko": ["보일러의 압력은 얼마입니까?"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("question", "code"), [(q, code) for code, questions in QUESTIONS.items() for q in questions]
)
def test_a_question_shows_its_language(question: str, code: str) -> None:
    assert detect(question).code == code


def test_each_language_has_its_refusal_and_those_with_spaces_their_stop_words() -> None:
    assert set(QUESTIONS) == set(BY_CODE)
    assert len({language.does_not_say for language in LANGUAGES}) == len(LANGUAGES)
    assert {language.code for language in LANGUAGES if language.stemmer} == set(STOP_WORDS)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.code)
def test_each_refusal_is_in_its_own_language(language: Language) -> None:
    assert detect(language.does_not_say) == language
