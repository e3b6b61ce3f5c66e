"""The terminal screen of one appliance: a client of its socket, nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError
from textual import work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.reactive import reactive
from textual.screen import Screen

from appliance.client import Client
from appliance.errors import ApplianceError
from tui.connection import Connection
from tui.messages import DaemonAway, StatusArrived
from tui.screens.chat import ChatScreen
from tui.screens.documents import DocumentsScreen
from tui.screens.help import HelpScreen

_POLL_S = 1.5
_POLL_LIMIT_S = 5.0


class ApplianceApp(App[None]):
    """Screens over one connection, which may come and go."""

    TITLE = "Appliance"
    CSS_PATH = "app.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2,ctrl+o", "documents", "Documents", key_display="F2"),
        Binding("f1", "help", "Help", key_display="F1"),
        Binding("ctrl+q", "quit", "Quit", priority=True, key_display="^Q"),
    ]

    connection: reactive[Connection] = reactive(Connection(), init=False)

    def __init__(self, socket: Path) -> None:
        super().__init__()
        self._client = Client(socket)

    def get_default_screen(self) -> Screen[None]:
        """Begin with the conversation."""
        return ChatScreen(self._client)

    def on_mount(self) -> None:
        """Begin to poll."""
        self._poll()

    async def on_unmount(self) -> None:
        """Close the connection."""
        await self._client.aclose()

    @work(group="status", exclusive=True, exit_on_error=False)
    async def _poll(self) -> None:
        """Ask for the status for ever; its own group, so that nothing else can hold it up (oterm 0.16.0)."""
        while True:
            self.post_message(await self._look())
            await asyncio.sleep(_POLL_S)

    async def _look(self) -> StatusArrived | DaemonAway:
        try:
            async with asyncio.timeout(_POLL_LIMIT_S):
                return StatusArrived(await self._client.status())
        except TimeoutError:
            return DaemonAway(f"no answer within {_POLL_LIMIT_S:.0f} s")
        except ApplianceError as error:
            return DaemonAway(str(error))
        except ValidationError:
            return DaemonAway("its status cannot be read: is it another version?")
        except Exception as error:  # the poll must outlive whatever comes over the socket
            self.log.error(error)
            return DaemonAway(f"{type(error).__name__}: {error}")

    def on_status_arrived(self, message: StatusArrived) -> None:
        """Show it, and say so once when the daemon has come back."""
        if self.connection.up is False:
            self.notify("Connected again.")
        self.connection = Connection(up=True, status=message.status)

    def on_daemon_away(self, message: DaemonAway) -> None:
        """Keep the last status and say that it is old."""
        self.connection = Connection(up=False, status=self.connection.status, reason=message.reason)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Offer what the keys do in the command palette too."""
        yield from super().get_system_commands(screen)
        yield SystemCommand("Documents", "Every file, its state and why it failed", self.action_documents)
        yield SystemCommand("Help on keys", "Every key, on one page", self.action_help)
        if isinstance(screen, ChatScreen):
            yield SystemCommand("New conversation", "Start over; the old one is kept", screen.action_new)
            yield SystemCommand("Earlier conversations", "Open or delete one", screen.action_conversations)
            yield SystemCommand("Copy answer", "With its sources, to the clipboard", screen.action_copy)
            yield SystemCommand("Ask again", "The last question once more", screen.action_again)

    def action_documents(self) -> None:
        """Show the documents; a second press goes back."""
        if isinstance(self.screen, DocumentsScreen):
            self.pop_screen()
        elif not self.screen.is_modal:
            self.push_screen(DocumentsScreen(self._client))

    def action_help(self) -> None:
        """Show every key."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen())


def run(socket: Path) -> None:
    """Show the screen until the person quits."""
    ApplianceApp(socket).run()
