"""What an empty conversation shows: what can be asked, and whether documents are there to answer."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from tui.connection import Connection
from tui.foreign import one_line


class Welcome(Widget):
    """A few lines that go away with the first question."""

    def __init__(self) -> None:
        super().__init__()
        self._connection = Connection()

    def show(self, connection: Connection) -> None:
        """Show the counts of the last poll."""
        self._connection = connection
        self.refresh(layout=True)

    def on_mount(self) -> None:
        """Begin with what is known already."""
        self.show(getattr(self.app, "connection", Connection()))

    def render(self) -> Content:
        """Return the welcome."""
        return Content.assemble(
            ("Ask a question about your documents.\n", "bold $text-accent"),
            ("Answers come from the files in the folder, with their pages. Nothing leaves this machine.\n\n",
             "$foreground 60%"),
            self._documents(),
            ("\n\nF2", "bold $text-accent"), ("  see every file      ", "$foreground 60%"),
            ("F3", "bold $text-accent"), ("  earlier conversations      ", "$foreground 60%"),
            ("F1", "bold $text-accent"), ("  all keys", "$foreground 60%"),
        )  # fmt: skip

    def _documents(self) -> Content:
        status = self._connection.status
        if self._connection.up is False:
            reason = one_line(self._connection.reason)
            return Content.assemble(
                ("The appliance is not running.  ", "bold $text-error"), (reason, "$foreground 60%")
            )
        if status is None:
            return Content.styled("Connecting …", "$foreground 60%")
        counts, folder = status.ingest.counts, one_line(status.ingest.folder)
        n, n_ready = sum(counts.values()), counts.get("ready", 0)
        if not n:
            return Content.assemble("There are no documents yet: put files into  ", (folder, "bold"))
        return Content.assemble(
            (f"{n_ready:,} of {n:,}", "bold"), " documents are ready, in  ", (folder, "bold")
        )
