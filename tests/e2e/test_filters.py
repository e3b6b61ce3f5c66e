"""Questions and searches confined to some documents; older versions of a document make way for the newer one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from appliance.api.schema import DoneEvent, Passage, PassagesEvent, SearchFilter
from appliance.client import Client, RequestFailedError
from tests.e2e.conftest import short_home
from tests.e2e.daemon_process import DaemonProcess

QUESTION = "At what pressure does the safety valve open?"
FILES = {
    "top.txt": "The safety valve of the coffee machine opens at 9 bar.",
    "house/boiler.txt": "The safety valve of the boiler opens at 6.5 bar.",
    "house/deep/pump.md": "The safety valve of the pump opens at 11 bar.",
    "office/keys-v1.txt": "A lost key costs the department 120 euros and is reported to the porter on the same day.",
    "office/keys-v2.txt": "A lost key costs the department 140 euros and is reported to the porter on the same day.",
}


@pytest.fixture(scope="module")
def daemon(models_folder: Path) -> Iterator[DaemonProcess]:
    """A daemon with documents in three folders, each changed in a year of its own, from 2020 on."""
    with short_home() as home:
        running = DaemonProcess(Path(home), models_folder)
        for year, (path, text) in enumerate(FILES.items(), 2020):
            file = running.documents / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n")
            os.utime(file, (datetime(year, 6, 1).timestamp(),) * 2)
        try:
            running.start()
            running.until_states(**{Path(path).stem: "ready" for path in FILES})
            yield running
        finally:
            running.stop()


async def found(daemon: DaemonProcess, only: SearchFilter, query: str = QUESTION) -> list[Passage]:
    async with Client(daemon.socket) as client:
        return (await client.search(query, only=only)).passages


async def id_of(daemon: DaemonProcess, path: str) -> int:
    return next(d.id for d in (await daemon.listing()).documents if d.path == path)


@pytest.mark.parametrize(
    ("only", "paths"),
    [
        (SearchFilter(collections=["house"]), {"house/boiler.txt", "house/deep/pump.md"}),
        (SearchFilter(collections=["house/deep"]), {"house/deep/pump.md"}),
        (SearchFilter(collections=[""]), {"top.txt"}),
        (SearchFilter(formats=["TXT"], collections=["house"]), {"house/boiler.txt"}),
        (SearchFilter(modified_from=datetime(2022, 1, 1).timestamp(), collections=["house"]), {"house/deep/pump.md"}),
        (SearchFilter(modified_until=datetime(2020, 12, 31).timestamp()), {"top.txt"}),
        (SearchFilter(modified_from=datetime(2100, 1, 1).timestamp()), set()),
    ],
)  # fmt: skip
async def test_a_search_finds_only_what_its_filter_lets_in(
    daemon: DaemonProcess, only: SearchFilter, paths: set[str]
) -> None:
    assert {passage.path for passage in await found(daemon, only)} == paths


@pytest.mark.parametrize(
    ("only", "said"),
    [
        (
            SearchFilter(collections=["cellar"]),
            "no collection 'cellar'; there are: house, house/deep, office",
        ),
        (SearchFilter(documents=[4711]), "no document 4711"),
        (SearchFilter(formats=["odt"]), "no document of type 'odt'; there are: md, txt"),
    ],
)
async def test_a_name_that_is_not_there_is_an_error_with_what_there_is(
    daemon: DaemonProcess, only: SearchFilter, said: str
) -> None:
    with pytest.raises(RequestFailedError, match=said) as refused:
        await found(daemon, only)
    assert (refused.value.status, refused.value.code) == (422, "not_in_library")
    async with Client(daemon.socket) as client:
        with pytest.raises(RequestFailedError, match=said):
            _ = [event async for event in client.ask(QUESTION, only=only)]


async def test_a_question_and_its_follow_up_are_answered_from_the_documents_that_each_names(
    daemon: DaemonProcess,
) -> None:
    async with Client(daemon.socket) as client:
        boiler = SearchFilter(documents=[await id_of(daemon, "house/boiler.txt")])
        first = [event async for event in client.ask(QUESTION, only=boiler)]
        assert isinstance(first[0], PassagesEvent)
        assert [passage.path for passage in first[0].passages] == ["house/boiler.txt"]
        assert isinstance(first[-1], DoneEvent)
        deep = SearchFilter(collections=["house/deep"])
        follow_up = client.ask("And that of the pump?", conversation=first[-1].conversation, only=deep)
        second = [event async for event in follow_up]
        assert isinstance(second[0], PassagesEvent)
        assert [passage.path for passage in second[0].passages] == ["house/deep/pump.md"]
        assert isinstance(second[-1], DoneEvent)
        assert second[-1].conversation == first[-1].conversation


async def test_the_newer_version_is_shown_and_the_older_one_named_until_it_is_asked_for(
    daemon: DaemonProcess,
) -> None:
    newest = (await found(daemon, SearchFilter(collections=["office"]), "What does a lost key cost?"))[0]
    assert (newest.path, newest.older) == ("office/keys-v2.txt", ["office/keys-v1.txt"])
    old = SearchFilter(documents=[await id_of(daemon, "office/keys-v1.txt")])
    (passage,) = await found(daemon, old, "What does a lost key cost?")
    assert (passage.path, passage.older) == ("office/keys-v1.txt", [])


def test_the_command_line_takes_filters_and_shows_them_with_the_older_versions(daemon: DaemonProcess) -> None:
    shown = daemon.run("search", "What does a lost key cost?", "--collection", "office", "--since", "2022")
    assert shown.stdout.startswith("only collection office, since 2022\n")
    place = next(line for line in shown.stdout.splitlines() if "office/keys-v2.txt, line 1" in line)
    assert "office/keys-v1.txt" in place, "the older version is named beside the newer one"
    asked = daemon.run(
        "ask", QUESTION, "--document", str(daemon.documents / "house/boiler.txt"), "--type", ".txt"
    )
    assert "[1] house/boiler.txt" in asked.stdout
    assert "pump" not in asked.stdout
    plain = daemon.run("search", QUESTION, "--until", "2020", "--json")
    assert [passage["path"] for passage in json.loads(plain.stdout)["passages"]] == ["top.txt"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--collection", "hose"], "there is no collection 'hose'"),
        (["--document", "house/boilr.txt"], "did you mean house/boiler.txt?"),
        (["--since", "June"], "'June' is no date"),
    ],
)
def test_a_wrong_option_is_a_user_error_in_plain_words(
    daemon: DaemonProcess, options: list[str], said: str
) -> None:
    ended = daemon.run("search", QUESTION, *options)
    assert ended.returncode == 2
    assert said in " ".join(ended.stderr.split())
