"""The table of documents: a row a file, changed in place while ingest works."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.widgets import DataTable

from appliance.api.schema_documents import Document
from tui.foreign import one_line
from tui.states import reason_of, state_of

# More rows than anyone scrolls through; beyond it the filter is the way.
MAX_ROWS = 1_000
_STATE, _PAGES, _CHUNKS = 13, 6, 7
_MIN_WIDTH = 12


class DocumentsTable(DataTable[Text]):
    """Shows the documents it was last given; the row under the cursor stays under it."""

    def __init__(self) -> None:
        super().__init__(cursor_type="row", zebra_stripes=True, cell_padding=1)
        self._shown: dict[str, Document] = {}
        self._documents: Sequence[Document] = ()

    def on_mount(self) -> None:
        """Make the columns."""
        self.can_focus = False
        for label, width in (("State", _STATE), ("Document", 30), ("Pages", _PAGES), ("Chunks", _CHUNKS)):
            self.add_column(Text(label), width=width, key=label)
        self.add_column(Text("Reason"), width=30, key="Reason")

    def on_resize(self, event: events.Resize) -> None:
        """Share what the fixed columns leave between name and reason."""
        rest = event.size.width - _STATE - _PAGES - _CHUNKS - 10 - self.scrollbar_size_vertical
        name = max(_MIN_WIDTH, rest * 45 // 100)
        widths = {"Document": name, "Reason": max(_MIN_WIDTH, rest - name)}
        for key, column in self.columns.items():
            column.width = widths.get(str(key.value), column.width)
        self._fill()

    def show(self, documents: Sequence[Document]) -> None:
        """Show these, in this order."""
        self._documents = documents[:MAX_ROWS]
        self._fill()

    @property
    def chosen(self) -> Document | None:
        """The document under the cursor."""
        at = self.cursor_row
        return self._documents[at] if 0 <= at < len(self._documents) else None

    def _fill(self) -> None:
        wanted = {str(document.id): document for document in self._documents}
        if list(wanted) == list(self._shown):
            for key, document in wanted.items():
                if document != self._shown[key]:
                    self._change(key, document)
        else:
            self._refill(wanted)
        self._shown = wanted

    def _change(self, key: str, document: Document) -> None:
        for column, cell in zip(self.columns, _cells(document), strict=True):
            self.update_cell(key, column, cell)

    def _refill(self, wanted: dict[str, Document]) -> None:
        under_cursor = list(self._shown)[self.cursor_row] if 0 <= self.cursor_row < len(self._shown) else ""
        top = self.scroll_y
        self.clear()
        for key, document in wanted.items():
            self.add_row(*_cells(document), key=key)
        if under_cursor in wanted:
            self.move_cursor(row=list(wanted).index(under_cursor), scroll=False)
        self.scroll_to(y=top, animate=False)


def _cells(document: Document) -> list[Text]:
    state = state_of(document)
    colour = {"error": "bold red", "warning": "yellow", "accent": "cyan", "success": "green"}.get(
        state.style, "dim"
    )
    loud = colour if state.failed else ""
    return [
        _cell(f"{state.sign} {state.word}", colour),
        _cell(one_line(document.path), loud),
        _cell("" if document.n_pages is None else f"{document.n_pages:>{_PAGES - 1},}", "dim"),
        _cell(f"{document.n_chunks:>{_CHUNKS - 1},}" if document.n_chunks else "", "dim"),
        _cell(one_line(reason_of(document)), loud or "dim"),
    ]


def _cell(text: str, style: str) -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis", end="")
