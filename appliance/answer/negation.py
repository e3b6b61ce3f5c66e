"""What a sentence denies, and whether another sentence affirms it. Pure.

English and German, by words: "must not be opened" denies "opened". Irony, "hardly" and double negation are not
understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from appliance.answer.words import Words

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
        denied: all stems within reach of a negator.
        stems: of the sentence.
        texts: how each denial reads ("not be opened"), parallel to `heads`.
        plain: it says yes throughout.
    """

    heads: tuple[str, ...]
    denied: frozenset[str]
    stems: frozenset[str]
    texts: tuple[str, ...]
    plain: bool


def polarity(sentence: str, words: Words) -> Polarity:
    """Read a sentence."""
    heads: list[str] = []
    texts: list[str] = []
    denied: set[str] = set()
    for clause in _clauses(sentence):
        for i, match in enumerate(clause):
            if not (scope := _scope(clause, i, words)):
                continue
            reached, last = scope
            heads.append(reached[0])
            texts.append(sentence[match.start() : max(match.end(), last.end())])
            denied.update(reached)
    stems = frozenset(words.content(sentence))
    plain = not heads and not _SOFT.search(sentence)
    return Polarity(tuple(heads), frozenset(denied), stems, tuple(texts), plain)


def opposed(said: Polarity, known: Polarity) -> list[str]:
    """Return what one of two sentences on the same thing denies and the other affirms; empty when they agree.

    A denial in `said` also counts where `known` says yes throughout, in other words ("not attached", "is fixed to").
    """
    ours = [
        text
        for head, text in zip(said.heads, said.texts, strict=True)
        if known.plain or _affirms(known, head)
    ]
    theirs = [text for head, text in zip(known.heads, known.texts, strict=True) if _affirms(said, head)]
    return list(dict.fromkeys([*ours, *theirs]))


def _affirms(sentence: Polarity, stem: str) -> bool:
    return stem in sentence.stems and stem not in sentence.denied


def _clauses(sentence: str) -> list[list[re.Match[str]]]:
    clauses: list[list[re.Match[str]]] = [[]]
    for token in _TOKEN.finditer(sentence):
        if token.group().casefold() in _BREAKS:
            clauses.append([])
        else:
            clauses[-1].append(token)
    return clauses


def _scope(clause: list[re.Match[str]], i: int, words: Words) -> tuple[list[str], re.Match[str]] | None:
    """Return the stems that token `i` denies, nearest first, and the token they reach to; None if it denies nothing."""
    word = clause[i].group().casefold()
    before, after = clause[:i], clause[i + 1 :]
    if word in _BANS:
        stems = [stem for token in reversed(before) for stem in words.content(token.group())]
        stems += [stem for token in after for stem in words.content(token.group())]
        return (stems, clause[i]) if stems else None
    if word not in NEGATORS and not word.endswith(("n't", "n’t")):
        return None
    if after and after[0].group().casefold() in _BOUNDS:
        return None
    ahead = [(stem, token) for token in after for stem in words.content(token.group())][:_REACH]
    if ahead:
        return [stem for stem, _ in ahead], ahead[0][1]
    # German puts the negator last: "öffnen Sie die Tür nicht".
    behind = [stem for token in reversed(before) for stem in words.content(token.group())][:_REACH]
    return (behind, clause[i]) if behind else None
