"""What the screen tests share: type, wait, look."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.pilot import Pilot
from textual.widget import Widget

from tui.widgets.question_box import QuestionBox
from tui.widgets.turn import Turn

_LIMIT_S = 15.0


async def ask(pilot: Pilot[None], question: str) -> None:
    """Type a question and press Enter; longer ones are pasted, to save time."""
    box = pilot.app.screen.query_one(QuestionBox)
    box.focus()
    box.insert(question)
    await pilot.press("enter")


async def until(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    """Wait until the condition holds."""
    async with asyncio.timeout(_LIMIT_S):
        while not condition():
            await pilot.pause(0.02)
    await pilot.pause()


def screen_text(pilot: Pilot[None]) -> str:
    """Return what is on the screen now, line by line."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join(strip.text for strip in strips)


def words(pilot: Pilot[None]) -> str:
    """Return what is on the screen, without the frames and the breaks of lines."""
    return " ".join(screen_text(pilot).replace("│", " ").split())


def said(pilot: Pilot[None]) -> str:
    """Return the text of the last turn, in view or not."""
    turns = list(pilot.app.screen.query(Turn))
    if not turns:
        return ""
    leaves = [widget for widget in turns[-1].query("*") if not widget.children and _displayed(widget)]
    return "\n".join(str(widget.render()) for widget in leaves)


def _displayed(widget: Widget) -> bool:
    return all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget))
