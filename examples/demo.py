"""`make demo`: reads examples/documents with a private daemon, asks two questions, prints the answers, stops.

The home is .demo/ in the clone, so a second run reads nothing again. Models are those of `make run`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

import yaml
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from appliance import background, offline, show
from appliance.api.schema_documents import Document, DocumentsReply
from appliance.client import Client
from appliance.config import load

EXAMPLES = Path(__file__).resolve().parent
HOME = EXAMPLES.parent / ".demo"
UNFINISHED = {"waiting", "parsing", "embedding"}


def main() -> int:
    """Run the demo; return 0 when the first question was answered and the second was not."""
    offline.enforce(os.environ)
    # The demo's home has no models of its own.
    os.environ.setdefault("APPLIANCE_MODELS__FOLDER", str(load().models))
    config = load(HOME)
    config.documents.mkdir(parents=True, exist_ok=True)
    names = _copy_new(EXAMPLES / "documents", config.documents)
    background.stop(config)
    print(f"starting a private daemon in {HOME}")
    background.start(config)
    try:
        return asyncio.run(_show(config.socket, names))
    finally:
        background.stop(config)


def _copy_new(source: Path, target: Path) -> set[str]:
    files = [path for path in source.iterdir() if path.is_file()]
    for path in files:
        copy = target / path.name
        if not copy.exists() or copy.read_bytes() != path.read_bytes():
            shutil.copy(path, copy)
    return {path.name for path in files}


async def _show(socket: Path, names: set[str]) -> int:
    questions = yaml.safe_load((EXAMPLES / "questions.yaml").read_text(encoding="utf-8"))
    async with Client(socket) as client:
        await _until_ready(client, names)
        await _until_loaded(client)
        answered = await _ask(client, questions["answerable"][0]["question"])
        refused = not await _ask(client, questions["unanswerable"][0]["question"])
    return 0 if answered and refused else 1


async def _until_ready(client: Client, names: set[str]) -> None:
    """Show a bar until every example is read."""
    columns = (
        TextColumn("reading the examples"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[now]}"),
    )
    with Progress(*columns) as progress:
        task = progress.add_task("", total=len(names), now="")
        async for reply in client.watch_documents():
            done = _finished(reply, names)
            progress.update(task, completed=len(done), now=reply.ingest.current)
            if len(done) == len(names):
                break
    for document in done:
        if document.state != "ready":
            print(f"{document.path}: {document.state}: {document.reason}")


def _finished(reply: DocumentsReply, names: set[str]) -> list[Document]:
    return [d for d in reply.documents if d.path in names and d.state not in UNFINISHED]


async def _until_loaded(client: Client) -> None:
    while (engine := (await client.status()).engine).state == "starting":
        print(f"\rloading {engine.model or 'the model'} …", end="", flush=True)
        await asyncio.sleep(0.5)
    print(f"\r{engine.model}: {engine.state} on {engine.device}   {engine.reason}")


async def _ask(client: Client, question: str) -> bool:
    print(f"\n❯ {question}\n")
    answer = show.Answer(as_json=False)
    async for event in client.ask(question):
        answer.take(event)
    return answer.finish()


if __name__ == "__main__":
    sys.exit(main())
