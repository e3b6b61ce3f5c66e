"""Questions that lean on the one before, on a live daemon: the passage that comes first is that of what is meant."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from appliance.api.schema import DoneEvent, Passage, PassagesEvent
from appliance.client import Client
from tests.e2e.conftest import short_home
from tests.e2e.daemon_process import DaemonProcess

# All machines are told of in the same words, so only the topic of the conversation says which one is meant.
FILES = {
    "pump.txt": "The pump in hall A costs 1,450 euros. The pump weighs 38 kilograms. The pump is maintained by Ms "
    "Arden.",
    "pump-hall-b.txt": "The second pump, in hall B, costs 2,980 euros. The second pump weighs 61 kilograms. The second "
    "pump is maintained by Mr Holt.",
    "crane.txt": "The crane costs 88,000 euros. The crane weighs 5,200 kilograms. The crane is maintained by Ms Quill.",
    "kiln.txt": "The kiln costs 12,300 euros. The kiln weighs 740 kilograms. The kiln is maintained by Mr Brandt.",
    "press.txt": "The press costs 9,400 euros. The press weighs 1,150 kilograms. The press is maintained by Ms Roe.",
    "forklift.txt": "The forklift costs 23,700 euros. The forklift weighs 2,900 kilograms. The forklift is "
    "maintained by Mr Sato.",
    "leave.txt": "Full-time staff have 28 days of annual leave. Unused days are carried over until the end of March.",
    "bicycles.txt": "Bicycles are parked in the yard behind hall C; it is forbidden to park them inside the halls.",
    "kasse.txt": "Die Kasse der Kantine kostet 640 Euro. Die Kasse wiegt 9 Kilogramm. Die Kasse wird von Frau Lindner "
    "gewartet.",
    "waage.txt": "Die Waage im Lager kostet 310 Euro. Die Waage wiegt 14 Kilogramm. Die Waage wird von Herrn Krug "
    "gewartet.",
}
PUMP, CASH = "What does the pump in hall A cost?", "Was kostet die Kasse der Kantine?"


@pytest.fixture(scope="module")
def daemon(models_folder: Path) -> Iterator[DaemonProcess]:
    with short_home() as home:
        running = DaemonProcess(Path(home), models_folder)
        # Quotations: what the smallest model makes up is not the same twice, and would be searched for as well.
        running.settings["APPLIANCE_ANSWER__COMPOSE"] = "never"
        for name, text in FILES.items():
            (running.documents / name).write_text(text + "\n", encoding="utf-8")
        try:
            running.start()
            running.until_states(**{Path(name).stem: "ready" for name in FILES})
            yield running
        finally:
            running.stop()


@pytest.fixture
def about(daemon: DaemonProcess) -> dict[str, str]:
    """Conversations of one turn, by its question."""
    return {question: asyncio.run(_conversation(daemon, [question])) for question in (PUMP, CASH)}


async def _conversation(daemon: DaemonProcess, questions: Sequence[str]) -> str:
    conversation: str | None = None
    async with Client(daemon.socket) as client:
        for question in questions:
            done = [event async for event in client.ask(question, conversation=conversation)][-1]
            assert isinstance(done, DoneEvent)
            conversation = done.conversation
    assert conversation
    return conversation


async def _passages(daemon: DaemonProcess, question: str, conversation: str) -> list[Passage]:
    """Ask, and break off once the evidence is there."""
    async with Client(daemon.socket) as client:
        async for event in client.ask(question, conversation=conversation):
            if isinstance(event, PassagesEvent):
                return event.passages
    raise AssertionError("no evidence came")


async def _done(daemon: DaemonProcess, question: str, conversation: str) -> DoneEvent:
    async with Client(daemon.socket) as client:
        done = [event async for event in client.ask(question, conversation=conversation)][-1]
    assert isinstance(done, DoneEvent)
    return done


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("and how much does it weigh?", "pump.txt"),
        ("How much does it weigh?", "pump.txt"),
        ("And its weight?", "pump.txt"),
        ("who maintains it?", "pump.txt"),
        ("What is the name of the person by whom it is maintained?", "pump.txt"),
        ("weight?", "pump.txt"),
        ("and the second one?", "pump-hall-b.txt"),
        ("What about the second pump?", "pump-hall-b.txt"),
        ("And the one in hall B?", "pump-hall-b.txt"),
    ],
)
async def test_a_follow_up_finds_what_was_spoken_of(
    daemon: DaemonProcess, about: dict[str, str], question: str, path: str
) -> None:
    assert (await _passages(daemon, question, about[PUMP]))[0].path == path


@pytest.mark.parametrize("question", ["und wie viel wiegt sie?", "Wer wartet sie?", "Und ihr Gewicht?"])
async def test_a_follow_up_in_german_finds_what_was_spoken_of(
    daemon: DaemonProcess, about: dict[str, str], question: str
) -> None:
    assert (await _passages(daemon, question, about[CASH]))[0].path == "kasse.txt"


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("How many days of annual leave do full-time staff have?", "leave.txt"),
        ("Is it allowed to park bicycles inside the halls?", "bicycles.txt"),
        ("Where are bicycles parked?", "bicycles.txt"),
        ("What does the crane cost?", "crane.txt"),
        ("And what does the crane weigh?", "crane.txt"),
        ("Who maintains the kiln?", "kiln.txt"),
        ("What about the forklift?", "forklift.txt"),
        ("And who maintains the press, and how much does it weigh?", "press.txt"),
    ],
)
async def test_a_question_about_something_else_is_not_pulled_back(
    daemon: DaemonProcess, about: dict[str, str], question: str, path: str
) -> None:
    assert (await _passages(daemon, question, about[PUMP]))[0].path == path


@pytest.mark.parametrize(
    "question",
    [
        "Who won the football championship in Uruguay?",
        "And who won the football championship in Uruguay?",
        "And which colour is the moon of Neptune?",
    ],
)
async def test_what_was_spoken_of_is_no_evidence_for_what_the_documents_do_not_say(
    daemon: DaemonProcess, about: dict[str, str], question: str
) -> None:
    conversation = await _conversation(daemon, [PUMP])
    done = await _done(daemon, question, conversation)
    assert (done.answered, done.citations) == (False, [])


async def test_a_topic_lasts_over_several_follow_ups_until_another_one_is_named(
    daemon: DaemonProcess,
) -> None:
    so_far = ["What does the kiln cost?"]
    for question, path in [
        ("and how much does it weigh?", "kiln.txt"),
        ("who maintains it?", "kiln.txt"),
        ("And what does the crane cost?", "crane.txt"),
        ("who maintains it?", "crane.txt"),
    ]:
        conversation = await _conversation(daemon, so_far)
        assert (await _passages(daemon, question, conversation))[0].path == path, (so_far, question)
        so_far.append(question)


async def test_a_first_question_that_leans_on_nothing_is_searched_as_it_is(daemon: DaemonProcess) -> None:
    async with Client(daemon.socket) as client:
        async for event in client.ask("And what does the forklift cost?"):
            assert isinstance(event, PassagesEvent)
            assert event.passages[0].path == "forklift.txt"
            break


async def test_turns_that_a_client_brings_along_count_as_the_conversation(daemon: DaemonProcess) -> None:
    messages = [
        {"role": "user", "content": PUMP},
        {"role": "assistant", "content": "It costs 1,450 euros."},
        {"role": "user", "content": "and how much does it weigh?"},
    ]
    transport = httpx.AsyncHTTPTransport(uds=str(daemon.socket))
    async with httpx.AsyncClient(transport=transport, base_url="http://appliance", timeout=60) as http:
        reply = await http.post("/v1/chat/completions", json={"model": "appliance", "messages": messages})
    assert reply.json()["appliance"]["passages"][0]["path"] == "pump.txt"
