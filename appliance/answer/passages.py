"""Ranked chunks become the passages that people and the model see. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from appliance.answer.words import Words
from appliance.api.schema import Passage
from ingest.stored import StoredChunk, printable

_SAME_TEXT = 0.9  # Jaccard of words above which two passages say the same


def distinct(
    ranked: Sequence[tuple[StoredChunk, float]], n: int, words: Words
) -> list[tuple[StoredChunk, float]]:
    """Return the first `n` chunks that do not repeat a better one."""
    kept: list[tuple[StoredChunk, float]] = []
    seen: list[set[str]] = []
    for chunk, score in ranked:
        if len(kept) == n:
            break
        own = set(words.content(chunk.text))
        if any(len(own & other) >= _SAME_TEXT * len(own | other) for other in seen):
            continue
        kept.append((chunk, score))
        seen.append(own)
    return kept


def to_passage(
    number: int, chunk: StoredChunk, score: float, best: tuple[int, int] | None, also: Sequence[str]
) -> Passage:
    """Return a chunk as passage `number`; `best` is the span of its sentence nearest to the question."""
    document = chunk.document
    return Passage(
        number=number,
        chunk_id=chunk.id,
        document_id=document.id,
        path=printable(document.path),
        title=document.title,
        locator=str(chunk.locator),
        place=chunk.locator.to_json(),
        text=chunk.text,
        best=best,
        score=score,
        flags=sorted(chunk.flags),
        also=[printable(path) for path in also],
        version=document.sha256,
        modified=document.mtime_ns / 1e9,
    )
