"""Questions about a page's elements: what is text, what is a side part, which tables hold data."""

from __future__ import annotations

import re
from typing import Any

from resiliparse.parse.html import NodeType

from ingest.formats.html_hidden import Shown

UNREAD = frozenset(
    "script style noscript template svg math head iframe object canvas select button textarea input audio video".split()
)
BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol p pre section summary table tbody td tfoot th thead"
    " tr ul".split()
)
SIDE_TAGS = frozenset({"nav", "footer", "aside"})
SIDE_ROLES = frozenset({"navigation", "contentinfo", "complementary", "search", "banner", "menu", "menubar"})
SIDE_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|breadcrumbs?|footer|sidebar|cookies?|skip|share|social)(?:$|[\s_-])",
    re.IGNORECASE,
)
MAX_CELL = 500  # characters; a longer cell without header cells around it is a page's column


def children(node: Any) -> list[Any]:
    """Return an element's children; the library's own list walks from the first for each (1,000 cost 3 s)."""
    found, child = [], node.first_child
    while child is not None:
        found.append(child)
        child = child.next
    return found


def is_side(node: Any) -> bool:
    """Tell a menu, footer or sidebar by its tag, its role or its name."""
    if node.tag in SIDE_TAGS or (node.getattr("role") or "") in SIDE_ROLES:
        return True
    return node.tag not in ("body", "main", "article") and bool(
        SIDE_NAMES.search(node.class_name or "") or SIDE_NAMES.search(node.id or "")
    )


def is_data(table: Any) -> bool:
    """Tell a table of data from one that lays out the page: several rows of several short cells without blocks."""
    rows = [row_cells(row) for row in table_rows(table)]
    if len(rows) < 2 or max(map(len, rows)) < 2:
        return False
    if any(cell.tag == "th" for row in rows for cell in row):
        return True
    blocks = len(table.query_selector_all("td h1, td h2, td h3, td p + p, td li"))
    return blocks == 0 and all(len(shown_text(cell)) <= MAX_CELL for row in rows for cell in row)


def table_rows(table: Any) -> list[Any]:
    """Return the table's own rows, not those of tables in its cells."""
    rows = []
    for part in children(table):
        if part.tag in ("thead", "tbody", "tfoot"):
            rows += [row for row in children(part) if row.tag == "tr"]
    return rows


def row_cells(row: Any) -> list[Any]:
    """Return the cells of a row."""
    return [cell for cell in children(row) if cell.tag in ("td", "th")]


def shown_text(root: Any) -> str:
    """Return what people see of an element as one text."""
    return both_texts(root, Shown())[0]


def both_texts(root: Any, shown: Shown) -> tuple[str, str]:
    """Return an element's text, blocks and line breaks parted by spaces: what people see of it, and what not."""
    seen: list[str] = []
    hidden: list[str] = []
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if node is None:
            shown.leave()
        elif isinstance(node, str) or node.type == NodeType.TEXT:
            (hidden if shown.is_hidden else seen).append(node if isinstance(node, str) else node.value or "")
        elif node.type == NodeType.ELEMENT and node.tag not in UNREAD:
            space = " " if node.tag in BLOCKS or node.tag == "br" else ""
            shown.enter(node)
            stack += [None, space, *reversed(children(node)), space]
    return "".join(seen), "".join(hidden)
