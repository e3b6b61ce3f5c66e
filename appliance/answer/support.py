"""How well one passage supports one sentence: the comparison, not the choice between passages. Pure but for vectors.

Words, figures, names and negation are compared; vectors are asked only where words do not decide. This is comparison,
not understanding: who did what to whom is not seen where the words are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from appliance.answer.claims import Claim, read, share
from appliance.answer.figures import Figure
from appliance.answer.names import KnownNames, Name, joined
from appliance.answer.negation import opposed
from appliance.answer.words import Words, sentence_spans
from appliance.api.schema import Passage

# A passage supports a sentence when this share of what the sentence adds to the question stands in it.
SUPPORTS = 0.6
# A passage sentence is about the same thing as a sentence of the answer when it has this share of its words.
ABOUT = 0.6
_MIN_ABOUT = 2  # and at least so many of them
_NEARBY = 1  # sentences before and after the best one in which a figure may stand as well


@dataclass(frozen=True, slots=True)
class Finding:
    """What a comparison found.

    Attributes:
        share: of the sentence's own words and figures that stand in the passage, 0 to 1.
        nearness: of the question's words, by rarity, that stand in the best sentence, 0 to 1.
        about: share of the sentence's words that stand in the best sentence, 0 to 1.
        missing: figures and names that the passage does not have where they would have to stand.
        conflicts: those of them in whose place it has others, and what one denies and the other affirms.
        quote: the passage's best sentence, as written.
    """

    share: float
    nearness: float
    about: float
    missing: tuple[str, ...]
    conflicts: tuple[str, ...]
    quote: str


@dataclass(frozen=True, slots=True)
class Asked:
    """The question, as claims are compared with it.

    Attributes:
        known: those of its names that some passage knows: a sentence that repeats one must have it from there too.
        weights: how rare its words are among the sentences of the passages; 0 and up.
    """

    claim: Claim
    names: KnownNames
    known: KnownNames
    weights: Mapping[str, float]


class Backing:
    """One passage, taken apart once for all sentences of an answer."""

    def __init__(self, passage: Passage, words: Words, *, nouns_have_capitals: bool = False) -> None:
        self.passage = passage
        self._words = words
        self._capitals = nouns_have_capitals

    @cached_property
    def sentences(self) -> list[Claim]:
        """The passage's sentences and table rows, in order."""
        text = self.passage.text
        return [self._read(text[start:end]) for start, end in sentence_spans(text)]

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset[str]().union(*(sentence.stems for sentence in self.sentences), self._place.stems)

    @cached_property
    def _place(self) -> Claim:
        """What stands around the passage: headings say what a table is about."""
        passage = self.passage
        return self._read(f"{passage.title}\n{passage.path}\n{passage.locator}")

    @cached_property
    def names(self) -> KnownNames:
        """All words of the passage and its place, to look up names in."""
        return KnownNames(f"{self.passage.text}\n{self._place.text}")

    def _read(self, text: str) -> Claim:
        return read(text, self._words, nouns_have_capitals=self._capitals)

    def compare(self, claim: Claim, asked: Asked) -> Finding:
        """Compare a sentence of the answer with this passage."""
        figures = [f for f in claim.figures if not f.is_in(asked.claim.figures)]
        names = [n for n in claim.names if n not in asked.names or n in asked.known]
        own = claim.stems - asked.claim.stems
        if not own and not figures:
            own, figures = claim.stems, list(claim.figures)
        scored = [self._score(s, own, figures, asked) for s in self.sentences]
        if not scored:
            return Finding(0.0, 0.0, 0.0, (), (), "")
        best = max(range(len(scored)), key=lambda i: (scored[i], -i))
        about = self._about(claim, asked, best)
        lost_figures = [f for f in figures if not f.is_in(self._figures_near(best))]
        lost_names = [n for n in names if n not in self.names]
        conflicts = self._conflicts(claim, asked, best, lost_figures, lost_names) if about >= ABOUT else []
        n_items = len(own) + len(figures)
        n_found = len(own & self._stems) + len(figures) - len(lost_figures)
        return Finding(
            n_found / n_items if n_items else 0.0,
            _weighed(asked, self.sentences[best]),
            about,
            (*(f.text for f in lost_figures), *joined(lost_names, claim.text)),
            tuple(conflicts),
            self.sentences[best].text,
        )

    def _score(self, sentence: Claim, own: frozenset[str], figures: Sequence[Figure], asked: Asked) -> float:
        n_items = len(own) + len(figures)
        n_found = len(own & sentence.stems) + sum(f.is_in(sentence.figures) for f in figures)
        return (n_found / n_items if n_items else 0.0) + _weighed(asked, sentence)

    def _about(self, claim: Claim, asked: Asked, best: int) -> float:
        """How much of what the sentence is about stands in the best sentence; a short answer leans on the question."""
        unnamed = claim.stems - {stem for name in claim.names for stem in self._words.content(name.text)}
        subject = unnamed if len(unnamed) > _MIN_ABOUT else unnamed | asked.claim.stems
        known = self.sentences[best].stems | self._place.stems
        return share(subject, known) if len(subject & known) >= _MIN_ABOUT else 0.0

    def _figures_near(self, best: int) -> list[Figure]:
        near = self.sentences[max(0, best - _NEARBY) : best + _NEARBY + 1]
        return [figure for sentence in [*near, self._place] for figure in sentence.figures]

    def _conflicts(
        self, claim: Claim, asked: Asked, best: int, figures: Sequence[Figure], names: Sequence[Name]
    ) -> list[str]:
        sentence = self.sentences[best]
        others = [
            f for f in sentence.figures if not f.is_in(claim.figures) and not f.is_in(asked.claim.figures)
        ]
        said = KnownNames(claim.text)
        other_names = [n for n in sentence.names if n not in said and n not in asked.names]
        found = [f.text for f in figures if any(f.is_like(other) for other in others)]
        found += joined(list(names), claim.text) if other_names else []
        return found + opposed(claim.polarity, sentence.polarity)


def _weighed(asked: Asked, sentence: Claim) -> float:
    total = sum(asked.weights.values())
    found = sum(weight for stem, weight in asked.weights.items() if stem in sentence.stems)
    return found / total if total else 0.0
