"""What happens in the folder happens in the answers, without any command."""

from __future__ import annotations

import asyncio
from hashlib import sha256

from tests.e2e.daemon_process import DaemonProcess
from tests.e2e.files import BOILER, scan

QUERY = "safety valve of the boiler"


def test_a_dropped_pdf_is_found_and_a_deleted_one_is_not_at_once(own_daemon: DaemonProcess) -> None:
    own_daemon.start()
    file = own_daemon.documents / "boiler.pdf"
    file.write_bytes(BOILER)
    own_daemon.until_states(boiler="ready")
    assert asyncio.run(own_daemon.found(QUERY))[0].startswith("boiler.pdf, page 2")
    file.unlink()
    assert asyncio.run(own_daemon.found(QUERY)) == []
    own_daemon.until(lambda status: status.ingest.counts == {} and status.index.n_vectors == 0)


def test_changes_renames_and_moves_end_up_right_also_while_the_daemon_was_down(
    own_daemon: DaemonProcess,
) -> None:
    own_daemon.start()
    folder = own_daemon.documents
    (folder / "boiler.pdf").write_bytes(BOILER)
    (folder / "notes.md").write_text("# Notes\n\nThe spare key hangs in room 12.\n")
    own_daemon.until_states(boiler="ready", notes="ready")

    (folder / "boiler.pdf").rename(folder / "steam.pdf")
    (folder / "notes.md").write_text("# Notes\n\nThe spare key hangs in room 40.\n")
    own_daemon.until_states(steam="ready")
    own_daemon.until(lambda _: "room 40" in _texts(own_daemon, "spare key"))
    assert "room 12" not in _texts(own_daemon, "spare key")
    assert asyncio.run(own_daemon.found(QUERY))[0].startswith("steam.pdf")

    own_daemon.stop()
    (folder / "sub").mkdir()
    (folder / "steam.pdf").rename(folder / "sub" / "steam.pdf")
    (folder / "notes.md").unlink()
    (folder / "new.txt").write_text("The canteen closes at 14:30.\n")
    own_daemon.start()
    own_daemon.until_states(steam="ready", new="ready")
    own_daemon.until(lambda status: status.ingest.counts == {"ready": 2})
    assert asyncio.run(own_daemon.found(QUERY))[0].startswith("sub/steam.pdf, page 2")


def test_a_file_that_cannot_be_read_says_why_in_plain_words(own_daemon: DaemonProcess) -> None:
    own_daemon.start()
    (own_daemon.documents / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    (own_daemon.documents / "blank.txt").write_bytes(b"")
    (own_daemon.documents / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(200))
    (own_daemon.documents / "scan.pdf").write_bytes(scan())
    (own_daemon.documents / "base.sqlite").write_bytes(b"SQLite format 3\0" + bytes(200))
    own_daemon.until_states(
        broken="damaged", blank="empty", photo="damaged", scan="empty", base="unsupported"
    )
    assert all(document.reason for document in asyncio.run(own_daemon.listing()).documents)


def test_an_added_file_lands_whole_in_the_folder(own_daemon: DaemonProcess, tmp_path: object) -> None:
    own_daemon.start()
    source = own_daemon.home / "rota.md"
    source.write_text("# Rota\n\nDr. Lindqvist is on call on Friday.\n")
    assert own_daemon.run("add", str(source)).returncode == 0
    own_daemon.until_states(rota="ready")
    assert (own_daemon.documents / "rota.md").read_bytes() == source.read_bytes()
    again = own_daemon.run("add", str(source))
    assert again.returncode == 2
    assert "in the folder already" in again.stderr
    assert own_daemon.run("add", "--replace", str(source)).returncode == 0
    assert [path.name for path in own_daemon.documents.iterdir()] == ["rota.md"]


def _texts(daemon: DaemonProcess, query: str) -> str:
    return daemon.run("search", query, "--json").stdout


def test_what_the_model_kept_of_a_document_goes_with_it(own_daemon: DaemonProcess) -> None:
    files = [own_daemon.documents / name for name in ("notes.md", "rota.md")]
    for file in files:
        file.write_text(f"The spare key of {file.stem} hangs in room 12.\n")
    own_daemon.start(loaded=False)
    own_daemon.until_states(notes="ready", rota="ready")
    blocks = own_daemon.home / "state" / "blocks"
    of_notes, of_rota = (blocks / sha256(file.read_bytes()).hexdigest()[:32] for file in files)
    for owner in (of_notes, of_rota):
        owner.mkdir(parents=True)
        (owner / "a.kv").write_bytes(b"cells")
    files[0].unlink()
    own_daemon.until(lambda _: not of_notes.exists())
    assert of_rota.exists()
