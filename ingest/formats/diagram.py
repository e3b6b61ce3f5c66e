"""SmartArt in Office documents: the boxes' words, each after the one above it. Reads no shapes."""

from __future__ import annotations

from typing import Any

from ingest.formats.elements import child, descendants, number, value
from ingest.formats.tidy import one_line

LAYOUT = frozenset({"pres", "parTrans", "sibTrans"})  # points that only draw
MAX_DEPTH = 20


def diagram_lines(root: Any) -> list[str]:
    """Return a line for each box of a diagram's data part, those below another with a bullet.

    Boxes that no other leads to come last, in the order of the file.
    """
    points = {value(point, "modelId"): point for point in descendants(root, "pt")}
    below: dict[str, list[tuple[int, str]]] = {}
    for link in descendants(root, "cxn"):
        if value(link, "type") in ("", "parOf"):
            below.setdefault(value(link, "srcId"), []).append(
                (number(value(link, "srcOrd")) or 0, value(link, "destId"))
            )
    tops = [key for key, point in points.items() if value(point, "type") == "doc"]
    lines: list[str] = []
    seen: set[str] = set()
    stack = [(0, key) for key in reversed([*tops, *(key for key in points if key not in tops)])]
    while stack:
        depth, key = stack.pop()
        if key in seen or key not in points or value(points[key], "type") in LAYOUT:
            continue
        seen.add(key)
        text = _words(points[key])
        if text:
            lines.append(f"- {text}" if depth > 1 else text)
        stack += [
            (min(depth + 1, MAX_DEPTH), below_key)
            for _, below_key in sorted(below.get(key, []), reverse=True)
        ]
    return lines


def _words(point: Any) -> str:
    body = child(point, "t")
    paragraphs = descendants(body, "p")
    return one_line(" ".join("".join(t.text or "" for t in descendants(p, "t")) for p in paragraphs))
