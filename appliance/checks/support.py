"""How well one passage supports one sentence: the comparison, not the choice between passages. Pure but for vectors.

Words, figures, names and negation are compared; vectors are asked only where words do not decide. This is comparison,
not understanding: who did what to whom is not seen where the words are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from appliance.api.schema import Passage
from appliance.checks.claims import Claim, share
from appliance.checks.figures import Figure
from appliance.checks.names import KnownNames, Name, joined
from appliance.checks.negation import opposed
from appliance.text.words import Words, sentence_spans

# The figures below were set on 75 XQuAD questions with answers of a 0.5 B model and 69 pairs of a true and a corrupted
# sentence, 2026-11-30: 63 of the corrupted were found, 1 of the true was doubted.
# A passage supports a sentence when this share of what the sentence adds to the question stands in it.
# Between the other two, words alone leave it in doubt.
SUPPORTS = 0.6
# or this share, where the best sentence has so much of all its words: one word said otherwise.
NEARLY, SAME_SENTENCE = 0.5, 0.75
# A sentence whose words stand in the passage, but not together, is none that the passage says.
TOGETHER = 0.4
MAYBE, SURELY = 0.5, 0.8
# A passage sentence is about the same thing as a sentence of the answer when it has this share of its words.
_ABOUT = 0.6
_MIN_ABOUT = 2  # and at least so many of them
_RETOLD = 0.8  # share of its words from which a sentence is retold but for a name
_NEARBY = 1  # sentences before and after the best one in which a figure may stand as well


@dataclass(frozen=True, slots=True)
class Finding:
    """What a comparison found.

    Attributes:
        share: of the sentence's own words and figures that stand in the passage, 0 to 1.
        nearness: of the question's words, by rarity, that stand in the best sentence, 0 to 1.
        overlap: share of all its words that stand in the best sentence, 0 to 1.
        together: the same for that sentence and those beside it.
        missing: figures and names that the passage does not have where they would have to stand.
        conflicts: those of them in whose place it has others, and what one denies and the other affirms.
        quote: the passage's best sentence, as written.
    """

    share: float
    nearness: float
    overlap: float
    together: float
    missing: tuple[str, ...]
    conflicts: tuple[str, ...]
    quote: str

    @property
    def sameness(self) -> float:
        """How much the best sentence speaks of what the question and the sentence speak of, 0 to 2."""
        return self.overlap + self.nearness


@dataclass(frozen=True, slots=True)
class Added:
    """What a sentence of the answer adds to the question, and has to have from a passage."""

    stems: frozenset[str]
    figures: list[Figure]
    names: list[Name]

    @property
    def n_items(self) -> int:
        """Words and figures, counted."""
        return len(self.stems) + len(self.figures)


@dataclass(frozen=True, slots=True)
class Asked:
    """The question, as sentences of the answer are compared with it.

    Attributes:
        known: those of its names that some passage knows: a sentence that repeats one must have it from there too.
        weights: how rare its words are among the sentences of the passages; 0 and up.
    """

    claim: Claim
    names: KnownNames
    known: KnownNames
    weights: Mapping[str, float]

    def added_by(self, claim: Claim) -> Added:
        """Return what a sentence adds; all of it where it only repeats the question."""
        names = [n for n in claim.names if n not in self.names or n in self.known]
        figures = [f for f in claim.figures if not f.is_in(self.claim.figures)]
        stems = claim.topic - self.claim.stems
        return Added(stems, figures, names) if stems or figures else Added(claim.topic, claim.figures, names)

    def nearness(self, sentence: Claim) -> float:
        """Return the share of the question's words, by weight, that stand in a sentence, 0 to 1."""
        total = sum(self.weights.values())
        return sum(w for stem, w in self.weights.items() if stem in sentence.stems) / total if total else 0.0


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
        return Claim(text, self._words, nouns_have_capitals=self._capitals)

    def compare(self, claim: Claim, asked: Asked) -> Finding:
        """Compare a sentence of the answer with this passage."""
        if not self.sentences:
            return Finding(0.0, 0.0, 0.0, 0.0, (), (), "")
        added = asked.added_by(claim)
        scores = [_share_in(s, added) + asked.nearness(s) for s in self.sentences]
        at = scores.index(max(scores))
        best, near = self.sentences[at], self._near(at)
        figures = [figure for sentence in near for figure in sentence.figures]
        lost = Added(
            added.stems - self._stems,
            [figure for figure in added.figures if not figure.is_in(figures)],
            [name for name in added.names if name not in self.names],
        )
        return Finding(
            1.0 - lost.n_items / added.n_items if added.n_items else 0.0,
            asked.nearness(best),
            share(claim.topic, best.stems | self._place.stems),
            share(claim.topic, frozenset[str]().union(*(sentence.stems for sentence in near))),
            (*(figure.text for figure in lost.figures), *joined(lost.names, claim.text)),
            tuple(self._conflicts(claim, asked, at, lost)),
            best.text,
        )

    def _near(self, at: int) -> list[Claim]:
        """A sentence, those beside it, and what stands around the passage."""
        return [*self.sentences[max(0, at - _NEARBY) : at + _NEARBY + 1], self._place]

    def _conflicts(self, claim: Claim, asked: Asked, at: int, lost: Added) -> list[str]:
        """What stands in the sentence where the best sentence, which is about the same thing, has something else."""
        best = self.sentences[at]
        if not self._is_about(claim, asked, best, lost):
            return []
        figures = [f for f in best.figures if not f.is_in(claim.figures) and not f.is_in(asked.claim.figures)]
        said = KnownNames(claim.text)
        has_other_names = any(name not in said and name not in asked.names for name in best.names)
        names = lost.names or self._moved(claim, asked, at)
        return [
            *(figure.text for figure in lost.figures if any(figure.is_like(other) for other in figures)),
            *(joined(names, claim.text) if has_other_names else ()),
            *opposed(claim.polarity, best.polarity),
        ]

    def _moved(self, claim: Claim, asked: Asked, at: int) -> list[Name]:
        """Names that the passage has elsewhere, where the best sentence says nearly all the rest."""
        near = KnownNames("\n".join(sentence.text for sentence in self._near(at)))
        moved = [name for name in asked.added_by(claim).names if name not in near]
        rest = claim.topic - {stem for name in moved for stem in self._words.content(name.text)}
        is_retold = len(rest) > _MIN_ABOUT and share(rest, self.sentences[at].stems) >= _RETOLD
        return moved if is_retold else []

    def _is_about(self, claim: Claim, asked: Asked, best: Claim, lost: Added) -> bool:
        """Whether both sentences are about one thing, lost names aside; a short answer leans on the question."""
        subject = claim.stems - {stem for name in lost.names for stem in self._words.content(name.text)}
        known = best.stems | self._place.stems
        if len(subject) < _MIN_ABOUT or (len(subject) == _MIN_ABOUT and not subject <= known):
            subject |= asked.claim.stems
        return len(subject & known) >= _MIN_ABOUT and share(subject, known) >= _ABOUT


def _share_in(sentence: Claim, added: Added) -> float:
    """Share of what is added that stands in one sentence; another amount of the same unit is half a find."""
    found = float(len(added.stems & sentence.stems))
    for figure in added.figures:
        if figure.is_in(sentence.figures):
            found += 1.0
        elif figure.unit and any(figure.unit == other.unit for other in sentence.figures):
            found += 0.5
    return found / added.n_items if added.n_items else 0.0
