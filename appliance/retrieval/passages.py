"""Ranked chunks become the passages that people and the model see: repetitions and older versions go. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from appliance.api.schema import Passage
from appliance.retrieval.joining import Chunks, Joined, join
from appliance.retrieval.versions import is_newer, same_but_for_date, same_but_for_version
from appliance.text.words import Words
from ingest.stored import StoredChunk, StoredDocument, printable

_SAME_TEXT = 0.9  # Jaccard of words above which two texts say the same, if figures and negations agree
_SAME_PLACE = 0.7  # likewise, above which two versions of a document say the same or its correction
_NEGATIONS = frozenset("no not never none without nicht kein keine keinen keiner keinem nie ohne".split())


@dataclass(frozen=True, slots=True)
class Kept:
    """A chunk that is shown.

    Attributes:
        older: paths of older versions of its document that say the same, or what it corrects.
    """

    chunk: StoredChunk
    score: float
    older: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Says:
    """What a text says, as far as words go: those without digits, and figures and negations in their order."""

    words: frozenset[str]
    figures: tuple[str, ...]
    n_negations: int

    @classmethod
    def of(cls, text: str, words: Words) -> _Says:
        content = words.content(text)
        figures = [word for word in content if any(c.isdigit() for c in word)]
        return cls(
            frozenset(content).difference(figures), tuple(figures),
            sum(word in _NEGATIONS for word in text.casefold().split()),
        )  # fmt: skip

    def is_like(self, other: _Says, share: float) -> bool:
        """Tell whether the words are the same to a share of 0 to 1."""
        return len(self.words & other.words) >= share * len(self.words | other.words)

    def repeats(self, other: _Says) -> bool:
        """Tell whether there is nothing new in it."""
        same_facts = (self.figures, self.n_negations) == (other.figures, other.n_negations)
        return same_facts and self.is_like(other, _SAME_TEXT)


def distinct(
    ranked: Iterable[tuple[StoredChunk, float]], n: int, words: Words, named: Collection[int] = ()
) -> list[Kept]:
    """Return the first `n` chunks that do not repeat a better one.

    Of two versions of a document the newer one's chunk takes the better one's place, and the older one is named. Other
    figures are no repetition, unless the names say that one document is a version of the other: "v1", "v2", "(1)".

    Args:
        named: ids of documents that the question names: who asks for last year's report is not given this year's.
    """
    kept: list[Kept] = []
    seen: list[_Says] = []
    for chunk, score in ranked:
        # All places are taken: only an older or newer version of what is there still matters.
        if len(kept) >= n and not any(_is_version(chunk.document, k.chunk.document) for k in kept):
            continue
        own = _Says.of(chunk.text, words)
        at = next((i for i, k in enumerate(kept) if _is_told(chunk, own, k.chunk, seen[i])), None)
        if at is not None and kept[at].chunk.document.id in named and chunk.document.id not in named:
            continue
        if at is not None:
            kept[at], seen[at] = _merged(kept[at], seen[at], chunk, own)
        elif len(kept) < n:
            kept.append(Kept(chunk, score))
            seen.append(own)
    return kept


def to_passages(
    kept: Sequence[Kept],
    beside: Chunks,
    also: Mapping[int, Sequence[str]],
    mark: Callable[[str], tuple[int, int] | None],
) -> tuple[Passage, ...]:
    """Return chunks as passages, best first, those that follow each other joined.

    Args:
        beside: the chunks before and after each, by which sentences are completed.
        also: by chunk id, paths of other documents with the same text.
        mark: gives the span of a text's sentence that is nearest to the question.
    """
    older = {each.chunk.id: each.older for each in kept}
    return tuple(
        _passage(
            number,
            joined,
            list(dict.fromkeys(path for chunk in joined.chunks for path in older[chunk.id])),
            mark(joined.text),
            also.get(joined.best.id, ()),
        )
        for number, joined in enumerate(join([(each.chunk, each.score) for each in kept], beside), start=1)
    )


def alone(chunk: StoredChunk, beside: Chunks) -> Passage:
    """Return a chunk as the passage that it is when none of its neighbours is found with it."""
    (passage,) = to_passages([Kept(chunk, 0.0)], beside, {}, lambda text: None)
    return passage


def _passage(
    number: int, joined: Joined, older: Sequence[str], best: tuple[int, int] | None, also: Sequence[str]
) -> Passage:
    document = joined.best.document
    return Passage(
        number=number,
        chunk_id=joined.best.id,
        document_id=document.id,
        path=printable(document.path),
        title=document.title,
        locator=str(joined.locator),
        place=joined.locator.to_json(),
        text=joined.text,
        best=best,
        score=joined.score,
        flags=sorted(joined.best.flags),
        also=[printable(path) for path in also if path not in older],
        older=[printable(path) for path in older],
        version=document.sha256,
        modified=document.mtime_ns / 1e9,
    )


def _is_version(one: StoredDocument, other: StoredDocument) -> bool:
    return one.id != other.id and same_but_for_date(one, other)


def _is_told(chunk: StoredChunk, own: _Says, other: StoredChunk, others: _Says) -> bool:
    if own.repeats(others):
        return True
    a, b = chunk.document, other.document
    return a.id != b.id and own.is_like(others, _SAME_PLACE) and same_but_for_version(a, b)


def _merged(kept: Kept, seen: _Says, chunk: StoredChunk, own: _Says) -> tuple[Kept, _Says]:
    """The one that stays of two that say the same, with the other one named if it is an older version."""
    there, here = kept.chunk.document, chunk.document
    if not _is_version(here, there):
        return kept, seen
    if is_newer(here, there):
        return Kept(chunk, kept.score, _with(kept.older, there.path, here.path)), own
    return replace(kept, older=_with(kept.older, here.path, there.path)), seen


def _with(older: tuple[str, ...], path: str, newest: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in (*older, path) if each != newest))
