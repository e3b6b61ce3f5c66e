"""What a sentence denies, and whether another sentence affirms it. Pure.

English and German, by words: "must not be opened" denies "opened". Irony, "hardly" and double negation are not
understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from appliance.text.words import Words

_TOKEN = re.compile(r"\w+(?:['’\-]\w+)*|[,;:.!?()–—]")
NEGATORS = frozenset(
    "not no never none neither nor without cannot nobody nothing nicht nie niemals ohne "
    "kein keine keinen keinem keiner keines".split()
)
# These deny the whole clause, whichever side the word stands on: "opening it is forbidden".
_BANS = frozenset(
    "forbidden prohibited banned impermissible disallowed verboten untersagt unzulässig".split()
)
# "No later than", "not only": a bound or an addition, nothing is denied.
_BOUNDS = frozenset(
    "later more less fewer earlier longer only just least mehr weniger später früher länger nur".split()
)
_BREAKS = frozenset(", ; : . ! ? ( ) – — but and or because although while whereas which who that if unless when until "
                    "aber sondern und oder weil obwohl während wenn".split())  # fmt: skip
# Words by which a text may say no without a negator; where one stands, a denial is not held against it.
_SOFT = re.compile(
    r"\b(?:fail|refus|lack|prevent|except|rather|instead|only|too|differ|unable|avoid|rarel|hardly|stop|reject|deny|denie"
    r"|exempt|absen|free|until|unless|less|loss|lost|un(?!der|til|ited|ion|i[tv])|in(?:valid|sufficien|correct|activ|complet))",
    re.IGNORECASE,
)
_REACH = 3  # content words after a negator that it may deny


@dataclass(frozen=True, slots=True)
class Polarity:
    """What a sentence says yes and no to.

    Attributes:
        heads: the word next to each negator, as stem: what is denied first of all.
        texts: how each denial reads ("not be opened"), parallel to `heads`.
        affirmed: stems that stand at least once out of reach of every negator.
        plain: it says yes throughout.
    """

    heads: tuple[str, ...]
    texts: tuple[str, ...]
    affirmed: frozenset[str]
    plain: bool


def polarity(sentence: str, words: Words) -> Polarity:
    """Read a sentence."""
    heads: list[str] = []
    texts: list[str] = []
    denied: set[int] = set()
    clauses = _clauses(sentence)
    for clause in clauses:
        for i, negator in enumerate(clause):
            reached = _reached(clause, i, words)
            if reached:
                heads.append(words.content(reached[0].group())[0])
                texts.append(sentence[negator.start() : max(negator.end(), reached[0].end())])
                denied.update(token.start() for token in reached)
    free = [token.group() for clause in clauses for token in clause if token.start() not in denied]
    plain = not heads and not _SOFT.search(sentence)
    return Polarity(tuple(heads), tuple(texts), frozenset(words.content(" ".join(free))), plain)


def opposed(said: Polarity, known: Polarity) -> list[str]:
    """Return what one of two sentences on the same thing denies and the other affirms; empty when they agree.

    A denial in `said` also counts where `known` says yes throughout, in other words ("not attached", "is fixed to").
    """
    ours = [text for head, text in _denials(said) if known.plain or head in known.affirmed]
    theirs = [text for head, text in _denials(known) if head in said.affirmed]
    return list(dict.fromkeys([*ours, *theirs]))


def _denials(sentence: Polarity) -> list[tuple[str, str]]:
    """What a sentence denies and nowhere affirms: "neither X nor Y won, although Y did receive one" affirms Y."""
    pairs = zip(sentence.heads, sentence.texts, strict=True)
    return [(head, text) for head, text in pairs if head not in sentence.affirmed]


def _clauses(sentence: str) -> list[list[re.Match[str]]]:
    clauses: list[list[re.Match[str]]] = [[]]
    for token in _TOKEN.finditer(sentence):
        if token.group().casefold() in _BREAKS:
            clauses.append([])
        else:
            clauses[-1].append(token)
    return clauses


def _reached(clause: list[re.Match[str]], i: int, words: Words) -> list[re.Match[str]]:
    """Return the content words that word `i` of a clause denies, nearest first; none where it is no negator."""
    word = clause[i].group().casefold()
    if word not in NEGATORS and word not in _BANS and not word.endswith(("n't", "n’t")):
        return []
    before = [token for token in reversed(clause[:i]) if words.content(token.group())]
    after = [token for token in clause[i + 1 :] if words.content(token.group())]
    if word in _BANS:
        return before + after
    if clause[i + 1 :] and clause[i + 1].group().casefold() in _BOUNDS:
        return []
    # German puts the negator last: "öffnen Sie die Tür nicht".
    return (after or before)[:_REACH]
