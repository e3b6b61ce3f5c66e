"""A model too small to compose: answers are the documents' own sentences, at once."""

from __future__ import annotations

import asyncio

from appliance.api.schema import DoneEvent
from tests.e2e.daemon_process import DaemonProcess
from tests.e2e.files import BOILER
from tests.e2e.test_answers import QUESTION, UNANSWERABLE


def ask(daemon: DaemonProcess, question: str) -> DoneEvent:
    done = asyncio.run(daemon.ask(question))[-1]
    assert isinstance(done, DoneEvent)
    return done


def test_the_smallest_model_quotes_with_the_place_the_version_and_no_token_of_its_own(
    own_daemon: DaemonProcess,
) -> None:
    own_daemon.settings["APPLIANCE_ANSWER__COMPOSE"] = "auto"
    (own_daemon.documents / "boiler.pdf").write_bytes(BOILER)
    own_daemon.start(loaded=False)
    own_daemon.until_states(boiler="ready")
    done = ask(own_daemon, QUESTION)
    assert (done.origin, done.answered, done.timings.n_decoded) == ("quotation", True, 0)
    assert done.answer.startswith("“")
    assert "6.5 bar" in done.answer
    (citation,) = done.citations
    (source,) = citation.sources
    assert (source.path, source.locator) == ("boiler.pdf", "page 2")
    (document,) = asyncio.run(own_daemon.listing()).documents
    assert source.version == document.sha256
    assert source.quote in done.answer

    refused = ask(own_daemon, UNANSWERABLE)
    assert (refused.origin, refused.answered) == ("evidence", False)
    shown = own_daemon.run("ask", QUESTION)
    assert shown.returncode == 0
    assert "6.5 bar" in shown.stdout
