"""What every kind of mail shares: who wrote what to whom and when, and the choice between versions of a body."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ingest.formats import html
from ingest.formats.tidy import lines_kept, one_line
from ingest.locator import Locator
from ingest.unit import Part, Unit, UnitKind

MAX_LINES = 12  # of one paragraph, so that a citation stays exact
MAX_NAMES = 2_000  # characters of one list of people or files; a round mail to a thousand says little more
MAX_LETTERS_DEEP = 4  # messages in messages
MAX_PARTS = 200  # attachments of one file; each costs a child process
MAX_NOTES = 20
MIN_SHARED = 0.9  # of the plain version's words that must stand in the formatted one, or they are two texts
QUOTED_GAP = re.compile(r"^[>| \t]+$", re.MULTILINE)
LINK = re.compile(r"<?https?://\S+|<?mailto:\S+|\[cid:[^\]]*\]")
WORD = re.compile(r"\w+")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(slots=True)
class Letter:
    """One message.

    Attributes:
        sent: when, for people.
        files: names of what is attached.
        body: its text, without places.
        inner: units of the messages in it, with their places.
    """

    subject: str = ""
    sender: str = ""
    to: str = ""
    cc: str = ""
    sent: str = ""
    files: list[str] = field(default_factory=list)
    body: list[Unit] = field(default_factory=list)
    inner: list[Unit] = field(default_factory=list)

    def units(self, place: tuple[str, ...] = ()) -> list[Unit]:
        """Return the message as text, with `place` as its part; nothing when it says nothing at all."""
        head = [
            f"{label}: {_clipped(value)}"
            for label, value in (("From", self.sender), ("To", self.to), ("Cc", self.cc), ("Date", self.sent))
            if value
        ]
        own = [Unit(self.subject, Locator(), UnitKind.HEADING)] if self.subject else []
        own += [Unit("\n".join(head), Locator())] if head else []
        own += [Unit(f"Attachments: {_clipped(', '.join(self.files))}", Locator())] if self.files else []
        return [
            replace(unit, locator=replace(unit.locator, part=place)) for unit in own + self.body
        ] + self.inner

    def name(self, noun: str) -> str:
        """Return what to call the message in a place: "message 3: Boiler"."""
        return f"{noun}: {self.subject[:100]}" if self.subject else noun


class Attachments:
    """What is attached to the messages of one file, and what was left out."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.notes: list[str] = []
        self._n_parts = 0

    def add(self, key: str, name: tuple[str, ...]) -> None:
        """List an attachment, unless there are too many."""
        self._n_parts += 1
        if self._n_parts <= MAX_PARTS:
            self.parts.append(Part(key, name))

    def all_notes(self) -> list[str]:
        """Return what was left out, in sentences; each once."""
        notes = list(dict.fromkeys(self.notes))[:MAX_NOTES]
        if self._n_parts > MAX_PARTS:
            notes.append(f"only the first {MAX_PARTS} of {self._n_parts} attachments are read")
        return notes


def when(moment: datetime) -> str:
    """Return a moment in digits, which sort and search well, and in the words that people ask with."""
    zone = moment.strftime("%z")
    zone = f" {zone[:3]}:{zone[3:5]}" if zone else ""
    day = f"{DAYS[moment.weekday()]} {moment.day} {moment:%B} {moment.year}"
    return f"{moment:%Y-%m-%d %H:%M}{zone} ({day})"


def plain_units(text: str) -> list[Unit]:
    """Return a plain body as paragraphs, quoted replies included."""
    found: list[Unit] = []
    lines: list[str] = []
    for line in [*QUOTED_GAP.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).split("\n"), ""]:
        if line.strip():
            lines.append(line)
        if lines and (not line.strip() or len(lines) == MAX_LINES):
            kept, lines = lines_kept("\n".join(lines)), []
            found += [Unit(kept, Locator())] if kept else []
    return found


def html_units(text: str) -> list[Unit]:
    """Return a formatted body whole: a letter has no menus.

    Raises:
        RefusedError: elements are nested too deep.
    """
    return html.units(text)


def richest(versions: Sequence[list[Unit]]) -> list[Unit]:
    """Choose between versions of the same text, the plainest first: the most formatted that leaves out nothing."""
    best: list[Unit] = []
    for version in versions:
        if version and _is_richer(version, best):
            best = version
    return best


def _is_richer(version: list[Unit], plainer: list[Unit]) -> bool:
    have, wanted = _words(version), _words(plainer)
    # A plain version that says little ("your program shows no HTML") is none.
    return len(have & wanted) >= MIN_SHARED * len(wanted) or len(wanted) * 2 < len(have)


def _words(units: list[Unit]) -> set[str]:
    return set(WORD.findall(LINK.sub(" ", "\n".join(f"{u.header}\n{u.text}" for u in units)).lower()))


def _clipped(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= MAX_NAMES else text[:MAX_NAMES].rpartition(",")[0] + ", …"
