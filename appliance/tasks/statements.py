"""A summary's sentences against the document: where it says each, and which numbers stand nowhere in it. Pure.

Words are compared, not meaning: a place says where to look, not that the sentence is true.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from appliance.api.schema_tasks import Statement, TaskSource
from appliance.tasks.groups import Group, place_of
from appliance.tasks.material import source_of
from appliance.tasks.number_check import Numbers
from appliance.text.words import Words, sentence_spans
from ingest.stored import StoredChunk

_CHUNK_SHARE = 0.5  # of a sentence's words in one chunk: it is the place
_GROUP_SHARE = 0.5  # of them in one part of the document: the part is the place
_NEAR_BEST = 0.85  # of the best chunk's share: a second place
_MAX_PLACES = 3
_COUNTED = re.compile(r"[(\s]*\d{1,2}[.)]\s*")


class SourceText:
    """A document's chunks as sets of words and numbers."""

    def __init__(self, groups: Sequence[Group], words: Words) -> None:
        self._words = words
        self._groups = [(group.chunks, set(words.content(group.text))) for group in groups]
        chunks = {chunk.id: chunk for group in groups for chunk in group.chunks}
        self._chunks = [(chunk, set(words.content(chunk.text))) for chunk in chunks.values()]
        self._numbers = Numbers(map(_with_place, chunks.values()))

    def statements(self, summary: str) -> list[Statement]:
        """Return every sentence of a summary with its places and the numbers that the document does not have."""
        found, begun = [], None
        for start, end in sentence_spans(summary):
            if _COUNTED.fullmatch(summary, start, end):  # "2." of a list belongs to what follows
                begun = start
                continue
            found.append(self._statement(summary, start, end, begun))
            begun = None
        return found

    def _statement(self, summary: str, start: int, end: int, begun: int | None) -> Statement:
        sentence = summary[start:end]
        if marked := _COUNTED.match(sentence):
            sentence = sentence[marked.end() :]
        wanted = set(self._words.content(sentence))
        return Statement(
            start=start if begun is None else begun, end=end, sources=self._places(wanted),
            unknown_numbers=self._numbers.missing(sentence),
        )  # fmt: skip

    def _places(self, wanted: set[str]) -> list[TaskSource]:
        shares = [(len(wanted & held) / max(1, len(wanted)), chunk) for chunk, held in self._chunks]
        best = max((share for share, _ in shares), default=0.0)
        if best >= _CHUNK_SHARE:
            near = sorted((s for s in shares if s[0] >= best * _NEAR_BEST), key=lambda s: -s[0])
            return [source_of(chunk) for _, chunk in _distinct(near)[:_MAX_PLACES]]
        share, chunks = max(
            ((len(wanted & held) / max(1, len(wanted)), chunks) for chunks, held in self._groups),
            key=lambda found: found[0], default=(0.0, []),
        )  # fmt: skip
        return [source_of(chunks[0], place_of(chunks))] if share >= _GROUP_SHARE and chunks else []


def _with_place(chunk: StoredChunk) -> str:
    return " ".join((chunk.text, chunk.document.title, *chunk.locator.path))


def _distinct(found: Sequence[tuple[float, StoredChunk]]) -> list[tuple[float, StoredChunk]]:
    return list({str(chunk.locator): (share, chunk) for share, chunk in reversed(found)}.values())[::-1]
