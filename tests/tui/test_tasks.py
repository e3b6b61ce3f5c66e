"""Tasks over documents on the screen: begun by a key, followed, stopped."""

from __future__ import annotations

import asyncio

from appliance.api.schema import ErrorEvent, TokenEvent
from appliance.api.schema_tasks import (
    ExtractionDone,
    NumberDifference,
    ProgressEvent,
    Row,
    RowEvent,
    Statement,
    SummaryDone,
    TaskSource,
    TaskTimings,
    TranslationDone,
)
from tests.tui.clinic import DOCUMENTS, PASSAGES, documents_reply, furnish
from tests.tui.driving import screen_text, until, words
from tests.tui.fake_daemon import FakeDaemon
from tui.app import ApplianceApp
from tui.screens.document import DocumentScreen
from tui.screens.reader import ReaderScreen
from tui.screens.task import TaskScreen

TIMINGS = TaskTimings(total_s=61.2, n_steps=3, n_cached=0, n_prompt=900, n_reused=0, n_decoded=80)
SOURCE = TaskSource(document_id=1, path="vaccine-storage.pdf", version="00", locator="page 2", chunk_id=101)
SUMMARY = "Vaccines are kept cold. It is 99 °C."
SUMMARY_DONE = SummaryDone(
    summary=SUMMARY, document_id=1, path="vaccine-storage.pdf", version="00", n_parts=2, timings=TIMINGS, model="m",
    notes=["text that readers do not see was left out: page 3"],
    statements=[Statement(start=0, end=23, sources=[SOURCE]), Statement(start=24, end=36, unknown_numbers=["99"])],
)  # fmt: skip


async def test_a_key_summarises_the_document_with_places_and_doubts() -> None:
    go_on = asyncio.Event()
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=(100, 30)) as pilot:
        daemon.documents = documents_reply(DOCUMENTS[:1])
        daemon.task = [ProgressEvent(stage="map", n=1, m=2, place="pages 3–6", eta_s=30.0), go_on,
                       TokenEvent(text="Vaccines are"), SUMMARY_DONE]  # fmt: skip
        await pilot.press("f2")
        await until(pilot, lambda: "vaccine-storage.pdf" in screen_text(pilot))
        await pilot.press("enter", "s")
        await until(pilot, lambda: "part 2 of 2, pages 3–6, about 30 s left" in words(pilot))
        go_on.set()
        await until(pilot, lambda: "done in 61 s" in words(pilot))
        assert "Vaccines are kept cold. [page 2]" in words(pilot)
        assert "It is 99 °C. [no source] [not in the document: 99]" in words(pilot)
        assert "note: text that readers do not see" in words(pilot)
        assert daemon.told == [("summarise", {"deadline_s": None, "fresh": False, "document": 1})]
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, DocumentScreen)


async def test_esc_stops_a_running_task() -> None:
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=(80, 24)) as pilot:
        daemon.documents = documents_reply(DOCUMENTS[:1])
        daemon.task = [ProgressEvent(stage="map", n=0, m=2), asyncio.Event()]
        await pilot.press("f2")
        await until(pilot, lambda: "vaccine-storage.pdf" in screen_text(pilot))
        await pilot.press("enter", "s")
        await until(pilot, lambda: "Esc stops" in words(pilot))
        await pilot.press("escape")
        async with asyncio.timeout(5):
            await daemon.disconnected.wait()


async def test_columns_are_asked_for_and_rows_shown_with_what_is_doubtful() -> None:
    row = Row(
        number=1,
        values={"name": "Jana", "phone": "215"},
        verified={"name": True, "phone": False},
        sources=[SOURCE],
    )
    done = ExtractionDone(
        columns=["name", "phone"], rows=[row], n_dropped=0, n_parts=1, timings=TIMINGS, model="m"
    )
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=(80, 24)) as pilot:
        daemon.documents = documents_reply(DOCUMENTS[:1])
        daemon.task = [RowEvent(row=row), done]
        await pilot.press("f2")
        await until(pilot, lambda: "vaccine-storage.pdf" in screen_text(pilot))
        await pilot.press("enter", "x")
        await until(pilot, lambda: "Which columns?" in screen_text(pilot))
        await pilot.press(*"name,phone", "enter")
        await until(pilot, lambda: "Jana | 215 [?]" in words(pilot))
        assert daemon.told[0][1]["columns"] == ["name", "phone"]


async def test_a_passage_is_translated_and_an_error_is_told() -> None:
    done = TranslationDone(
        translation="Bei 2 bis 8 °C.", language="German", n_parts=1, timings=TIMINGS, model="m",
        differences=[NumberDifference(piece=1, missing=["3"], added=[])],
    )  # fmt: skip
    async with FakeDaemon() as daemon, ApplianceApp(daemon.socket).run_test(size=(80, 24)) as pilot:
        furnish(daemon)
        daemon.task = [done]
        app = pilot.app
        assert isinstance(app, ApplianceApp)
        await app.push_screen(ReaderScreen(app._client, PASSAGES, 0))
        for said, script in (("numbers differ in part 1: missing 3", [done]), ("the model is gone", [
            ErrorEvent(code="engine_lost", message="the model is gone", retryable=True)
        ])):  # fmt: skip
            daemon.task = script
            await pilot.press("t")
            await until(pilot, lambda: "Into which language?" in screen_text(pilot))
            await pilot.press(*"German", "enter")
            await until(pilot, lambda: isinstance(app.screen, TaskScreen))
            await until(pilot, lambda said=said: said in words(pilot))  # type: ignore[misc]
            await pilot.press("escape")
        assert daemon.told[0] == (
            "translate",
            {"deadline_s": None, "fresh": False, "to": "German", "text": None, "chunk_id": PASSAGES[0].chunk_id,
             "document": None, "page": None},
        )  # fmt: skip
