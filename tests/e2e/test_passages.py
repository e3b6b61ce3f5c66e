"""Passages that the model has read before: whose they are, how long they last, and a daemon killed over them."""

from __future__ import annotations

import asyncio
import contextlib
import grp
import json
import os
import pwd
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from appliance.api.schema import AskEvent, DoneEvent, PassagesEvent, ReuseRequest
from appliance.client import Client
from appliance.errors import ApplianceError
from tests.e2e.daemon_process import DaemonProcess
from tests.e2e.test_access import NOBODY

PAY = (
    "The director of the clinic earns 9,100 a month. The head nurse earns 4,300 a month, and the cook of the clinic "
    "earns 2,900 a month. Wages are paid on the last Friday.\n"
)
ROTA = (
    "The director of the clinic is on call on Friday. The head nurse is on call on Sunday, and the cook of the clinic "
    "is there from six in the morning. The rota changes each month.\n"
)
QUESTION = "On which day is the director of the clinic on call?"


@pytest.fixture
def clinic(own_daemon: DaemonProcess) -> DaemonProcess:
    """A daemon that joins passages, with a private and a public file; not yet started."""
    own_daemon.settings["APPLIANCE_ENGINE__BLOCKS"] = "blocks"
    (own_daemon.documents / "pay.txt").write_text(PAY)
    (own_daemon.documents / "rota.txt").write_text(ROTA)
    (own_daemon.documents / "pay.txt").chmod(0o600)
    (own_daemon.documents / "rota.txt").chmod(0o644)
    return own_daemon


def begin(daemon: DaemonProcess) -> None:
    daemon.start()
    daemon.until_states(pay="ready", rota="ready")


def blocks_of(daemon: DaemonProcess, text: str) -> Path:
    """The folder of what the model has read of a file."""
    return daemon.home / "state" / "blocks" / sha256(text.encode()).hexdigest()[:32]


def used_ns(folder: Path) -> int:
    """When the blocks of a file were last written or read; 0: there are none."""
    return max((path.stat().st_mtime_ns for path in folder.glob("*.kv")), default=0)


def ask(daemon: DaemonProcess, question: str = QUESTION, reuse: ReuseRequest | None = None) -> DoneEvent:
    """Ask as ourselves; the answer must end as it should."""

    async def asked() -> AskEvent:
        async with Client(daemon.socket) as client:
            return [event async for event in client.ask(question, reuse=reuse)][-1]

    done = asyncio.run(asked())
    assert isinstance(done, DoneEvent), done
    return done


def ask_as_nobody(daemon: DaemonProcess) -> list[dict[str, Any]]:
    """Ask as someone who may read less."""
    ended = subprocess.run(
        ["curl", "--silent", "--no-buffer", "--unix-socket", str(daemon.socket), "http://appliance/api/ask", "--json",
         json.dumps({"question": QUESTION})],
        user=NOBODY, group=pwd.getpwnam(NOBODY).pw_gid, extra_groups=[], capture_output=True, text=True, timeout=60,
        check=True, env={"PATH": os.environ["PATH"]}, cwd="/",
    )  # fmt: skip
    lines = ended.stdout.splitlines()
    return [json.loads(line.removeprefix("data:")) for line in lines if line.startswith("data:")]


def test_who_may_not_read_a_document_never_has_its_block_loaded(clinic: DaemonProcess) -> None:
    if os.geteuid() != 0 or shutil.which("curl") is None:
        pytest.skip("needs root, to be someone else, and curl")
    clinic.settings["APPLIANCE_API__GROUP"] = grp.getgrgid(pwd.getpwnam(NOBODY).pw_gid).gr_name
    clinic.home.chmod(0o755)
    begin(clinic)
    ask(clinic)
    pay, rota = blocks_of(clinic, PAY), blocks_of(clinic, ROTA)
    private, public = used_ns(pay), used_ns(rota)
    assert private
    assert public
    clinic.kill()  # so that nothing is left in the engine's own memory
    begin(clinic)
    events = ask_as_nobody(clinic)
    [shown] = [event["passages"] for event in events if event["event"] == "passages"]
    assert [passage["path"] for passage in shown] == ["rota.txt"]
    assert (events[-1]["event"], events[-1]["origin"]) == ("done", "model")
    assert events[-1]["timings"]["n_reused"] > 16
    assert "9,100" not in json.dumps(events)
    assert used_ns(rota) > public
    assert used_ns(pay) == private, "the private one was not even opened"
    ask(clinic)
    assert used_ns(pay) > private, "as it is for whom it belongs to"


def test_folders_of_blocks_are_for_the_daemon_alone(clinic: DaemonProcess) -> None:
    begin(clinic)
    ask(clinic)
    blocks = clinic.home / "state" / "blocks"
    assert {oct(path.stat().st_mode & 0o777) for path in (blocks, *blocks.iterdir())} == {"0o700"}
    assert {oct(path.stat().st_mode & 0o777) for path in blocks.glob("*/*")} == {"0o600"}


def test_new_version_and_deletion_take_what_was_read_along(clinic: DaemonProcess) -> None:
    begin(clinic)
    ask(clinic)
    old, pay = blocks_of(clinic, ROTA), blocks_of(clinic, PAY)
    assert used_ns(old)
    newer = ROTA.replace("Friday", "Monday")
    (clinic.documents / "rota.txt").write_text(newer)
    clinic.until(lambda _: not old.exists())
    ask(clinic)
    assert used_ns(blocks_of(clinic, newer))
    (clinic.documents / "pay.txt").unlink()
    clinic.until(lambda _: not pay.exists())
    assert "9,100" not in ask(clinic).answer
    assert not pay.exists()
    assert used_ns(blocks_of(clinic, newer))


@pytest.mark.parametrize("moment", ["passages", "prefill", "token"])
def test_daemon_killed_over_a_question_answers_it_when_asked_again(
    clinic: DaemonProcess, moment: str
) -> None:
    begin(clinic)

    async def kill_in_mid_answer() -> bool:
        async with Client(clinic.socket) as client:
            async for event in client.ask(QUESTION):
                if isinstance(event, PassagesEvent):
                    assert len(event.passages) == 2
                if event.event == moment:
                    clinic.kill()
                    return True
        return False

    with contextlib.suppress(ApplianceError):
        assert asyncio.run(kill_in_mid_answer())
    assert not clinic.is_running
    begin(clinic)
    assert ask(clinic).finish_reason in ("stop", "length")
    assert used_ns(blocks_of(clinic, PAY))
    assert used_ns(blocks_of(clinic, ROTA))
    assert list((clinic.home / "state" / "blocks").glob("*/*.part")) == []
    clinic.kill()
    begin(clinic)
    assert ask(clinic).timings.n_reused > 32


def test_question_says_itself_what_becomes_of_its_passages(clinic: DaemonProcess) -> None:
    clinic.settings["APPLIANCE_ENGINE__BLOCKS"] = "exact"
    begin(clinic)
    ask(clinic)
    assert not used_ns(blocks_of(clinic, PAY))
    clinic.kill()  # what its cells hold would do
    begin(clinic)
    ask(clinic, reuse=ReuseRequest(mode="blocks"))
    assert used_ns(blocks_of(clinic, PAY))
    assert clinic.until(lambda status: status.engine.n_blocks == 2).engine.reuse == "exact"


def test_where_passages_are_joined_the_best_three_are_shown(clinic: DaemonProcess) -> None:
    clinic.settings["APPLIANCE_ENGINE__BLOCKS"] = "exact"
    for day in ("Monday", "Tuesday", "Wednesday"):
        text = f"On {day} the director of the clinic sees patients of ward {day[0]}, and the nurse of {day} helps.\n"
        (clinic.documents / f"{day}.txt").write_text(text)
    begin(clinic)
    clinic.until_states(Monday="ready", Tuesday="ready", Wednesday="ready")

    def shown(reuse: ReuseRequest) -> list[str]:
        async def passages() -> list[str]:
            async with Client(clinic.socket) as client:
                async for event in client.ask(QUESTION, reuse=reuse):
                    if isinstance(event, PassagesEvent):
                        return [passage.path for passage in event.passages]
            return []

        return asyncio.run(passages())

    read, joined = shown(ReuseRequest(mode="exact")), shown(ReuseRequest(mode="blocks"))
    assert (len(read), len(joined)) == (4, 3)
    assert joined == read[:3]
