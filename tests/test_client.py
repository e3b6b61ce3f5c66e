"""The client of the socket, against a scripted daemon on a real one."""

from __future__ import annotations

from appliance.api.schema import PassagesEvent, TokenEvent
from appliance.client import Client
from tests.tui.clinic import PASSAGES, done
from tests.tui.fake_daemon import FakeDaemon

# Every character that str.splitlines takes for the end of a line.
SEPARATORS = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei\rj\nk"


async def test_line_separators_in_documents_do_not_break_the_stream() -> None:
    passage = PASSAGES[0].model_copy(update={"text": SEPARATORS})
    async with FakeDaemon() as daemon, Client(daemon.socket) as client:
        daemon.answers.append(
            [PassagesEvent(passages=[passage]), TokenEvent(text=SEPARATORS), done("answer", [])]
        )
        evidence, token, end = [event async for event in client.ask("anything")]
    assert isinstance(evidence, PassagesEvent)
    assert evidence.passages[0].text == SEPARATORS
    assert token == TokenEvent(text=SEPARATORS)
    assert end.event == "done"


async def test_events_of_a_newer_daemon_are_passed_over() -> None:
    unknown = 'event: mood\ndata: {"event": "mood", "text": "cheerful"}\n\n'
    async with FakeDaemon() as daemon, Client(daemon.socket) as client:
        daemon.answers.append([unknown, TokenEvent(text="still here"), done("answer", [])])
        events = [event async for event in client.ask("anything")]
    assert [event.event for event in events] == ["token", "done"]
