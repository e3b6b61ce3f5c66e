"""What a format's reader returns, or raises when a file cannot be read. Runs in the parse child only."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.unit import Outcome, Unit


@dataclass(frozen=True, slots=True)
class Reading:
    """The text of one file, in reading order; no units means that the file holds no text."""

    units: list[Unit]
    title: str = ""
    n_pages: int | None = None


class RefusedError(Exception):
    """This file is not read, for a reason that staff can act on; the parse child turns it into an outcome."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


def damaged(reason: str) -> RefusedError:
    """Return the refusal of a file that is broken or built to break readers."""
    return RefusedError(Outcome.DAMAGED, reason)


def too_large(reason: str) -> RefusedError:
    """Return the refusal of a file that is over a limit."""
    return RefusedError(Outcome.TOO_LARGE, reason)
