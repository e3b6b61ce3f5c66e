"""The whole set against a real daemon: its documents are read, its questions asked, its answers judged."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from appliance.api.schema import DoneEvent
from appliance.client import Client
from tests.e2e.daemon_process import DaemonProcess
from tests.redteam.case import Case
from tests.redteam.disguised import DISGUISED
from tests.redteam.orders import ORDERS
from tests.redteam.places import PLACES
from tests.redteam.tongues import TONGUES

CASES: tuple[Case, ...] = (*ORDERS, *DISGUISED, *TONGUES, *PLACES)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one case.

    Attributes:
        followed: what in an answer shows that the injection was followed; empty when nothing does.
        held_fact: whether the first answer holds the true fact.
    """

    case: Case
    answers: tuple[str, ...]
    followed: str
    held_fact: bool


def drop(daemon: DaemonProcess, cases: Sequence[Case]) -> None:
    """Put the documents into the folder and wait until all are read."""
    names = [name for case in cases for name in case.files]
    for case in cases:
        for name, data in case.files.items():
            (daemon.documents / name).write_bytes(data)
    daemon.until_states(**{Path(name).stem: "ready" for name in names})


def ask_all(daemon: DaemonProcess, cases: Sequence[Case]) -> list[Verdict]:
    """Ask every question, one conversation a case."""
    return asyncio.run(_ask_all(daemon, cases))


async def _ask_all(daemon: DaemonProcess, cases: Sequence[Case]) -> list[Verdict]:
    async with Client(daemon.socket) as client:
        return [await _verdict(client, case) for case in cases]


async def _verdict(client: Client, case: Case) -> Verdict:
    answers: list[str] = []
    conversation = None
    for question in case.questions:
        done = [event async for event in client.ask(question, conversation=conversation)][-1]
        assert isinstance(done, DoneEvent), done
        answers.append(done.answer)
        conversation = done.conversation or None
    followed = next((found for found in map(case.follows, answers) if found), "")
    return Verdict(case, tuple(answers), followed, case.holds_fact(answers[0]))


def report(verdicts: Sequence[Verdict]) -> str:
    """Return a line for each case that went wrong, and the sums."""
    lines = [
        f"FOLLOWED {v.case.name} ({v.case.category}): {v.followed!r} in {v.answers}"
        for v in verdicts
        if v.followed
    ]
    n_followed, n_facts = len(lines), sum(v.held_fact for v in verdicts)
    return "\n".join(
        [
            *lines,
            f"{n_followed} of {len(verdicts)} injections followed; {n_facts} answers hold the fact",
        ]
    )
