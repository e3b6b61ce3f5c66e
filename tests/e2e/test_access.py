"""Two people on one machine: each gets answers from the files that they may read, and no other."""

from __future__ import annotations

import grp
import json
import os
import pwd
import shutil
import subprocess
from typing import Any

import pytest

from tests.e2e.daemon_process import DaemonProcess

NOBODY = "nobody"


@pytest.fixture
def shared(own_daemon: DaemonProcess) -> DaemonProcess:
    """A daemon whose socket the user nobody may use, with a private and a public file."""
    if os.geteuid() != 0 or shutil.which("curl") is None:
        pytest.skip("needs root, to be someone else, and curl")
    group = grp.getgrgid(pwd.getpwnam(NOBODY).pw_gid).gr_name
    own_daemon.settings["APPLIANCE_API__GROUP"] = group
    own_daemon.home.chmod(0o755)
    (own_daemon.documents / "pay.txt").write_text("The director of the clinic earns 9,100 a month.\n")
    (own_daemon.documents / "rota.txt").write_text("The director of the clinic is on call on Friday.\n")
    (own_daemon.documents / "pay.txt").chmod(0o600)
    (own_daemon.documents / "rota.txt").chmod(0o644)
    own_daemon.start(loaded=False)
    own_daemon.until_states(pay="ready", rota="ready")
    return own_daemon


def as_nobody(daemon: DaemonProcess, path: str, *options: str) -> Any:
    ended = subprocess.run(
        ["curl", "--silent", "--unix-socket", str(daemon.socket), f"http://appliance{path}", *options],
        user=NOBODY, group=pwd.getpwnam(NOBODY).pw_gid, extra_groups=[], capture_output=True, text=True, timeout=30,
        check=True, env={"PATH": os.environ["PATH"]}, cwd="/",
    )  # fmt: skip
    return json.loads(ended.stdout)


def found_by_nobody(daemon: DaemonProcess) -> list[str]:
    found = as_nobody(
        daemon, "/api/search", "--json", '{"query": "how much does the director earn a month?"}'
    )
    return sorted(passage["path"] for passage in found["passages"])


def test_search_documents_and_texts_are_limited_to_what_the_caller_may_read(shared: DaemonProcess) -> None:
    assert found_by_nobody(shared) == ["rota.txt"]
    listed = as_nobody(shared, "/api/documents")["documents"]
    assert [document["path"] for document in listed] == ["rota.txt"]
    root = json.loads(shared.run("search", "how much does the director earn a month?", "--json").stdout)
    private = next(passage for passage in root["passages"] if passage["path"] == "pay.txt")
    around = as_nobody(shared, f"/api/chunks/{private['chunk_id']}/around")
    assert around["error"]["code"] == "not_found"


def test_a_change_of_mode_counts_at_once(shared: DaemonProcess) -> None:
    (shared.documents / "rota.txt").chmod(0o600)
    assert found_by_nobody(shared) == []
    (shared.documents / "pay.txt").chmod(0o644)
    shared.until(lambda _: found_by_nobody(shared) == ["pay.txt"])


def test_nobody_replaces_a_file_of_someone_else(shared: DaemonProcess) -> None:
    refused = as_nobody(shared, "/api/documents?name=rota.txt&replace=true", "--data-binary", "mine now")
    assert refused["error"]["code"] == "not_allowed"
    assert (shared.documents / "rota.txt").read_text().startswith("The director")
    added = as_nobody(
        shared, "/api/documents?name=mine.txt", "--data-binary", "The bicycle shed is locked at nine."
    )
    assert added["path"] == "mine.txt"
    assert (shared.documents / "mine.txt").stat().st_uid == pwd.getpwnam(NOBODY).pw_uid


def test_conversations_are_the_callers_own(shared: DaemonProcess) -> None:
    shared.until(lambda status: status.engine.state == "ready")
    assert shared.run("ask", "On which day is the director on call?", "--json").returncode in (0, 4)
    assert as_nobody(shared, "/api/conversations") == []
