"""Mailboxes (MBOX): every message in a place of its own, attachments as parts. Reads no attachment itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.formats import mail_mime as mime
from ingest.formats.eml import MailWalk, attached
from ingest.formats.mail import Letter
from ingest.formats.reading import Reading, RefusedError, damaged
from ingest.limits import ParseLimits
from ingest.unit import Unit

MAX_MESSAGES = 5_000
# A sentence may begin with "From " too: the separating line has a date, a gap above and a header below it.
SEPARATOR = re.compile(rb"(?:\A\s*|\n\r?\n)From (?=\S[^\d\n]*\d)[^\n]*\n(?=[\w-]+:[ \t])")
QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read the messages of a mailbox, `MAX_MESSAGES` of them at most.

    Raises:
        RefusedError: not one message can be read.
    """
    walk = MailWalk(limits)
    units: list[Unit] = []
    broken: list[int] = []
    number = 0
    for number, (start, end) in enumerate(_spans(data), 1):
        if number > MAX_MESSAGES:
            continue
        try:
            message = mime.parse(_unquoted(data[start:end]))
            place = (Letter(mime.header(message, "Subject")).name(f"message {number}"),)
            units += walk.letter(message, f"{number}:", place).units(place)
        except RefusedError:
            broken.append(number)
    if broken and not units:
        raise damaged("none of its messages can be read")
    attachments = walk.attachments
    return Reading(units, parts=attachments.parts, notes=[*attachments.all_notes(), *_notes(number, broken)])


def extract(data: bytes, key: str, limits: ParseLimits) -> bytes:
    """Return the bytes of an attachment by the key that `read` gave it.

    Raises:
        RefusedError: there is no such attachment, or it is over the limit of a part.
    """
    number, _, path = key.partition(":")
    for i, (start, end) in enumerate(_spans(data), 1):
        if str(i) == number:
            return attached(mime.parse(_unquoted(data[start:end])), path.lstrip("."), limits)
    raise damaged("the message is not there")


def _spans(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each message, without its separating line."""
    start = None
    for line in SEPARATOR.finditer(data):
        if start is not None:
            yield start, line.start()
        start = line.end()
    if start is not None:
        yield start, len(data)


def _unquoted(message: bytes) -> bytes:
    return QUOTED_FROM.sub(rb"\1", message)


def _notes(n_messages: int, broken: list[int]) -> list[str]:
    notes = []
    if n_messages > MAX_MESSAGES:
        notes.append(f"only the first {MAX_MESSAGES} of {n_messages} messages are read")
    if broken:
        shown = ", ".join(map(str, broken[:20]))
        notes.append(f"messages that are broken and not read: {shown}{' …' if len(broken) > 20 else ''}")
    return notes
