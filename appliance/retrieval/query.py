"""What is searched for: a question's words, how rare they are, and what must be found as it is written. Pure.

Part numbers, codes and "quoted phrases" are looked for as such: the full-text index cuts them at punctuation, so what
it finds is compared with the text again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from appliance.text.words import Words, is_unspaced
from ingest.library import fts_term

# Weight of the dense ranking, the rest is the lexical one's. Measured 2026-11-30, XQuAD (632 questions): half and half
# has 0.967 of the right passages first, half for questions with names and 0.6 for the others 0.968, less for names
# 0.964. Of annual reports whose tables are alike (120 questions that name company and year) half and half has 0.39
# among the first and 0.78 among the first five, 0.8 has 0.55 and 0.91: there the words stand everywhere.
EXACT_WEIGHT, NAMES_WEIGHT, PLAIN_WEIGHT, NAMED_DOCUMENT_WEIGHT = 0.3, 0.5, 0.6, 0.8

# Chunks that hold one of the words that are looked for; rarer words go first, the more frequent ones only add to the
# score. 100,000 chunks, 2026-11-30: without a limit a query scores 8,600 chunks.
MAX_SCORED = 3000

_QUOTED = re.compile(r"[\"“”„«»]([^\"“”„«»]{2,200})[\"“”„«»]")
_TOKEN = re.compile(r"[^\W_]+(?:[-–./:_#+][^\W_]+)*")
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_PLAIN_NUMBER = re.compile(
    r"(?:(?:FY|CY)?(?:1\d|20)\d\d|\d{1,4}(?:,\d{3})*|\d+(?:st|nd|rd|th|s|er|te))", re.IGNORECASE
)
_UNIT = (
    "mg|µg|kg|g|ml|cl|l|mm|cm|km|m|µm|nm|kW|kWh|MWh|MW|GW|W|kV|V|mA|A|Hz|kHz|MHz|GHz|bar|Pa|kPa|MPa|N|Nm|kN|°C|°F|"
    "MB|GB|TB|KB|ms|min|ppm|rpm|dB|lbs|lb|oz|psi|ft"
)
_MEASURE = re.compile(rf"(?<![\w.,-])(\d+(?:[.,]\d+)?)\s?({_UNIT})(?!\w)")
_FISCAL = re.compile(r"^[fc]y((?:19|20)\d\d)$")  # FY2019: texts and titles say 2019
_STANDARD = re.compile(r"\b([A-ZÄÖÜ]{2,6})[ \u00a0](\d[\d.:/-]*\w*)")
# "hall A", "hepatitis B": one letter tells two things apart, and is a stop word elsewhere. "I" is nobody's name.
_LETTERED = re.compile(r"\b([^\W\d_]{3,} [A-HJ-Z])(?![\w'’.])")
_LOOSE = r"[-–/\s\u00a0]*"  # AX-4471/B is AX 4471 B too; the points of a number are not loose


@dataclass(frozen=True, slots=True)
class Context:
    """What was said before a question.

    Attributes:
        weight: of what is found together with it, beside what the question finds alone.
    """

    text: str
    weight: float


@dataclass(frozen=True)
class Query:
    """A question as the two retrievers need it.

    Attributes:
        words: content words, lower case, each once; one that ends in * stands for all that begin so (`Words.searched`).
        exact: what must stand in a text as it does here: codes, measures, quoted phrases.
        has_names: a word inside it is capitalised.
    """

    text: str
    words: tuple[str, ...]
    exact: tuple[str, ...] = ()
    has_names: bool = False

    @classmethod
    def of(cls, text: str, words: Words) -> Query:
        """Read a question; `words` are of its language."""
        inner = text.strip().split(None, 1)[1:]
        has_names = bool(re.search(r"\b[A-ZÄÖÜ]\w", inner[0])) if inner else False
        sought = dict.fromkeys(_FISCAL.sub(r"\1", word) for word in words.searched(text))
        return cls(text, tuple(sought), tuple(_exact(text)), has_names)

    def dense_weight(self, names_document: bool = False) -> float:
        """Return how much the dense ranking counts, 0 to 1.

        Args:
            names_document: the question says which document it is about.
        """
        if self.exact:
            return EXACT_WEIGHT
        if names_document:
            return NAMED_DOCUMENT_WEIGHT
        return NAMES_WEIGHT if self.has_names else PLAIN_WEIGHT

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_pattern(each) for each in self.exact)

    def holds(self, text: str) -> float:
        """Return the share (0 to 1) of `exact` that stands in a text as written; 0 where nothing must."""
        found = sum(pattern.search(text) is not None for pattern in self._patterns)
        return found / len(self.exact) if self.exact else 0.0

    def exact_match(self) -> str:
        """Return an FTS5 query for chunks that may hold something of `exact`."""
        spellings = (spelling for each in self.exact for spelling in (each, re.sub(r"\s", "", each)))
        return _any(dict.fromkeys(spellings))


@dataclass(frozen=True, slots=True)
class Match:
    """The words of a question as an FTS5 query. Nothing in the words is FTS5 syntax.

    Attributes:
        fts: any of the words, of which frequent ones need a rarer one beside them; empty where there are none.
        every: any of the words.
        highest: the score of a text that holds every word often; 0 where there are none.
        weights: inverse document frequency of each word.
    """

    fts: str
    every: str
    highest: float
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def unspaced(self) -> dict[str, float]:
        """Weights of the words of scripts without spaces, which FTS5 finds only at the beginning of a line."""
        return {word: weight for word, weight in self.weights.items() if is_unspaced(word)}


def match(words: Sequence[str], frequency: Mapping[str, int], n_chunks: int) -> Match:
    """Return the query for any of the words.

    Args:
        frequency: chunks that hold each word.
    """
    ordered = sorted(words, key=lambda word: frequency.get(word, 0))
    n_scored, rare = 0, list[str]()
    for word in ordered:
        n_scored += frequency.get(word, 0)
        if rare and n_scored > MAX_SCORED:
            break
        rare.append(word)
    every = _any(words)
    fts = every if len(rare) == len(words) else f"({_any(rare)}) AND ({every})"
    twice = () if len(rare) == len(words) else rare  # in both halves: FTS5 counts each mention
    weights = {word: idf(frequency.get(word, 0), n_chunks) for word in words}
    highest = _HIGHEST * (sum(weights.values()) + sum(weights[word] for word in twice))
    return Match(fts, every, highest, weights)


_HIGHEST = 2.2  # k1 + 1: what BM25 gives at most for a word, in units of its rarity; FTS5 has k1 = 1.2


def idf(n_holding: int, n_chunks: int) -> float:
    """Return the inverse document frequency of a word that so many chunks hold."""
    return math.log(1 + max(1, n_chunks) / (1 + n_holding))


def by_stem(weights: Mapping[str, float], words: Words) -> dict[str, float]:
    """Return the weights of words by their stems; what is no content word has none."""
    stems = {word: words.content(word) for word in weights}
    return {stem[0]: weights[word] for word, stem in stems.items() if stem}


def _any(words: Sequence[str] | Mapping[str, object]) -> str:
    return " OR ".join(map(fts_term, words))


def _exact(text: str) -> Iterator[str]:
    """Yield what must be found as written, in the order of kinds, nothing twice or as part of another."""
    found: list[str] = []
    for each in (*_quoted(text), *_standards(text), *_measures(text), *_lettered(text), *_codes(text)):
        if not any(each.casefold() in other.casefold() for other in found):
            found.append(each)
            yield each


def _quoted(text: str) -> Iterator[str]:
    for found in _QUOTED.finditer(text):
        if phrase := found.group(1).strip(" \t\n.,;:!?"):
            yield phrase


def _standards(text: str) -> Iterator[str]:
    """ "ISO 13485:2016", "DIN 912": capitals and a number that is no year."""
    for found in _STANDARD.finditer(text):
        number = found.group(2).strip(".:/-")
        if not _PLAIN_NUMBER.fullmatch(number) or len(number) == 3:
            yield f"{found.group(1)} {number}"


def _measures(text: str) -> Iterator[str]:
    for found in _MEASURE.finditer(text):
        yield f"{found.group(1)} {found.group(2)}"


def _lettered(text: str) -> Iterator[str]:
    yield from (found.group() for found in _LETTERED.finditer(text))


def _codes(text: str) -> Iterator[str]:
    yield from (found.group() for found in _TOKEN.finditer(text) if _is_code(found.group()))


def _is_code(token: str) -> bool:
    """Tell part numbers and the like from years, ordinals, plain numbers and words with a number ("mid-1970s")."""
    if not any(c.isdigit() for c in token) or _PLAIN_NUMBER.fullmatch(token):
        return False
    parts = re.split(r"[-–./:_#+]", token)
    letters = [piece for piece in _PIECE.findall(token) if piece.isalpha()]
    if not letters:
        is_range = len(parts) == 2 and re.search(r"[-–]", token)
        return not is_range and (len(parts) > 1 or len(token) > 4)
    if any(piece.isupper() for piece in letters) and len(parts) > 1:
        return True
    if all(_PLAIN_NUMBER.fullmatch(part) or part.isalpha() for part in parts):
        return all(len(each) <= 3 for each in letters) and bool(re.search(r"(?<!\d)(?!1\d|20)\d{3}", token))
    return all(len(piece) <= 4 or piece.isupper() for piece in letters)


def _pattern(exact: str) -> re.Pattern[str]:
    parts = re.split(r"[-–/\s\u00a0]+", exact)
    joint = r"\W+" if all(part.isalpha() for part in parts) else _LOOSE
    return re.compile(
        r"(?<!\w)(?<!\d[.,])" + joint.join(map(re.escape, parts)) + r"(?!\w)(?![.,]\d)", re.IGNORECASE
    )
