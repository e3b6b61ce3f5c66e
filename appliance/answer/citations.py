"""Which passage supports which sentence. Pure: words and numbers in, citation numbers out.

Small models cite rarely and wrongly, so a mark that the model writes is only a hint; it is taken out of the text
while it streams, and the numbers that people see are the ones found here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from appliance.answer.words import Words, numbers, sentence_spans

# A sentence counts as supported when this share of its own content words stands in one passage. Set on the examples'
# questions with the 1.5 B model: supported sentences lie above 0.7, invented ones mostly below 0.5.
_SUPPORT = 0.6
_HINT = 0.15  # what the model's own [n] adds to that passage's share
_MAX_NUMBERS = 2  # citations shown for one sentence
_CLOSE = 0.9  # a second passage is shown when it supports nearly as well as the first

_MARK = re.compile(r"\s?\[(\d{1,2}(?:\s*,\s*\d{1,2})*)\]")
_UNFINISHED_MARK = re.compile(r"\s?\[[\d\s,]*$|\s$")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One passage as the attribution sees it."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Attribution:
    """A finished sentence of the answer.

    Attributes:
        start, end: character offsets in the answer as shown.
        numbers: passages that support it, best first; empty when none does.
        quote: the sentence of the best passage that supports it.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    quote: str


class MarkStripper:
    """Takes the model's own [n] marks out of streamed text, and remembers them."""

    def __init__(self) -> None:
        self._held = ""
        self.hints: set[int] = set()

    def feed(self, text: str) -> str:
        """Return the text that can be shown now; a possible beginning of a mark is held back."""
        text = _MARK.sub(self._remember, self._held + text)
        unfinished = _UNFINISHED_MARK.search(text)
        cut = unfinished.start() if unfinished else len(text)
        self._held = text[cut:]
        return text[:cut]

    def flush(self) -> str:
        """Return what was held back; call once, at the end."""
        held, self._held = self._held, ""
        return held.rstrip()

    def take_hints(self) -> set[int]:
        """Return the marks seen since the last call."""
        hints, self.hints = self.hints, set()
        return hints

    def _remember(self, mark: re.Match[str]) -> str:
        self.hints |= {int(number) for number in mark.group(1).split(",")}
        return ""


class Attributor:
    """Attributes the sentences of one answer, as it grows, to the passages it was given."""

    def __init__(self, question: str, evidence: Sequence[Evidence], words: Words) -> None:
        self._words = words
        self._evidence = evidence
        self._passage_words = {e.number: set(words.content(e.text)) for e in evidence}
        self._passage_numbers = {e.number: numbers(e.text) for e in evidence}
        self._question_words = set(words.content(question))
        self._question_numbers = numbers(question)
        self._done_until = 0
        self._hints: set[int] = set()

    def feed(self, answer: str, hints: set[int], *, final: bool = False) -> Iterator[Attribution]:
        """Yield each sentence of `answer` that is complete and was not yielded before.

        Args:
            answer: the whole answer so far, as shown.
            hints: the model's own marks since the last call.
            final: nothing follows, so the last sentence is complete too.
        """
        self._hints |= hints
        offset = self._done_until
        spans = [(start + offset, end + offset) for start, end in sentence_spans(answer[offset:])]
        complete = spans if final else spans[:-1]
        if not complete:
            return
        self._done_until = complete[-1][1]
        for start, end in complete:
            yield self._attribute(answer[start:end], start, end)
        self._hints = set()

    def _attribute(self, sentence: str, start: int, end: int) -> Attribution:
        words = self._own_words(sentence)
        needed = numbers(sentence) - self._question_numbers
        shares = {
            number: self._share(words, number) + (_HINT if number in self._hints else 0.0)
            for number, known in self._passage_numbers.items()
            if needed <= known
        }
        best = max(shares.values(), default=0.0)
        if best < _SUPPORT:
            return Attribution(start, end, (), "")
        ranked = sorted((n for n in shares if shares[n] >= _CLOSE * best), key=lambda n: (-shares[n], n))
        return Attribution(start, end, tuple(ranked[:_MAX_NUMBERS]), self._quote(ranked[0], words))

    def _own_words(self, sentence: str) -> set[str]:
        """Words that the sentence adds to the question; all of them where it only repeats the question."""
        words = set(self._words.content(sentence))
        return words - self._question_words or words

    def _share(self, words: set[str], number: int) -> float:
        return len(words & self._passage_words[number]) / len(words) if words else 0.0

    def _quote(self, number: int, words: set[str]) -> str:
        text = next(e.text for e in self._evidence if e.number == number)
        wanted = words | self._question_words
        sentences = [text[start:end] for start, end in sentence_spans(text)]
        return max(sentences, key=lambda s: len(wanted & set(self._words.content(s))), default=text)
