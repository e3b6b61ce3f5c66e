"""Text as retrieval and citations see it: sentences, content words, numbers. Pure."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterator

import snowballstemmer

from appliance.text.language import ENGLISH, Language, detect

_WORD = re.compile(r"\w+(?:[.,:/\-–]\w+)*", re.UNICODE)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
# A sentence ends at . ! ? … or a line break, unless the full stop stands in a number, an abbreviation or an initial.
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？]+[”’」』）)]*|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:(?:[A-Z]\.)*[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|Nr|Fig|Sec|Art|Abs|approx|ca|vs|etc|e\.g|i\.e|z\.B|d\.h|bzw|max|min)\.$"
)
# Scripts that put no spaces between words, Korean with them, whose words carry their particles with them.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+")
# What parts their runs: hiragana, which Japanese writes its endings and particles in, and the commonest Chinese
# function words.
_PARTICLES = re.compile(
    "[\u3040-\u309f\u30fc]+(?![\u30a0-\u30ff])|多少|什么|怎么|如何|为什么|哪里|哪个|哪些|以及|或者|可以|[的是了在和与吗呢谁哪几将被把及或其从到由]"
)

_MIN_PART = 4  # letters of a stem that is looked for inside longer words
_MAX_STEMS = 100_000  # some 10 MB; a site's whole vocabulary


class Words:
    """Splits text into stems that can be compared, by the rules of one language. Thread-safe.

    Both sides of a comparison go through the same one: that of the question (`of`). Stems are remembered: the stemmer
    needs 130 µs a word, which was nine tenths of a search (2026-11-30, 167 → 20 ms).
    """

    def __init__(self, language: Language = ENGLISH) -> None:
        self._stop_words = language.stop_words
        self._stemmer = snowballstemmer.stemmer(language.stemmer) if language.stemmer else None
        self._has_parts = self._stemmer is not None and language != ENGLISH
        self._stems: dict[str, str] = {}
        self._lock = threading.Lock()  # the stemmer keeps its word in a buffer
        self._others: dict[str, Words] = {language.code: self}

    def of(self, text: str) -> Words:
        """Return the rules of the language that a question is in."""
        language = detect(text)
        with self._lock:
            if language.code not in self._others:
                other = self._others[language.code] = Words(language)
                other._others = self._others
            return self._others[language.code]

    def content(self, text: str) -> list[str]:
        """Return the stems of `text` in order, lower case, stop words dropped; numbers and codes stay whole.

        Scripts without spaces give pairs of letters.
        """
        return [self._stem(word) for word in _content_words(text, self._stop_words)]

    def held(self, wanted: Collection[str], text: str) -> set[str]:
        """Return those of the wanted stems that a text holds; not in English, also as a part of a longer word.

        German and others write compounds as one word, and endings that the stemmer leaves differ by a letter or two.
        """
        stems = set(self.content(text))
        found = stems & set(wanted)
        if self._has_parts:
            found |= {word for word in wanted if any(_akin(word, stem) for stem in stems)}
        return found

    def searched(self, text: str) -> list[str]:
        """Return what the full-text index, which stems as English does, is asked for: each content word once.

        One that ends in * stands for all that begin so.
        """
        words = dict.fromkeys(_content_words(text, self._stop_words))
        return list(dict.fromkeys(map(self._beginning, words))) if self._has_parts else list(words)

    def _beginning(self, word: str) -> str:
        stem = self._stem(word)
        return f"{stem}*" if len(stem) >= _MIN_PART and stem.isalpha() else word

    def _stem(self, word: str) -> str:
        if self._stemmer is None or any(c.isdigit() for c in word):
            return word
        stem = self._stems.get(word)
        if stem is None:
            with self._lock:
                stem = str(self._stemmer.stemWord(word))
                if len(self._stems) >= _MAX_STEMS:
                    self._stems.clear()
                self._stems[word] = stem
        return stem


def _akin(word: str, other: str) -> bool:
    """Tell whether two stems are one word in two forms, or one is a part of the other."""
    short, long = sorted((word, other), key=len)
    if len(short) < _MIN_PART:
        return False
    n_alike = next(
        (i for i, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short)
    )
    return long.endswith(short) or n_alike >= max(_MIN_PART, len(short) - 1)


def surface_words(text: str) -> list[str]:
    """Return the content words of `text` as written, lower case, first occurrence only."""
    return list(dict.fromkeys(_content_words(text, detect(text).stop_words)))


def is_unspaced(word: str) -> bool:
    """Tell whether a word is of a script without spaces: full-text search, which parts at spaces, does not find it."""
    return _UNSPACED.search(word) is not None


def _content_words(text: str, stop_words: frozenset[str]) -> Iterator[str]:
    unspaced = not text.isascii() and _UNSPACED.search(text) is not None
    for match in _WORD.finditer(text):
        word = match.group().casefold()
        if unspaced and _UNSPACED.search(word):
            yield from _pairs(word)
        elif word not in stop_words:
            yield word


def _pairs(run: str) -> Iterator[str]:
    """Pairs of neighbouring letters, as search without a dictionary compares them; what is not of the script whole."""
    at = 0
    for part in _UNSPACED.finditer(run):
        yield from filter(None, [run[at : part.start()]])
        for piece in filter(None, _PARTICLES.split(part.group())):
            yield from (piece[i : i + 2] for i in range(max(1, len(piece) - 1)))
        at = part.end()
    yield from filter(None, [run[at:]])


def numbers(text: str) -> set[str]:
    """Return the numbers of `text`, thousands separators dropped: "1,200" and "1200" are one."""
    return {_plain(match.group()) for match in _NUMBER.finditer(text)}


def _plain(number: str) -> str:
    number = number.rstrip(".,:")
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", number):
        return number.replace(",", "")
    return number.replace(",", ".")


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) character offsets of each sentence, white space around it left out."""
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if text[match.start()] == "." and _ABBREVIATION.search(
            text[max(0, match.start() - 8) : match.start() + 1]
        ):
            continue
        yield from _trimmed(text, start, match.end())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    right = start + len(piece.rstrip())
    if left < right:
        yield left, right
