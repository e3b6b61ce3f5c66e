"""What stands beside the cells of an Excel sheet: comments, text boxes, titles of charts, words of diagrams."""

from __future__ import annotations

from typing import Any

from ingest.formats.chart import chart_units
from ingest.formats.diagram import diagram_lines
from ingest.formats.elements import child, children, descendants, local, number, relation_id, value
from ingest.formats.package import Package
from ingest.formats.sheet import Cells, Sheet, cells_of
from ingest.formats.tidy import one_line
from ingest.locator import Locator

ANCHORS = ("twoCellAnchor", "oneCellAnchor", "absoluteAnchor")


def people(package: Package, path: str) -> dict[str, str]:
    """Return who wrote threaded comments, by id."""
    found = descendants(package.optional(path), "person") if path else iter(())
    return {value(person, "id"): one_line(value(person, "displayName")) for person in found}


def add_asides(package: Package, path: str, sheet: Sheet, authors: dict[str, str]) -> None:
    """Put comments by cell, then drawings, into the sheet whose part this is."""
    relations = package.relations(path).values()
    threads = [
        comment
        for kind, target in relations
        if kind == "threadedComment"
        for comment in descendants(package.optional(target), "threadedComment")
    ]
    for comment in threads:
        author = authors.get(value(comment, "personId"), "")
        text = one_line(_words(child(comment, "text")))
        sheet.add_comment(cells_of(value(comment, "ref")), author, text)
    # Each thread has a copy among the old comments, with a paragraph about Excel's version in front.
    told = {value(comment, "ref") for comment in threads}
    for kind, target in relations:
        if kind == "comments":
            _add_comments(package.optional(target), sheet, told)
    for kind, target in relations:
        if kind == "drawing":
            _add_drawing(package, target, sheet)


def _add_comments(root: Any, sheet: Sheet, told: set[str]) -> None:
    authors = [one_line(author.text or "") for author in descendants(root, "author")]
    for comment in descendants(root, "comment"):
        index = number(value(comment, "authorId"))
        author = authors[index] if index is not None and 0 <= index < len(authors) else ""
        text = one_line("".join(part.text or "" for part in descendants(child(comment, "text"), "t")))
        if author and text.startswith(author + ":"):  # as Excel begins each comment
            text = text[len(author) + 1 :].strip()
        if text and value(comment, "ref") not in told:
            sheet.add_comment(cells_of(value(comment, "ref")), author, text)


def _add_drawing(package: Package, path: str, sheet: Sheet) -> None:
    root = package.optional(path)
    if root is None:
        return
    for fallback in list(descendants(root, "Fallback")):  # the same again, for old programs
        fallback.getparent().remove(fallback)
    relations = package.relations(path)
    for anchor in children(root, *ANCHORS):
        cells = _cells(anchor)
        for body in descendants(anchor, "txBody"):
            if text := _paragraphs(body):
                sheet.add_text(cells, text)
        for element in descendants(anchor, "chart", "relIds"):
            _, target = relations.get(relation_id(element) or relation_id(element, "dm"), ("", ""))
            if text := _linked(package.optional(target)):
                sheet.add_text(cells, text)


def _linked(root: Any) -> str:
    """Return a chart's title and axes, whose figures stand in the cells; or a diagram's words."""
    if root is None or local(root) == "dataModel":
        return "\n".join(diagram_lines(root))
    told = next(chart_units(root, Locator()), None)
    return told.text if told and told.text.startswith("Chart: ") else ""


def _paragraphs(body: Any) -> str:
    lines = (
        one_line("".join(run.text or "" for run in descendants(part, "t"))) for part in descendants(body, "p")
    )
    return "\n".join(line for line in lines if line)


def _words(element: Any) -> str:
    return "" if element is None else "".join(element.itertext())


def _cells(anchor: Any) -> Cells | None:
    """Return the cells that a drawing covers; its corners are counted from 0."""
    corners = [
        [number(_words(child(anchor, end, side))) for side in ("row", "col")] for end in ("from", "to")
    ]
    (top, left), (bottom, right) = corners
    if top is None or left is None:
        return None
    return top + 1, left + 1, (top if bottom is None else bottom) + 1, (left if right is None else right) + 1
