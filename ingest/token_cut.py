"""A text cut by tokens: counted, shortened, or in pieces that end with sentences. Pure, linear in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

CUT_SHARE = 0.25  # of a too long sentence's piece that may stay empty so that the cut falls between words
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]{0,3}\s+|(?<=[。！？])|\n")
MAX_TOKEN_CHARS = 20  # English has four or five
# Characters given to the tokenizer at once: one line of 60 MB must not cost the daemon gigabytes.
MAX_COUNTED = 10_000


class Tokenizer(Protocol):
    """The embedder's way of counting; special tokens are not counted."""

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        ...

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Return each token's (start, end) in characters, in order."""
        ...


class TokenCut:
    """Cuts texts with one tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        """Return what a text takes of a chunk: its tokens, but at least one for `MAX_TOKEN_CHARS` characters.

        A word that the embedder does not know may be one token however long it is; the language model reads it all.
        """
        least = -(-len(text) // MAX_TOKEN_CHARS)
        return least if len(text) > MAX_COUNTED else max(least, self._tokenizer.count_tokens(text))

    def first(self, text: str, n_tokens: int) -> str:
        """Return the beginning of a text, at a token's end, that has at most `n_tokens` when counted alone."""
        text = text[:MAX_COUNTED]
        short, n_kept = text, n_tokens
        while n_kept > 0 and self._tokenizer.count_tokens(short) > n_tokens:
            spans = self._tokenizer.token_spans(text)
            short = text[: spans[min(n_kept, len(spans)) - 1][1]].rstrip()
            n_kept -= 1
        return short if n_kept > 0 else ""

    def pieces(self, text: str, first: int, rest: int) -> list[str]:
        """Cut a text at sentence ends into a piece of at most `first` tokens and others of at most `rest`."""
        pieces: list[str] = []
        start = n_used = 0
        room = first
        for at, n_tokens in self._sentences(text, max(1, min(first, rest))):
            if n_used and n_used + n_tokens > room:
                pieces.append(text[start:at])
                start, n_used, room = at, 0, rest
            n_used += n_tokens
        pieces.append(text[start:])
        return [piece.strip() for piece in pieces if piece.strip()]

    def _sentences(self, text: str, limit: int) -> Iterator[tuple[int, int]]:
        """Yield (start, tokens) of each sentence, and of each part of a sentence that is over the limit."""
        ends = [match.end() for match in SENTENCE_END.finditer(text)]
        start = 0
        for end in _short_steps(0, [*ends, len(text)]):
            sentence = text[start:end]
            n_tokens = self.count(sentence)
            if n_tokens <= limit:
                yield start, n_tokens
            else:
                for offset, n_part in self._windows(sentence, limit):
                    yield start + offset, n_part
            start = end

    def _windows(self, text: str, limit: int) -> Iterator[tuple[int, int]]:
        """Yield (start, tokens) of parts of a long sentence, cut between words where that costs little."""
        spans = [step for span in self._tokenizer.token_spans(text) for step in _char_steps(*span)]
        i = 0
        while i < len(spans):
            j = _between_words(spans, i, min(i + limit, len(spans)), limit)
            # Half a word may have more tokens alone than it had in its word.
            while (n_tokens := self.count(_part(text, spans, i, j))) > limit and j - i > 1:
                j -= max(1, (j - i) // 8)
            yield (spans[i][0] if i else 0), n_tokens
            i = j


def _between_words(spans: Sequence[tuple[int, int]], i: int, j: int, limit: int) -> int:
    """Move the end of a window back to a gap between tokens, if one is near."""
    if j == len(spans):
        return j
    for k in range(j, max(i + 1, j - int(limit * CUT_SHARE)) - 1, -1):
        if spans[k][0] > spans[k - 1][1]:
            return k
    return j


def _part(text: str, spans: Sequence[tuple[int, int]], i: int, j: int) -> str:
    return text[spans[i][0] if i else 0 : spans[j][0] if j < len(spans) else len(text)]


def _char_steps(start: int, end: int) -> Iterator[tuple[int, int]]:
    for at in range(start, end, MAX_TOKEN_CHARS):
        yield at, min(at + MAX_TOKEN_CHARS, end)


def _short_steps(start: int, ends: Iterable[int]) -> Iterator[int]:
    """Yield the ends, and others between those that are too far apart to be counted at once."""
    for end in ends:
        yield from range(start + MAX_COUNTED, end, MAX_COUNTED)
        yield end
        start = end
