"""A made language: its words come as often as those of a natural one do, so that indexes meet what they are for."""

from __future__ import annotations

from itertools import accumulate
from random import Random

N_WORDS = 50_000
N_STOP_WORDS = (
    100  # the most frequent; in a natural language these carry no meaning, and nobody searches for them
)
_SYLLABLES = tuple(
    start + vowel + end for start in "bdfgklmnprstvw" for vowel in "aeiou" for end in ("", "n", "r")
)


class Language:
    """Words by rank, frequent ones short; the r-th comes in proportion to 1 / r.

    Args:
        seed: the same one gives the same texts.
    Source: Zipf, Human Behavior and the Principle of Least Effort, 1949.
    """

    def __init__(self, seed: int, n_words: int = N_WORDS) -> None:
        self._random = Random(seed)
        lexicon = Random(0)  # one language, whatever is said in it
        words: dict[str, None] = {}
        while len(words) < n_words:
            n_syllables = 1 + (len(words) >= N_STOP_WORDS) + lexicon.randrange(2)
            words["".join(lexicon.choices(_SYLLABLES, k=n_syllables + len(words) // 20_000))] = None
        self._words = list(words)
        self._weights = list(accumulate(1 / rank for rank in range(1, n_words + 1)))

    def words(self, n: int) -> list[str]:
        """Return n words of running text."""
        return self._random.choices(self._words, cum_weights=self._weights, k=n)

    def sentence(self) -> str:
        """Return 8 to 20 words that begin with a capital and end with a full stop."""
        return " ".join(self.words(self._random.randint(8, 20))).capitalize() + "."

    def paragraph(self, n_words: int) -> str:
        """Return sentences of about `n_words` words together."""
        sentences: list[str] = []
        while n_words > 0:
            sentences.append(self.sentence())
            n_words -= sentences[-1].count(" ") + 1
        return " ".join(sentences)

    def query(self, text: str, n: int) -> str:
        """Return n of a text's words as somebody would search for them: none of the most frequent."""
        frequent = set(self._words[:N_STOP_WORDS])
        rare = sorted({word for word in text.replace(".", "").lower().split() if word not in frequent})
        return " ".join(self._random.sample(rare, min(n, len(rare))))
