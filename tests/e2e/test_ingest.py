"""Files of many kinds through a live daemon, found at their places; and ingest steered from the command line."""

from __future__ import annotations

import asyncio
import io
import json
import time
from email.message import EmailMessage
from pathlib import Path

import openpyxl
from PIL import Image, ImageDraw, ImageFont

from tests.e2e.daemon_process import DaemonProcess


def workbook() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Spare parts"
    for row in (["Part", "Supplier", "Price"], ["Impeller", "Harlow", 41.5], ["Gasket", "Tremaine", 3.2]):
        sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "Olga <olga@example.org>", "workshop@example.org"
    message["Subject"] = "Delivery of the winch"
    message.set_content("The winch comes on Thursday; the customs form is attached.")
    message.add_attachment("Customs number: KX-7741-B\n", filename="customs.txt")
    return message.as_bytes()


def picture(text: str) -> bytes:
    image = Image.new("L", (1600, 400), 255)
    ImageDraw.Draw(image).text((60, 140), text, font=ImageFont.load_default(size=64), fill=0)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def test_sheets_mail_and_scans_are_found_at_their_places(own_daemon: DaemonProcess) -> None:
    own_daemon.start()
    folder = own_daemon.documents / "workshop"
    folder.mkdir()
    (folder / "parts.xlsx").write_bytes(workbook())
    (folder / "winch.eml").write_bytes(mail())
    (folder / "sign.png").write_bytes(picture("Emergency valve behind locker nine"))
    own_daemon.until_states(parts="ready", winch="ready", sign="ready")
    assert "workshop/parts.xlsx, Spare parts!A1:C3" in first(own_daemon, "Who supplies the gasket?")
    assert "workshop/winch.eml, customs.txt" in first(own_daemon, "customs number KX-7741-B")
    assert "workshop/sign.png, page 1" in first(own_daemon, "Where is the emergency valve?")
    documents = {Path(d.path).stem: d for d in asyncio.run(own_daemon.listing()).documents}
    assert documents["sign"].notes == ["its text is read from a picture: letters and figures may be wrong"]
    assert {d.collection for d in documents.values()} == {"workshop"}
    shown = own_daemon.run("documents", "--collection", "workshop").stdout
    assert "3 documents in" in shown
    assert "read from a picture" in shown
    assert "0 documents in" in own_daemon.run("documents", "--collection", "kitchen").stdout


def first(daemon: DaemonProcess, question: str) -> str:
    return asyncio.run(daemon.found(question))[0]


def test_ingest_is_paused_planned_and_resumed_from_the_command_line(own_daemon: DaemonProcess) -> None:
    own_daemon.start(loaded=False)
    assert own_daemon.run("ingest", "pause").returncode == 0
    own_daemon.stop()
    own_daemon.start(loaded=False)  # a pause outlives a restart
    (own_daemon.documents / "a.txt").write_text("The pump is in the cellar.\n")
    (own_daemon.documents / "link.txt").symlink_to("/etc/hostname")
    own_daemon.until_states(a="waiting")
    shown = own_daemon.run("ingest", "status").stdout
    assert "paused; 1 waiting" in shown
    assert "1 links and devices" in shown
    plan = json.loads(own_daemon.run("ingest", "plan", "--json").stdout)
    assert list(plan["refused"]) == ["link.txt"]
    assert own_daemon.run("ingest", "resume").returncode == 0
    own_daemon.until_states(a="ready")


def test_a_failed_file_is_read_again_when_told(own_daemon: DaemonProcess) -> None:
    own_daemon.start(loaded=False)
    (own_daemon.documents / "torn.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    own_daemon.until_states(torn="damaged")
    assert "1 documents wait" in own_daemon.run("ingest", "retry", "torn.pdf").stdout
    own_daemon.until_states(torn="damaged")
    unknown = own_daemon.run("ingest", "retry", "no-such.pdf")
    assert unknown.returncode == 2
    assert "no document no-such.pdf" in unknown.stderr


def test_many_missing_files_answer_until_someone_confirms(own_daemon: DaemonProcess) -> None:
    own_daemon.start(loaded=False)
    names = [f"rule-{n}" for n in range(12)]
    for name in names:
        (own_daemon.documents / f"{name}.txt").write_text(f"The {name} says that doors are closed.\n")
    own_daemon.until_states(**dict.fromkeys(names, "ready"))
    for name in names:
        (own_daemon.documents / f"{name}.txt").unlink()
    status = own_daemon.until(lambda status: bool(status.ingest.problem))
    assert "12 of 12 documents are missing" in status.ingest.problem
    assert "appliance ingest confirm" in status.ingest.problem
    time.sleep(1)
    assert len(asyncio.run(own_daemon.listing()).documents) == 12
    assert own_daemon.run("ingest", "confirm").returncode == 0
    own_daemon.until(lambda status: not status.ingest.counts and not status.ingest.problem)
