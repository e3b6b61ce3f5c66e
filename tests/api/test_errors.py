"""The table of errors is complete, and every error has one shape."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from appliance.api.errors import TABLE, error_event, refusal_of
from appliance.background import StartFailedError
from appliance.client import RequestFailedError
from appliance.errors import (
    AlreadyRunningError,
    ApplianceError,
    ConfigError,
    EngineBusyError,
    NotRunningError,
)
from ingest.errors import IngestError, ParserStoppedError

# Raised before or outside the daemon: no request can meet them.
OUTSIDE = {
    ConfigError, AlreadyRunningError, NotRunningError, RequestFailedError, StartFailedError, ParserStoppedError,
}  # fmt: skip


def all_below(kind: type[Exception]) -> Iterator[type[Exception]]:
    for child in kind.__subclasses__():
        yield child
        yield from all_below(child)


@pytest.mark.parametrize("root", [ApplianceError, IngestError])
def test_every_error_that_a_request_can_meet_has_its_own_row(root: type[Exception]) -> None:
    missing = {
        kind
        for kind in set(all_below(root)) - TABLE.keys() - OUTSIDE
        if not kind.__module__.startswith("appliance.ops.")  # commands of their own, no part of the daemon
    }
    assert not missing


def test_codes_are_unique() -> None:
    codes = [refusal.code for refusal in TABLE.values()]
    assert len(codes) == len(set(codes))


def test_an_unexpected_error_is_told_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    event = error_event(ValueError("/secret/path"))
    assert event.code == "internal"
    assert "/secret" not in event.message
    assert "/secret" in caplog.text


def test_a_full_queue_can_be_tried_again() -> None:
    assert refusal_of(EngineBusyError(5, 3.0)) == (429, "engine_busy", True)
