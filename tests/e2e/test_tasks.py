"""Tasks over whole documents with the real small model: through the client, HTTP and the command line."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import httpx
import pytest

from appliance.api.schema import ErrorEvent
from appliance.api.schema_tasks import (
    ExtractionDone,
    ExtractRequest,
    ProgressEvent,
    SummariseRequest,
    SummaryDone,
)
from appliance.client import Client
from tests.e2e.conftest import short_home
from tests.e2e.daemon_process import DaemonProcess
from tests.e2e.files import BOILER, pdf

MANUAL = pdf(
    [
        f"The {topic}\n"
        + "\n".join(f"Part {n} of the {topic} is checked every {n + 2} months." for n in range(10))
        for topic in ("pump", "boiler", "valve")
    ]
)


@pytest.fixture(scope="module")
def house(models_folder: Path) -> Iterator[DaemonProcess]:
    """A daemon with a short and a long document; its tasks are cut short by a small context."""
    with short_home() as home:
        running = DaemonProcess(Path(home), models_folder)
        running.settings["APPLIANCE_ENGINE__N_CTX"] = "1024"
        (running.documents / "boiler.pdf").write_bytes(BOILER)
        (running.documents / "manual.pdf").write_bytes(MANUAL)
        (running.documents / "broken.pdf").write_bytes(b"%PDF-1.4 nothing more")
        running.start()
        running.until_states(boiler="ready", manual="ready")
        yield running
        running.stop()


async def test_a_summary_that_was_cancelled_goes_on_and_is_then_kept(house: DaemonProcess) -> None:
    asked = SummariseRequest(document="manual.pdf")
    async with Client(house.socket) as client:
        async with aclosing(client.summarise(asked)) as events:
            async for event in events:
                if isinstance(event, ProgressEvent) and event.n == 1:
                    break
        for _ in range(50):
            if (await house.status()).engine.n_running == 0:
                break
            await asyncio.sleep(0.1)
        assert (await house.status()).engine.n_running == 0
        first = [event async for event in client.summarise(asked)]
        again = [event async for event in client.summarise(asked)]
    done, kept = first[-1], again[-1]
    assert isinstance(done, SummaryDone)
    assert isinstance(kept, SummaryDone)
    assert done.n_parts > 1
    assert done.timings.n_cached >= 1
    assert {e.stage for e in first if isinstance(e, ProgressEvent)} == {"map", "reduce"}
    assert (kept.summary, kept.timings.n_steps) == (done.summary, 0)
    assert done.summary
    assert done.statements[-1].end <= len(done.summary)


async def test_rows_follow_the_schema_and_their_values_stand_in_the_document(house: DaemonProcess) -> None:
    schema = {
        "type": "object", "required": ["part", "bar"],
        "properties": {"part": {"type": "string", "maxLength": 40}, "bar": {"type": ["number", "null"]}},
    }  # fmt: skip
    asked = ExtractRequest(documents=["boiler.pdf"], json_schema=schema, row="pressure", strict=True)
    async with Client(house.socket) as client:
        done = [event async for event in client.extract(asked)][-1]
    assert isinstance(done, ExtractionDone)
    assert done.columns == ["part", "bar"]
    for row in done.rows:
        assert set(row.values) == {"part", "bar"}
        assert row.values["bar"] in (6.5, 4.2, 2, None)
        assert row.sources[0].path == "boiler.pdf"


def test_the_command_line_prints_the_result_alone_on_stdout(house: DaemonProcess) -> None:
    summary = house.run("summarise", "boiler.pdf")
    assert summary.returncode == 0, summary.stderr
    assert "boiler.pdf, page" in summary.stdout
    assert "part 1 of 1" in summary.stderr
    data = json.loads(house.run("summarise", "boiler.pdf", "--json").stdout)
    assert data["timings"]["n_cached"] == 1
    table = house.run("extract", "boiler.pdf", "--columns", "thing,pressure")
    assert table.returncode == 0, table.stderr
    assert next(csv.reader(io.StringIO(table.stdout)))[:2] == ["thing", "pressure"]
    translated = house.run("translate", "--to", "French", "Keep the door shut.")
    assert translated.returncode == 0, translated.stderr
    assert translated.stdout.strip()
    page = house.run("translate", "--to", "French", "--document", "boiler.pdf", "--page", "1", "--json")
    assert json.loads(page.stdout)["sources"][0]["locator"].startswith("page 1")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("summarise", "nothing.pdf"), 2, "'nothing.pdf'"),
        (("summarise", "broken.pdf"), 1, "broken.pdf"),
        (("extract", "boiler.pdf"), 2, "columns or json_schema"),
        (("extract", "boiler.pdf", "--columns", "a,A"), 2, "'A' is there twice"),
        (("translate", "--to", "<German>", "x"), 2, "to:"),
        (("translate", "--to", "German", "--document", "boiler.pdf", "--page", "9"), 2, "no text on page 9"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(
    house: DaemonProcess, arguments: tuple[str, ...], code: int, says: str
) -> None:
    ended = house.run(*arguments)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert says in ended.stderr


def test_ctrl_c_stops_the_task_and_says_that_it_goes_on_later(house: DaemonProcess) -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "appliance", "summarise", "manual.pdf", "--fresh"],
        env=house.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert running.stderr is not None
    assert "part 1 of" in running.stderr.readline()
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=20)
    assert running.returncode == 130
    assert "goes on from here" in said
    deadline = time.monotonic() + 10
    while asyncio.run(house.status()).engine.n_running and time.monotonic() < deadline:
        time.sleep(0.1)
    assert asyncio.run(house.status()).engine.n_running == 0


async def test_errors_and_deadlines_have_the_shape_of_all_others(house: DaemonProcess) -> None:
    transport = httpx.AsyncHTTPTransport(uds=str(house.socket))
    async with httpx.AsyncClient(transport=transport, base_url="http://appliance") as http:
        for path, body, status, code in [
            ("summarise", {"document": 99}, 404, "not_found"),
            ("summarise", {"document": "boiler.pdf", "more": 1}, 400, "bad_request"),
            ("summarise", {"document": "broken.pdf"}, 409, "not_readable_yet"),
            ("translate", {"to": "German"}, 400, "bad_request"),
            ("extract", {"documents": ["boiler.pdf"], "columns": [" "]}, 400, "bad_task"),
            ("extract", {"documents": ["boiler.pdf"], "json_schema": {"minimum": 1}}, 400, "bad_sampling"),
        ]:
            reply = await http.post(f"/api/tasks/{path}", json=body)
            assert (reply.status_code, reply.json()["error"]["code"]) == (status, code), reply.text
        late = await http.post(
            "/api/tasks/summarise", json={"document": "manual.pdf", "fresh": True, "deadline_s": 0.3}
        )
        assert '"code":"deadline"' in late.text.splitlines()[-2]


async def test_a_document_that_changes_meanwhile_ends_its_task(house: DaemonProcess) -> None:
    paper = house.documents / "changing.pdf"
    paper.write_bytes(MANUAL)
    await asyncio.to_thread(house.until_states, changing="ready")
    async with Client(house.socket) as client:
        last = None
        async for event in client.summarise(SummariseRequest(document="changing.pdf", fresh=True)):
            last = event
            if isinstance(event, ProgressEvent) and event.n == 1:
                paper.write_bytes(BOILER)
    assert isinstance(last, ErrorEvent)
    assert last.code == "document_changed"
    assert "changing.pdf" in last.message
