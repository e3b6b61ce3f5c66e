"""Rounds of chaos: a folder that lives, a daemon that suffers, and afterwards a look whether all agree again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TypeAlias

from appliance.client import Client
from appliance.errors import ApplianceError, NotRunningError
from tests.chaos import agreement
from tests.chaos.living_folder import LivingFolder
from tests.chaos.private_disk import PrivateDisk
from tests.e2e.daemon_process import DaemonProcess

AGREE_S = 300.0  # the machine may be busy with other things; a daemon that hangs is found out all the same
POLL_S = 0.3
DISK_MB = 160  # of state: the record, the index twice while it is rebuilt, and a little room
N_WORDS = 6  # of living and of dead files each, besides those of the round
LOG_TAIL = 6000  # characters


class DisagreementError(Exception):
    """Something did not come right by itself; the message says what, and ends with the daemon's log."""


Fault: TypeAlias = "Callable[[Ordeal], str]"


class Ordeal:
    """One home, its daemon, and its folder.

    Args:
        disk: the home's `state` lies on it; None: on the same disk as all.
        say: hears what is done.
    """

    def __init__(
        self, home: Path, models: Path, rng: Random, disk: PrivateDisk | None, say: Callable[[str], None]
    ) -> None:
        self.rng = rng
        self.disk = disk
        self.home = home
        self.state = disk.path if disk else home / "state"
        self.say = say
        self.patience_s = AGREE_S
        self.daemon = DaemonProcess(home, models, disk.wrapper if disk else ())
        self.daemon.settings |= {
            "APPLIANCE_INGEST__MAX_DELETE_SHARE": "1.0",  # nobody is there to confirm
            "APPLIANCE_ENGINE__N_CTX": "2048",
            "APPLIANCE_ENGINE__BLOCKS": "blocks",
            "APPLIANCE_ANSWER__MAX_TOKENS": "48",
        }
        self._place = home / "state", disk.wrapper if disk else ()
        self.folder = LivingFolder(self.daemon.documents, rng)
        self._was_dead = 0

    def begin(self, n_files: int) -> None:
        """Start with some files."""
        self.folder.fill(n_files)
        self.daemon.start(loaded=False)
        self.until_agreement()

    def round(self, *faults: Fault) -> None:
        """Let the folder live, let the faults happen at random moments meanwhile, and wait until all agree."""
        words = self._words()
        for fault in faults:
            self._live(self.rng.randrange(1, 5))
            self.say(f"    {fault(self)}")
        self._live(self.rng.randrange(3))
        if not self.daemon.is_running:
            self.daemon.start(loaded=False)
        self._live(self.rng.randrange(2))
        self.until_agreement(sorted(self._words() - words))

    def end(self) -> None:
        """Stop, and compare index and record vector by vector."""
        self.daemon.stop()
        until_none(lambda: [f"left over: {name}" for _, name in agreement.processes_of(self.home)])
        if wrong := agreement.of_state("index", *self._place):
            raise DisagreementError("\n".join(wrong))

    def search(self) -> None:
        """Ask for anything; the daemon must answer while it runs."""
        words = sorted(self._words())
        if words and self.daemon.is_running:
            asyncio.run(self._search(self.rng.choice(words)))

    def until_agreement(self, words: Sequence[str] = ()) -> None:
        """Wait until folder, record, index, processes and answers agree.

        Args:
            words: to be searched for, besides some others.
        Raises:
            DisagreementError: they do not, for too long.
        """
        living = sorted(self._words())
        words = {*words, *self.rng.sample(living, min(N_WORDS, len(living))), *self._dead()}.intersection(
            {*living, *self._dead()}
        )
        until_none(lambda: asyncio.run(self._disagreements(sorted(words))), self._log, self.patience_s)
        self._was_dead = len(self.folder.dead)

    async def _disagreements(self, words: Sequence[str]) -> list[str]:
        try:
            async with Client(self.daemon.socket) as client:
                wrong = await agreement.of_files(client, self.folder)
                status = await client.status()
                wrong = wrong or agreement.of_state("record", *self._place, status, self._dead())
                wrong = wrong or agreement.of_leftovers(self.home, self.state)
                return wrong or await agreement.of_answers(client, self.folder, words)
        except ApplianceError as error:
            return [f"the daemon does not answer: {error}"]

    def _live(self, n: int) -> None:
        """Let n things happen to the folder."""
        for _ in range(n):
            self.say(f"    {self.folder.disturb()}")
            self.search()
            time.sleep(self.rng.uniform(0, 0.5))

    async def _search(self, word: str) -> None:
        try:
            async with Client(self.daemon.socket) as client:
                await client.search(word, 3)
        except NotRunningError:
            pass  # it is starting

    def _words(self) -> set[str]:
        return {word for paper in self.folder.papers.values() for word in paper.words}

    def _dead(self) -> list[str]:
        return self.folder.dead[max(0, min(self._was_dead, len(self.folder.dead) - N_WORDS)) :]

    def _log(self) -> str:
        return self.daemon.log.read_text(errors="replace")[-LOG_TAIL:]


def until_none(
    wrong: Callable[[], list[str]], log: Callable[[], str] = str, within_s: float = AGREE_S
) -> None:
    """Wait until nothing is wrong.

    Raises:
        DisagreementError: something is, for too long.
    """
    deadline = time.monotonic() + within_s
    while found := wrong():
        if time.monotonic() > deadline:
            raise DisagreementError("\n".join(found) + "\n" + log())
        time.sleep(POLL_S)
