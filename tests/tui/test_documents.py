"""The documents screen: every file with its state and reason, changing as ingest works."""

from __future__ import annotations

from textual.widgets import Input

from appliance.api.schema_documents import Document
from tests.tui.clinic import DOCUMENTS, document, documents_reply, furnish
from tests.tui.driving import screen_text, until, words
from tests.tui.fake_daemon import FakeDaemon
from tui.app import ApplianceApp
from tui.screens.chat import ChatScreen
from tui.screens.document import DocumentScreen
from tui.widgets.documents_table import MAX_ROWS, DocumentsTable

SMALL = (80, 24)


def _paths(app: ApplianceApp) -> list[str]:
    table = app.screen.query_one(DocumentsTable)
    return [str(table.get_row_at(i)[1]) for i in range(table.row_count)]


async def test_every_file_has_its_state_and_failed_ones_come_first_with_a_reason() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=(120, 40)) as pilot:
        furnish(daemon)
        await pilot.press("f2")
        await until(pilot, lambda: "vaccine-storage.pdf" in screen_text(pilot))
        rows = screen_text(pilot).splitlines()[4:]
        assert "damaged" in rows[0]
        assert "the file ends in the middle" in rows[0]
        assert "locked" in rows[1]
        assert "only images" in rows[2]
        assert "now notes/incident-log.txt" in screen_text(pilot)
        assert "2 to do" in screen_text(pilot)
        assert "7 ready   3 failed" in screen_text(pilot)


async def test_the_table_follows_the_record_and_keeps_its_cursor() -> None:
    files = [document(1, "b.pdf"), document(2, "c.pdf")]
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.documents = documents_reply(files)
        await pilot.press("f2")
        await until(pilot, lambda: "c.pdf" in screen_text(pilot))
        await pilot.press("down")
        await daemon.change(documents_reply([*files, document(3, "a.pdf", "waiting")]))
        await until(pilot, lambda: _paths(pilot.app) == ["a.pdf", "b.pdf", "c.pdf"])
        table = pilot.app.screen.query_one(DocumentsTable)
        assert table.chosen == files[1]
        await daemon.change(documents_reply([*files, document(3, "a.pdf", "damaged", "it is torn")]))
        await until(pilot, lambda: "it is torn" in screen_text(pilot))
        await daemon.change(documents_reply(files[1:]))
        await until(pilot, lambda: _paths(pilot.app) == ["c.pdf"])


async def test_typing_filters_and_esc_clears_then_goes_back() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        furnish(daemon)
        await pilot.press("f2")
        await until(pilot, lambda: "hygiene-plan.pdf" in screen_text(pilot))
        await pilot.press(*"password")
        await until(pilot, lambda: _paths(pilot.app) == ["contracts/insurance.pdf"])
        assert "1 of 12" in screen_text(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: len(_paths(pilot.app)) == len(DOCUMENTS))
        assert pilot.app.screen.query_one(Input).value == ""
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, ChatScreen)


async def test_enter_opens_the_row_with_its_whole_reason() -> None:
    reason = "the file ends in the middle of page 4, " + "and so it goes on " * 12 + "to the very end"
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.documents = documents_reply([document(1, "old.pdf", "damaged", reason)])
        await pilot.press("f2")
        await until(pilot, lambda: "old.pdf" in screen_text(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, DocumentScreen))
        await until(pilot, lambda: "the very end" in words(pilot))
        await pilot.press("escape", "f2")
        assert isinstance(pilot.app.screen, ChatScreen)


async def test_the_list_comes_back_with_the_daemon() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        furnish(daemon)
        await pilot.press("f2")
        await until(pilot, lambda: "hygiene-plan.pdf" in screen_text(pilot))
        await daemon.stop()
        await until(pilot, lambda: "not followed, retrying" in screen_text(pilot))
        assert "hygiene-plan.pdf" in screen_text(pilot)
        daemon.documents = documents_reply([document(1, "new.pdf")])
        await daemon.start()
        await until(pilot, lambda: _paths(pilot.app) == ["new.pdf"])


async def test_a_folder_of_many_files_shows_the_first_and_says_so() -> None:
    files: list[Document] = [document(i, f"{i:05}.txt") for i in range(MAX_ROWS + 500)]
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=(120, 40)) as pilot:
        daemon.documents = documents_reply(files)
        await pilot.press("f2")
        await until(pilot, lambda: "type to narrow" in screen_text(pilot))
        assert len(_paths(pilot.app)) == MAX_ROWS
        await pilot.press(*"01499")
        await until(pilot, lambda: _paths(pilot.app) == ["01499.txt"])


async def test_nothing_chosen_is_nothing_opened() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.documents = documents_reply([])
        await pilot.press("f2")
        await until(pilot, lambda: "no documents yet" in screen_text(pilot))
        await pilot.press("down", "enter", "pageup")
        assert not isinstance(pilot.app.screen, DocumentScreen)
        assert not daemon.asked


async def test_a_failed_file_is_read_again_and_a_ready_one_is_not() -> None:
    files = [document(1, "torn.pdf", "damaged", "it is torn"), document(2, "well.pdf")]
    async with (
        FakeDaemon() as daemon,
        ApplianceApp(daemon.socket).run_test(size=SMALL, notifications=True) as pilot,
    ):
        daemon.documents = documents_reply(files)
        await pilot.press("f2")
        await until(pilot, lambda: "torn.pdf" in screen_text(pilot))
        await pilot.press("f5")
        await until(pilot, lambda: daemon.orders == ["retry"])
        await pilot.press("down", "f5")
        await until(pilot, lambda: "only files that failed" in words(pilot))
        assert daemon.orders == ["retry"]


async def test_reading_is_paused_and_goes_on_and_the_screen_says_which() -> None:
    busy = documents_reply([document(1, "a.pdf", "parsing")])
    now = {"current": "a.pdf", "step": "page 4 of 20", "eta_s": 300.0}
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=(120, 40)) as pilot:
        daemon.documents = busy.model_copy(update={"ingest": busy.ingest.model_copy(update=now)})
        await pilot.press("f2")
        await until(pilot, lambda: "now a.pdf, page 4 of 20   about 5 min left" in screen_text(pilot))
        await pilot.press("f6")
        await until(pilot, lambda: daemon.orders == ["pause"])
        paused = busy.model_copy(update={"ingest": busy.ingest.model_copy(update={"paused": True})})
        await daemon.change(paused)
        await until(pilot, lambda: "paused" in screen_text(pilot).splitlines()[1])
        await pilot.press("f6")
        await until(pilot, lambda: daemon.orders == ["pause", "resume"])


async def test_what_was_left_out_of_a_ready_file_is_told() -> None:
    note = "pages 3–5 are read from pictures: letters and figures may be wrong"
    ready = document(1, "a.pdf").model_copy(update={"notes": [note], "collection": "clinic/plans"})
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=SMALL) as pilot:
        daemon.documents = documents_reply([ready])
        await pilot.press("f2")
        await until(pilot, lambda: "pages 3–5" in screen_text(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: note in words(pilot) and "clinic/plans" in words(pilot))
