"""What a format's reader returns, or raises when a file cannot be read. Runs in the parse child only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ingest.unit import Outcome, Part, Unit


@dataclass(frozen=True, slots=True)
class Reading:
    """The text of one file, in reading order; nothing at all means that the file holds no text.

    Attributes:
        parts: files inside this one (attachments, members of an archive), to be read each in a child of its own.
        scans: pages, from 1 and ascending, that are pictures of text: to be read by OCR, each in a child of its own.
        notes: plain sentences for staff about what was left out ("sheet Log: only the first 20,000 rows are read").
    """

    units: list[Unit]
    title: str = ""
    n_pages: int | None = None
    parts: Sequence[Part] = ()
    scans: Sequence[int] = ()
    notes: Sequence[str] = field(default=())


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


def needs_password() -> RefusedError:
    """Return the refusal of a file that only opens with a password."""
    return RefusedError(Outcome.NEEDS_PASSWORD, "it has a password: save a copy without one")
