"""Draws the README's picture: `python -m tests.tui.picture docs/tui.svg [SCREEN] [COLUMNSxLINES]`.

SCREEN is chat, asking, unanswered, reader, documents, document, conversations, help, welcome or away.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

from textual import events
from textual.pilot import Pilot

from tests.tui.clinic import QUESTION, furnish
from tests.tui.fake_daemon import FakeDaemon
from tui.app import ApplianceApp
from tui.widgets.turn import Turn


async def _answered(pilot: Pilot[None]) -> None:
    while not (turns := list(pilot.app.screen.query(Turn))) or turns[-1].running:
        await pilot.pause(0.05)


async def _drive(pilot: Pilot[None], daemon: FakeDaemon, screen: str) -> None:
    await pilot.pause(0.3)
    if screen in ("chat", "reader", "asking", "unanswered"):
        pilot.app.post_message(events.Paste(QUESTION))
        await pilot.press("enter")
    match screen:
        case "asking":
            await pilot.pause(1.2)
        case "chat" | "reader" | "unanswered":
            await _answered(pilot)
    match screen:
        case "unanswered":
            await pilot.press(*"Who is the mayor?", "enter")
            await pilot.pause(0.2)
            await _answered(pilot)
        case "reader":
            await pilot.press("alt+2")
        case "documents":
            await pilot.press("f2")
        case "document":
            await pilot.press("f2")
            await pilot.pause(0.3)
            await pilot.press("down", "enter")
        case "conversations":
            await pilot.press("f3")
        case "help":
            await pilot.press("f1")
        case "away":
            await pilot.press(*"How long is a fri")
            await daemon.stop()
            await pilot.pause(2)
    await pilot.pause(0.4)


async def draw(
    target: Path, screen: str = "chat", columns: int = 118, lines: int = 27, theme: str = ""
) -> None:
    """Drive the app and keep its screen as SVG."""
    async with FakeDaemon() as daemon:
        furnish(daemon, pace_s=0.05 if screen == "asking" else 0.0)
        app = ApplianceApp(daemon.socket)
        async with app.run_test(size=(columns, lines)) as pilot:
            if theme:
                app.theme = theme
            await _drive(pilot, daemon, screen)
            svg = app.export_screenshot(title="appliance", simplify=False)
    # The web font would be fetched by whoever looks at the picture, and some viewers eat leading spaces.
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace(
        "<text ", '<text xml:space="preserve" '
    )
    target.write_text(svg)  # noqa: ASYNC240 (a script)


if __name__ == "__main__":
    size = sys.argv[3] if len(sys.argv) > 3 else "118x27"
    asyncio.run(draw(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "chat", *map(int, size.split("x")),
                     theme=sys.argv[4] if len(sys.argv) > 4 else ""))  # fmt: skip
