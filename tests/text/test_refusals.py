"""A refusal is known in any wording and language; an answer that holds a "no" or a "not" is none."""

from __future__ import annotations

import pytest

from appliance.text.guard import says_nothing
from appliance.text.language import LANGUAGES

REFUSALS = [
    "The documents do not say.",
    "the documents don't say anything about that",
    "The documents do not say. [1]",
    "The passages do not mention the price of the pump.",
    "The passage does not provide information about the colour of the door.",
    "The provided passages do not contain any information about the year.",
    "The text does not specify who signed the contract.",
    "The context doesn’t say.",
    "The given text does not state the number of seats.",
    "These passages do not answer the question.",
    "None of the passages mentions a deposit.",
    "The information is not provided in the passage.",
    "The name of the manager is not mentioned in the passages.",
    "The exact date is not specified in the given text.",
    "The answer is not given in the passages.",
    "There is no information about the warranty.",
    "There is no mention of a deposit in the passages.",
    "There is not enough information to answer the question.",
    "No information is given on the colour.",
    "Based on the provided passages, there is no information about the price.",
    "Unfortunately, the documents do not mention it.",
    "I'm sorry, but the passages do not contain the answer.",
    "I cannot find the answer in the passages.",
    "I could not determine the price from the passages.",
    "It is not specified.",
    "Not mentioned in the passages.",
    "The passage contains no information about that.",
    "The question cannot be answered from the passages.",
    "Die Passagen erwähnen den Preis nicht.",
    "In den Dokumenten steht dazu nichts.",
    "Die Dokumente enthalten keine Informationen über den Preis.",
    "Es gibt keine Informationen über die Garantie.",
    "Der Name des Leiters wird in den Passagen nicht erwähnt.",
    "Leider: Die Dokumente sagen dazu nichts.",
    "Les passages ne mentionnent pas le prix.",
    "Les documents ne contiennent aucune information sur le prix.",
    "Il n'y a pas d'information sur la garantie.",
    "Le prix n'est pas mentionné dans les documents.",
    "Los pasajes no mencionan el precio.",
    "No hay información sobre la garantía.",
    "Los documentos no proporcionan información sobre el precio.",
    "El precio no se menciona en los documentos.",
    "I documenti non menzionano il prezzo.",
    "Os documentos não mencionam o preço.",
    "De documenten zeggen niets over de prijs.",
    "В документах нет информации о цене.",
    "文档中没有提到价格。",
    "根据文档，没有提到价格。",
    "文書には価格の記載がありません。",
    "문서에는 가격 정보가 없습니다.",
]

ANSWERS = [
    "",
    "The valve opens at 6.5 bar.",
    "There is no limit on the number of guests.",
    "No, smoking is not allowed in the boiler room.",
    "The door must not be opened.",
    "The contract does not specify a deposit.",
    "The policy says that no information may leave the house.",
    "The documents do not have to be signed.",
    "The document is not signed.",
    "The passages do not mention the year; however, the valve opens at 6.5 bar.",
    "The documents do not say who, but the fee is 20 EUR.",
    "The fee is not included in the rent.",
    "The visitor's name is given in the list.",
    "It is not allowed.",
    "The director did not agree.",
    "Nein, die Tür darf nicht geöffnet werden.",
    "Der Vertrag läuft nicht aus.",
    "Die Pumpe ist nicht wasserdicht.",
    "Non, la porte ne doit pas être ouverte.",
    "Le contrat n'est pas renouvelable.",
    "No, la puerta no debe abrirse.",
    "La bomba no es resistente al agua.",
    "Насос не защищён от воды.",
    "泵的压力是5巴。",
]


@pytest.mark.parametrize("answer", [*REFUSALS, *(language.does_not_say for language in LANGUAGES)])
def test_a_refusal_is_known_in_any_wording(answer: str) -> None:
    assert says_nothing(answer)


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_with_a_no_in_it_is_no_refusal(answer: str) -> None:
    assert not says_nothing(answer)
