"""Citation marks put into an answer's Markdown. Pure: text and citations in, Markdown out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from appliance.api.schema import Citation

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*$", re.MULTILINE)
CONFLICT = "!"


def links(scheme: str) -> Callable[[Citation], str]:
    """Return what writes a mark as Markdown links: `[n]` for each passage, `[!]` for a conflict, `[?]` for no support.

    Args:
        scheme: of the links; one that no document can know, or its text could pass for a mark.
    """

    def mark(citation: Citation) -> str:
        if citation.state == "contradicted":
            return "".join(rf"[\[!\]]({scheme}:{CONFLICT}{source.number})" for source in citation.sources[:1])
        if not citation.numbers:
            return rf"[\[?\]]({scheme}:)"
        return "".join(rf"[\[{n}\]]({scheme}:{n})" for n in citation.numbers)

    return mark


def plain(citation: Citation) -> str:
    """Return marks as plain text, for the clipboard."""
    if citation.state == "contradicted":
        return "".join(f"[conflicts with {source.number}]" for source in citation.sources[:1])
    return "".join(f"[{n}]" for n in citation.numbers) or "[?]"


def with_marks(answer: str, citations: Iterable[Citation], mark: Callable[[Citation], str]) -> str:
    """Return `answer` with a mark after each checked sentence.

    Offsets outside the answer are clamped: they come over a socket.
    """
    fences = _fences(answer)
    marks: dict[int, str] = {}
    for citation in citations:
        end = min(max(citation.end, 0), len(answer))
        if not (landing := _landing(answer, fences, end)):
            continue
        at, space = landing
        marks[at] = marks.get(at, "") + space + mark(citation)
    pieces, last = [], 0
    for at in sorted(marks):
        pieces += [answer[last:at], marks[at]]
        last = at
    return "".join([*pieces, answer[last:]])


def _landing(answer: str, fences: Sequence[tuple[int, int]], end: int) -> tuple[int, str] | None:
    """Return where the mark of a sentence ending at `end` may stand and what sets it off; None: nowhere."""
    for first, last in fences:
        if first < end <= last:
            # On the fence's last line a mark would keep it from closing; an open fence has no place at all.
            return (
                (last, "\n\n")
                if last < len(answer) or answer[:last].rstrip().endswith(("```", "~~~"))
                else None
            )
    # Before white space and before the bar that closes a table row, or the row would gain a cell.
    at = len(answer[:end].rstrip(" |\n"))
    line = answer[answer.rfind("\n", 0, at) + 1 : at]
    if line.count("`") % 2 and answer.find("`", at) >= 0:
        at = answer.find("`", at) + 1
    # A space first: "!" before "[" would make it an image.
    return (at, " ") if at else None


def _fences(answer: str) -> list[tuple[int, int]]:
    """Return (start, end) of each code fence, `end` after its last character."""
    fences: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(answer):
        if opened is None:
            opened = line
        elif line.group(1).startswith(opened.group(1)) and line.group(0).strip() == line.group(1):
            fences.append((opened.start(), line.end()))
            opened = None
    if opened is not None:
        fences.append((opened.start(), len(answer)))
    return fences
