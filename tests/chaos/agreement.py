"""Whether record, index, processes and answers agree with the folder; every disagreement is a sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from appliance.api.schema import Passage
from appliance.api.schema_status import StatusReply
from appliance.client import Client
from ingest.index_folder import IndexFolder
from tests.chaos.living_folder import LivingFolder, holders

CHECKOUT = Path(__file__).parents[2]
UNFINISHED = ("waiting", "parsing", "embedding")
N_PASSAGES = 20
STATE = {
    "library.db",
    "journal.db",
    "tasks.db",
    "chroma",
    "prefixes",
    "blocks",
    "tuned-blocks.yaml",
    "filler",
    "lost+found",
    "library.db.damaged",
}
# How many there may be: a parse server that was killed is started when the next file comes.
PROCESSES = {"appliance": (1,), "ingest.parse_server": (0, 1), "appliance.engine.serve": (1,)}


async def of_files(client: Client, folder: LivingFolder) -> list[str]:
    """Compare the daemon's list with the folder; every file must be in its final state."""
    reply = await client.documents()
    found = {document.path: document for document in reply.documents}
    wrong = [f"{path} is not in the record" for path in sorted(folder.papers.keys() - found.keys())]
    wrong += [f"{path} has no file" for path in sorted(found.keys() - folder.papers.keys())]
    for path in sorted(folder.papers.keys() & found.keys()):
        paper, document = folder.papers[path], found[path]
        if document.state in UNFINISHED or (document.state == "ready") != paper.good:
            wrong.append(f"{path} ({paper.kind}) is {document.state}: {document.reason}")
        elif document.sha256 != paper.sha256:
            wrong.append(f"{path} was read as it was before")
        elif not paper.good and not document.reason:
            wrong.append(f"{path} is {document.state} without a reason")
    if reply.ingest.n_waiting or reply.ingest.current or reply.ingest.problem:
        wrong.append(
            f"ingest is not idle: {reply.ingest.current or reply.ingest.problem or 'something waits'}"
        )
    return wrong


def of_state(
    look: str,
    state: Path,
    wrapper: Sequence[str],
    status: StatusReply | None = None,
    words: Sequence[str] = (),
) -> list[str]:
    """Look into the files of the state, where they are mounted; see `look`.

    Args:
        look: "record" or "index".
        status: what the daemon says of its index, while it runs.
        words: that must not be in the record.
    """
    done = subprocess.run(
        [*wrapper, sys.executable, "-m", "tests.chaos.look", look, str(state), *words],
        capture_output=True, text=True, check=False, cwd=CHECKOUT,
    )  # fmt: skip
    if done.returncode != 0:
        return [f"the {look} cannot be looked into: {done.stderr[-500:]}"]
    seen = json.loads(done.stdout)
    wrong: list[str] = seen["wrong"]
    if status and (status.index.state, status.index.n_vectors) != ("ready", seen["n_vectors"]):
        index = status.index
        wrong.append(
            f"the index is {index.state} ({index.reason}), {index.n_vectors} of {seen['n_vectors']} vectors"
        )
    return wrong


def of_leftovers(home: Path, state: Path) -> list[str]:
    """Return what should not be there: temporary files, indexes out of use, processes."""
    names = {path.name.removesuffix("-wal").removesuffix("-shm") for path in state.iterdir()}
    wrong = [f"left over in state: {name}" for name in sorted(names - STATE)]
    chroma = state / "chroma"
    in_use = {"index.json", IndexFolder(chroma).load().directory}
    wrong += [f"left over in chroma: {name}" for name in sorted(set(os.listdir(chroma)) - in_use)]
    wrong += [f"left over in prefixes: {path.name}" for path in (state / "prefixes").glob("*.part")]
    wrong += [f"left over in blocks: {path.name}" for path in (state / "blocks").glob("*/*.part")]
    running = list(processes_of(home))
    for name, numbers in PROCESSES.items():
        if (found := sum(module == name for _, module in running)) not in numbers:
            wrong.append(f"{found} processes of {name}")
    wrong += [f"left over: process {pid} of {name}" for pid, name in running if name not in PROCESSES]
    return wrong


def processes_of(home: Path) -> Iterator[tuple[int, str]]:
    """Yield pid and module of each process that works for a home."""
    mark = f"APPLIANCE_HOME={home}".encode()
    for process in Path("/proc").iterdir():
        try:
            if not process.name.isdigit() or mark not in (process / "environ").read_bytes().split(b"\0"):
                continue
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if words != [""]:
            yield int(process.name), words[words.index("-m") + 1] if "-m" in words else words[0]


async def of_answers(client: Client, folder: LivingFolder, words: Iterable[str]) -> list[str]:
    """Search for words: each living one is found once and under all its names, a dead one nowhere."""
    wrong = []
    for word in words:
        passages = (await client.search(word, N_PASSAGES)).passages
        wrong += _of_passages(word, [p for p in passages if word in p.text], holders(folder.papers, word))
    return wrong


def _of_passages(word: str, found: Sequence[Passage], expected: Sequence[str]) -> Iterator[str]:
    names = sorted({name for passage in found for name in (passage.path, *passage.also)})
    if names != list(expected):
        yield f"{word} is found in {names}, stands in {list(expected)}"
    if len(found) > 1:
        yield f"{word} is found {len(found)} times: {[(p.path, p.locator, p.chunk_id) for p in found]}"
