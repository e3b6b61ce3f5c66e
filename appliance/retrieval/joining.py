"""Chunks that stand next to each other become one text, and a sentence that was cut is completed. Pure.

Nothing is added for its own sake: the model reads every token, at 10 ms each on a slow box.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ingest.locator import Locator, merged
from ingest.stored import StoredChunk

MAX_CHUNKS = 3  # that are joined: what fits the context badly is left out whole, so nothing grows without end
# Characters taken at most from the chunk before, or after: the rest of a paragraph, or else of a sentence. A chunk has
# about 700. Passages grow by 3 %, and the answer is among the first three for 0.984 of the questions instead of 0.981
# (XQuAD, 2026-11-30; with 200 by 0.5 %, with 500 by 4 %).
MAX_REST = 350
_SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？", ":", ";")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*(?=\s)")
_CLOSING = "\"'”’»)]"

# By (document id, ordinal).
Chunks = Mapping[tuple[int, int], StoredChunk]


@dataclass(frozen=True, slots=True)
class Joined:
    """One text out of chunks that follow each other.

    Attributes:
        best: the chunk that ranks first of them.
        score: of that.
        chunks: in the document's order; what was only taken to complete a sentence is of none of them.
    """

    best: StoredChunk
    score: float
    chunks: tuple[StoredChunk, ...]
    text: str
    locator: Locator


def join(ranked: Sequence[tuple[StoredChunk, float]], beside: Chunks) -> list[Joined]:
    """Join chunks that are neighbours, of one section or table and one page, and complete what was cut at the ends.

    Args:
        ranked: best first.
        beside: the chunks before and after each of them, as far as there are any.
    Returns:
        Best first; each at the place of its best chunk.
    """
    left = {(chunk.document.id, chunk.ordinal): chunk for chunk, _ in ranked}
    joined = []
    for chunk, score in ranked:
        if (chunk.document.id, chunk.ordinal) in left:
            run = _run(chunk, left)
            for member in run:
                del left[member.document.id, member.ordinal]
            joined.append(
                Joined(chunk, score, tuple(run), _completed(run, beside), merged([c.locator for c in run]))
            )
    return joined


def _run(start: StoredChunk, left: Chunks) -> list[StoredChunk]:
    """A chunk and those on both sides of it that are not taken yet, as far as they belong together."""
    run = [start]
    document, grew = start.document.id, True
    while grew and len(run) < MAX_CHUNKS:
        after, before = left.get((document, run[-1].ordinal + 1)), left.get((document, run[0].ordinal - 1))
        grew = False
        if after is not None and _belong(run[-1], after):
            run.append(after)
            grew = True
        if before is not None and len(run) < MAX_CHUNKS and _belong(before, run[0]):
            run.insert(0, before)
            grew = True
    return run


def _belong(first: StoredChunk, second: StoredChunk) -> bool:
    return _same_place(first.locator, second.locator) and _same_stream(first, second)


def _same_place(a: Locator, b: Locator) -> bool:
    """Whether one page and heading is right for both; pages that are only estimated are no reason to part them."""
    return a.heading == b.heading and (a.page == b.page or (a.page_estimated and b.page_estimated))


def _same_stream(first: StoredChunk, second: StoredChunk) -> bool:
    """Whether text may flow from one chunk into the next one; a warning of one must not be lost in the other."""
    a, b = first.locator, second.locator
    return (a.part, a.slide, a.sheet) == (b.part, b.slide, b.sheet) and first.flags == second.flags


def _completed(run: Sequence[StoredChunk], beside: Chunks) -> str:
    document, first, last = run[0].document.id, run[0], run[-1]
    text = first.text
    for one, other in itertools.pairwise(run):
        text += (" " if _flows(one, other) else "\n") + _without_header(one, other)
    before = beside.get((document, first.ordinal - 1))
    if before is not None and _same_stream(before, first) and _flows(before, first):
        text = f"{_end_of(before.text, _is_cut(before, first))} {text}".lstrip()
    after = beside.get((document, last.ordinal + 1))
    if after is not None and _same_stream(last, after) and _flows(last, after):
        text = f"{text} {_beginning_of(_without_header(last, after), _is_cut(last, after))}".rstrip()
    return text


def _without_header(first: StoredChunk, second: StoredChunk) -> str:
    """The second one's text, without the table's header that both begin their rows with."""
    rows = second.locator.rows
    if rows is None or first.locator.rows is None:
        return second.text
    lines, above = second.text.split("\n"), first.text.split("\n")
    n_most = len(lines) - (rows[1] - rows[0] + 1)  # rows may be equal, so their number counts, too
    if n_most < 1 or lines[0] not in above:
        return second.text
    at, n = above.index(lines[0]), 0
    while n < n_most and at + n < len(above) and above[at + n] == lines[n]:
        n += 1
    return "\n".join(lines[n:])


def _flows(first: StoredChunk, second: StoredChunk) -> bool:
    """Whether one paragraph, or one table row, was cut between the two."""
    a, b = first.locator, second.locator
    if a.rows is not None and b.rows is not None:
        return a.rows[1] == b.rows[0] and _same_place(a, b)  # else two tables, whose rows are counted anew
    if a.rows is not None or b.rows is not None:
        return False
    same_lines = a.lines is not None and b.lines is not None and a.lines[1] >= b.lines[0]
    return same_lines or _is_cut(first, second)


def _is_cut(first: StoredChunk, second: StoredChunk) -> bool:
    """Whether a sentence was cut between the two: the first does not end, the second one begins in lower case."""
    end, beginning = first.text.rstrip().rstrip(_CLOSING), second.text.lstrip()
    is_table = first.locator.rows is not None
    return not is_table and not end.endswith(_SENTENCE_ENDS) and beginning[:1].islower()


def _beginning_of(text: str, is_cut: bool) -> str:
    """The rest of a paragraph if it is short, else of the sentence that was cut; nothing of a long one."""
    paragraph = text.split("\n", 1)[0].strip()
    whole = len(paragraph) <= MAX_REST
    if whole and not (is_cut and not paragraph.rstrip(_CLOSING).endswith(_SENTENCE_ENDS)):
        return paragraph
    # A text file may break lines anywhere.
    end = _SENTENCE_END.search(f"{text} ", 0, MAX_REST) if is_cut else None
    return text[: end.end()].strip() if end else paragraph * whole


def _end_of(text: str, is_cut: bool) -> str:
    """The same of the chunk before."""
    paragraph = text.rstrip().rsplit("\n", 1)[-1].strip()
    whole = len(paragraph) <= MAX_REST
    if whole and not (is_cut and paragraph[:1].islower()):
        return paragraph
    ends = (
        [match.end() for match in _SENTENCE_END.finditer(text, max(0, len(text) - MAX_REST))]
        if is_cut
        else []
    )
    return text[ends[-1] :].strip() if ends else paragraph * whole
