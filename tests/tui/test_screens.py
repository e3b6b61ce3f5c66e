"""Every screen fits 80×24 with its status line and keys, and the README's picture can be drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.driving import screen_text, until
from tests.tui.fake_daemon import ENGINE, STATUS, FakeDaemon
from tests.tui.picture import draw
from tui.app import ApplianceApp


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (200, 50)], ids=str)
async def test_the_status_line_and_the_keys_are_on_every_screen(size: tuple[int, int]) -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=size) as pilot:
        for key in ("f3", "f2"):
            await until(pilot, lambda: "● qwen2.5-coder-1.5b" in screen_text(pilot).splitlines()[-2])
            assert screen_text(pilot).splitlines()[-1].strip()
            await pilot.press(key)
            if key == "f3":
                await pilot.press("escape")


async def test_the_status_line_says_what_is_read_ahead() -> None:
    async with (
        FakeDaemon() as daemon,
        ApplianceApp(daemon.socket).run_test(size=(200, 50)) as pilot,
    ):
        await until(pilot, lambda: "● qwen2.5" in screen_text(pilot))
        assert "read ahead" not in screen_text(pilot)
        reading = {"reuse": "blocks", "n_blocks": 120, "n_preparing": 14}
        daemon.status = STATUS.model_copy(update={"engine": ENGINE.model_copy(update=reading)})
        await until(pilot, lambda: "120 passages read ahead, 14 to go" in screen_text(pilot))


async def test_help_names_the_keys_and_fits_a_small_terminal() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=(80, 24)) as pilot:
        await pilot.press("f1")
        await until(pilot, lambda: "Ctrl+N" in screen_text(pilot))
        assert "no passage supports it" in screen_text(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: "Ctrl+N" not in screen_text(pilot))


async def test_a_light_theme_can_be_chosen() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=(80, 24)) as pilot:
        pilot.app.theme = "textual-light"
        await until(pilot, lambda: "qwen2.5" in screen_text(pilot))


async def test_the_picture_is_small_and_fetches_nothing(tmp_path: Path) -> None:
    target = tmp_path / "tui.svg"
    await draw(target)
    svg = target.read_text()
    assert "extension" in svg
    assert "url(http" not in svg
    assert len(svg) < 100_000
