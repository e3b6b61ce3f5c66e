"""Where in a document a text stands. One small type, shown the same in the API, the CLI and the TUI."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Locator:
    """A place to cite. Only the parts that the format knows are set.

    Attributes:
        page: physical page, from 1.
        page_label: the page's printed label ("iii") where it differs from `page`.
        page_estimated: the format has no pages and `page` is a guess (DOCX).
        heading: headings above the text, outermost first.
        rows: first and last row of a table, from 1, header row not counted.
        lines: first and last line of a text file, from 1.
    """

    page: int | None = None
    page_label: str | None = None
    page_estimated: bool = False
    heading: tuple[str, ...] = ()
    rows: tuple[int, int] | None = None
    lines: tuple[int, int] | None = None

    def __str__(self) -> str:
        parts = [self._page(), " › ".join(self.heading), _span("row", self.rows), _span("line", self.lines)]
        return ", ".join(part for part in parts if part)

    def _page(self) -> str:
        if self.page is None:
            return ""
        shown = self.page_label or str(self.page)
        return f"about page {shown}" if self.page_estimated else f"page {shown}"

    def to_json(self) -> dict[str, Any]:
        """Return the parts that are set; `from_json` reads them back."""
        return {name: value for name, value in asdict(self).items() if value not in (None, (), False)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Locator:
        """Read what `to_json` wrote; lists become tuples.

        Raises:
            TypeError: `data` has a key that no locator has.
        """
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
        return cls(**values)


def _span(noun: str, span: tuple[int, int] | None) -> str:
    if span is None:
        return ""
    first, last = span
    return f"{noun} {first}" if first == last else f"{noun}s {first}–{last}"
