"""Which passage supports which sentence of an answer, as it grows.

Small models cite rarely and wrongly, so a mark that the model writes is only a hint; it is taken out of the text
while it streams, and the numbers that people see are the ones found here. How a sentence and a passage are compared
is in `support`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from appliance.api.schema import Citation, Passage, Source
from appliance.checks.claims import Claim
from appliance.checks.likeness import Likeness, SentenceEmbedder
from appliance.checks.names import KnownNames, joined
from appliance.checks.support import (
    MAYBE,
    NEARLY,
    SAME_SENTENCE,
    SUPPORTS,
    SURELY,
    TOGETHER,
    Asked,
    Backing,
    Finding,
)
from appliance.text.guard import LABEL_LETTERS, NAMES, says_nothing
from appliance.text.language import detect
from appliance.text.words import Words, sentence_spans

_HINT = 0.15  # what the model's own mark adds to that passage
_RANK = 0.03  # what each place further down in retrieval takes away
_MAX_NUMBERS = 2  # citations shown for one sentence
_AS_WELL = 0.9  # a second passage is cited when it supports at least so nearly as well as the first
_CLEARER = (
    0.15  # by how much more a passage must be about the same thing to contradict what another one supports
)
# Cosine of a sentence to the passage's nearest one where words are in doubt: from the first on it supports with fewer
# words than `SUPPORTS`, below the second not even with more. With all-MiniLM-L6-v2 on 75 XQuAD questions, 2026-11-30:
# true sentences 0.42 to 0.92 (median 0.74), sentences of other topics below 0.21, with one word changed up to 0.86.
_ALIKE = 0.65
_UNLIKE = 0.3
_STANDS_ALONE = 3  # content words; a shorter answer is compared together with the question
_N_LIKELY = 6  # sentences of a passage that are embedded
_MIN_QUOTED = 4  # words that make a quotation: "Von Miller." stands word for word in many texts

_MARK = re.compile(rf"\s?{NAMES}")
_UNFINISHED_MARK = re.compile(rf"\s?\[[\d\s,{LABEL_LETTERS}]*$|\s$")
_LIST_MARK = re.compile(r"\d{1,2}[.)]")


class MarkStripper:
    """Takes the model's own marks, [label] or [n], out of streamed text, and remembers them.

    Args:
        labels: each label that the model may write → its passage's number, 0: no passage's. Others are text: "[rpm]".
    """

    def __init__(self, labels: Mapping[str, int]) -> None:
        self._labels = labels
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
        """Return the numbers of the passages that were marked since the last call."""
        hints, self.hints = self.hints, set()
        return hints

    def _remember(self, mark: re.Match[str]) -> str:
        names = [name.strip() for name in mark.group(1).split(",")]
        if not all(name.isdigit() for name in names) and not any(name in self._labels for name in names):
            return mark.group()
        self.hints |= {int(name) if name.isdigit() else self._labels.get(name, 0) for name in names}
        return ""


@dataclass(frozen=True, slots=True)
class _Compared:
    """A passage and what was found in it; `score` ranks passages, higher is better."""

    passage: Passage
    finding: Finding
    score: float
    supports: bool


class Attributor:
    """Attributes the sentences of one answer, as it grows, to the passages it was given.

    Args:
        passages: those that the model read, best first; no other is ever cited.
        embedder: asked where words alone do not decide; None: words alone.
    """

    def __init__(
        self,
        question: str,
        passages: Sequence[Passage],
        words: Words,
        embedder: SentenceEmbedder | None = None,
    ) -> None:
        self._words = words = words.of(question)
        self._capitals = detect("\n".join([question, *(p.text for p in passages)])).code == "de"
        self._backings = [Backing(p, words, nouns_have_capitals=self._capitals) for p in passages]
        self._likeness = Likeness(embedder) if embedder else None
        self._question = question
        self._asked: Asked | None = None
        self._done_until = 0
        self._hints: set[int] = set()

    def feed(self, answer: str, hints: set[int], *, final: bool = False) -> Iterator[Citation]:
        """Yield a citation for each sentence of `answer` that is complete and was not yielded before.

        Args:
            answer: the whole answer so far, as shown.
            hints: the passages that the model itself marked since the last call.
            final: nothing follows, so the last sentence is complete too.
        """
        self._hints |= hints
        offset = self._done_until
        spans = _with_list_marks(
            answer, [(s + offset, e + offset) for s, e in sentence_spans(answer[offset:])]
        )
        complete = spans if final else spans[:-1]
        if not complete:
            return
        self._done_until = complete[-1][1]
        for start, end in complete:
            if citation := self._cite(answer[start:end], start, end):
                yield citation
        self._hints = set()

    def _cite(self, sentence: str, start: int, end: int) -> Citation | None:
        """Return what is to be said of a sentence; None where it claims nothing."""
        if says_nothing(sentence) or not any(c.isalnum() for c in sentence):
            return None  # a refusal has nothing to support it, and needs nothing
        claim = Claim(sentence, self._words, nouns_have_capitals=self._capitals)
        compared = sorted(
            (self._compare(backing, claim) for backing in self._backings), key=lambda c: -c.score
        )
        supporting = [c for c in compared if c.supports]
        against = max(
            (c for c in compared if c.finding.conflicts), key=lambda c: c.finding.sameness, default=None
        )
        if against and (
            not supporting or against.finding.sameness > supporting[0].finding.sameness + _CLEARER
        ):
            return Citation(
                start=start, end=end, state="contradicted", numbers=[], quote=against.finding.quote,
                sources=[source(against.passage, against.finding.quote)], conflicts=list(against.finding.conflicts),
            )  # fmt: skip
        if not supporting:
            if sentence.endswith(":") and not (claim.figures or claim.names):
                return None  # "The steps are:" announces, and claims nothing
            return Citation(start=start, end=end, state="unsupported", numbers=[])
        cited = [c for c in supporting if _says_as_well(c, supporting[0])][:_MAX_NUMBERS]
        return Citation(
            start=start, end=end, numbers=[c.passage.number for c in cited], quote=cited[0].finding.quote,
            sources=[source(c.passage, c.finding.quote) for c in cited], quotation=_is_quoted(claim, cited[0].passage),
        )  # fmt: skip

    def _compare(self, backing: Backing, claim: Claim) -> _Compared:
        finding = backing.compare(claim, self._ask())
        number = backing.passage.number
        score = finding.share + finding.nearness + 0.5 * finding.overlap - _RANK * (number - 1)
        score += _HINT if number in self._hints else 0.0
        supports = not finding.missing and not finding.conflicts and self._is_enough(backing, claim, finding)
        return _Compared(backing.passage, finding, score, supports)

    def _is_enough(self, backing: Backing, claim: Claim, finding: Finding) -> bool:
        """Whether enough of a sentence stands in a passage; vectors decide where words are in doubt."""
        if len(claim.topic) >= _STANDS_ALONE and finding.together < TOGETHER:
            return False
        if finding.share >= NEARLY and finding.overlap >= SAME_SENTENCE:
            return True
        if self._likeness is None or not MAYBE <= finding.share < SURELY:
            return finding.share >= SUPPORTS
        said = claim.text if len(claim.topic) >= _STANDS_ALONE else f"{self._question} {claim.text}"
        likely = sorted(backing.sentences, key=lambda s: -len(s.stems & claim.topic))[:_N_LIKELY]
        cosine = self._likeness.best(said, [s.text for s in likely])
        return cosine >= (_UNLIKE if finding.share >= SUPPORTS else _ALIKE)

    def _ask(self) -> Asked:
        """The question, weighed against the passages; made with the first sentence."""
        if self._asked is None:
            claim = Claim(self._question, self._words, nouns_have_capitals=self._capitals)
            sentences = [sentence.stems for backing in self._backings for sentence in backing.sentences]
            frequency = Counter(stem for known in sentences for stem in known)
            weights = {stem: math.log(1 + len(sentences) / (1 + frequency[stem])) for stem in claim.topic}
            texts = [" ".join(backing.passage.text.split()).casefold() for backing in self._backings]
            known = [
                name for name in joined(claim.names, claim.text) if any(name.casefold() in t for t in texts)
            ]
            self._asked = Asked(claim, KnownNames(self._question), KnownNames(" ".join(known)), weights)
        return self._asked


# An attributor for the answer to a question from these passages.
Attribute = Callable[[str, Sequence[Passage]], Attributor]


def source(passage: Passage, quote: str) -> Source:
    """Return where a sentence comes from."""
    return Source(
        number=passage.number, document_id=passage.document_id, path=passage.path, version=passage.version,
        locator=passage.locator, quote=quote,
    )  # fmt: skip


def _says_as_well(one: _Compared, best: _Compared) -> bool:
    """Tell whether a passage says what the best one says: not only the words, but together and as near the question."""
    if one is best:
        return True
    return (
        one.finding.share >= best.finding.share
        and one.finding.overlap >= best.finding.overlap
        and one.finding.nearness >= _AS_WELL * best.finding.nearness
    )


def _is_quoted(claim: Claim, passage: Passage) -> bool:
    said = " ".join(claim.text.split()).strip("\"“”„‘’' .")
    return len(said.split()) >= _MIN_QUOTED and said in " ".join(passage.text.split())


def _with_list_marks(answer: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join "1." at the start of a line to the sentence that it counts."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and _LIST_MARK.fullmatch(answer, *joined[-1]) and "\n" not in answer[joined[-1][1] : start]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
