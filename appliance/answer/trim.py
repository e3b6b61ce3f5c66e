"""Passages shortened to the sentences that matter, for a box that reads slowly. Pure.

What people are shown stays whole; only what the model reads is shortened, and the reply says so.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from appliance.api.schema import Passage
from appliance.text.words import Words, sentence_spans

GAP = " … "  # where sentences were left out
_BESIDE = 0.5  # what standing beside the best sentence is worth, in words of the question


def allot(sizes: Sequence[int], room: int) -> list[int]:
    """Divide a token budget among passages: the best one first, since it holds most answers; the others share the rest.

    Args:
        sizes: tokens of each, best first.
    Returns:
        Tokens for each, at most its size; their sum is at most `room`. Of those that share, small ones stay whole and
        leave their room to the others.
    """
    given = [min(size, room) for size in sizes[:1]] + [0] * len(sizes[1:])
    rest = room - sum(given)
    others = sorted(range(1, len(sizes)), key=lambda i: sizes[i])
    for n_left, i in zip(range(len(others), 0, -1), others, strict=True):
        given[i] = min(sizes[i], rest // n_left)
        rest -= given[i]
    return given


def shorten(passage: Passage, n_tokens: int, room: int, wanted: Set[str], words: Words) -> Passage:
    """Return a passage whose text keeps the sentences nearest to the question, in their order, within `room` tokens.

    Args:
        n_tokens: of the whole text; a sentence's are taken to be its share of the characters.
        wanted: the question's words, as stems.
    """
    text = passage.text
    if n_tokens <= room or not text:
        return passage
    spans = list(sentence_spans(text))
    kept: set[int] = set()
    used = 0.0
    for i in _by_use(passage, spans, wanted, words):
        cost = n_tokens * (spans[i][1] - spans[i][0] + len(GAP)) / len(text)
        if kept and used + cost > room:
            continue
        kept.add(i)
        used += cost
    return passage.model_copy(update={"text": _joined(text, spans, sorted(kept)), "best": None})


def _by_use(passage: Passage, spans: Sequence[tuple[int, int]], wanted: Set[str], words: Words) -> list[int]:
    """Sentences by how much they may help: the best one, then those with the question's words and those beside it."""
    best = next((i for i, span in enumerate(spans) if passage.best and span[1] > passage.best[0]), 0)

    def use(i: int) -> float:
        if i == best:
            return float("inf")
        found = len(wanted & set(words.content(passage.text[slice(*spans[i])])))
        return found + (_BESIDE if abs(i - best) == 1 else 0.0)

    return sorted(range(len(spans)), key=lambda i: (-use(i), i))


def _joined(text: str, spans: Sequence[tuple[int, int]], kept: Sequence[int]) -> str:
    pieces: list[str] = []
    for place, i in enumerate(kept):
        if place:
            before = kept[place - 1]
            pieces.append(text[spans[before][1] : spans[i][0]] if i == before + 1 else GAP)
        pieces.append(text[slice(*spans[i])])
    return "".join(pieces)
