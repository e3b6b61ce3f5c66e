"""Which language a text is in, and what is said in it. Pure; small, by script and by the commonest words.

It need only be right for questions in the languages below. A text that shows no language counts as English.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from appliance.text.stop_words import STOP_WORDS

_WORD = re.compile(r"[^\W\d_]+")
_N_LOOKED_AT = 2000  # characters of a long text that decide


@dataclass(frozen=True, slots=True)
class Language:
    """A language that questions are asked in.

    Attributes:
        code: ISO 639-1.
        name: in English, as a prompt names it.
        does_not_say: "The documents do not say." in this language.
        stemmer: Snowball's name for it; empty where words do not change their endings.
    """

    code: str
    name: str
    does_not_say: str
    stemmer: str = ""

    @property
    def stop_words(self) -> frozenset[str]:
        """Words of this language that say nothing of a text's subject."""
        return _STOP_WORDS.get(self.code, frozenset())


_STOP_WORDS = {code: frozenset(words.split()) for code, words in STOP_WORDS.items()}

ENGLISH = Language("en", "English", "The documents do not say.", "english")
LANGUAGES = (
    ENGLISH,
    Language("de", "German", "Die Dokumente sagen dazu nichts.", "german"),
    Language("fr", "French", "Les documents ne le disent pas.", "french"),
    Language("es", "Spanish", "Los documentos no lo dicen.", "spanish"),
    Language("it", "Italian", "I documenti non lo dicono.", "italian"),
    Language("pt", "Portuguese", "Os documentos não o dizem.", "portuguese"),
    Language("nl", "Dutch", "De documenten zeggen daar niets over.", "dutch"),
    Language("sv", "Swedish", "Dokumenten säger inget om det.", "swedish"),
    Language("pl", "Polish", "Dokumenty nic o tym nie mówią.", "polish"),
    Language("ru", "Russian", "В документах об этом ничего не сказано.", "russian"),
    Language("zh", "Chinese", "文档中没有说明。"),
    Language("ja", "Japanese", "文書には記載がありません。"),
    Language("ko", "Korean", "문서에는 나와 있지 않습니다."),
)
BY_CODE = {language.code: language for language in LANGUAGES}

# Scripts that name their language; kana before ideographs, which Japanese has too.
_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("ko", re.compile("[\u1100-\u11ff\uac00-\ud7a3]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
)
# Letters that one of our languages has and the others do not, or hardly.
_LETTERS = {
    "de": "ßäöü",
    "fr": "èêëçœîûù",
    "es": "ñ¿¡",
    "it": "òì",
    "pt": "ãõ",
    "sv": "åäö",
    "pl": "ąćęłńśźż",
}


def detect(text: str) -> Language:
    """Return the language of a question or passage; English where nothing speaks for another."""
    return _detect(text[:_N_LOOKED_AT])


@lru_cache(maxsize=256)
def _detect(text: str) -> Language:
    words = _WORD.findall(text.casefold())
    n_letters = sum(map(len, words))
    for code, script in _SCRIPTS:
        # A third, for names and codes in Latin letters stand in questions of all languages.
        if n_letters and len(script.findall(text)) * 3 > _share_needed(code) * n_letters:
            return BY_CODE[code]
    return _by_words(words)


def _share_needed(code: str) -> float:
    return 0.5 if code == "ja" else 1.0  # a Japanese sentence may be mostly ideographs


def _by_words(words: list[str]) -> Language:
    """The language that most of the words are common in; English where it is as good as any."""
    scores: Counter[str] = Counter({"en": 0})
    for code, common in _STOP_WORDS.items():
        scores[code] += 2 * sum(word in common for word in words)
    for code, letters in _LETTERS.items():
        scores[code] += sum(any(letter in word for letter in letters) for word in words)
    best, score = max(scores.items(), key=lambda item: (item[1], item[0] == "en"))
    return BY_CODE[best] if score > scores["en"] else ENGLISH
