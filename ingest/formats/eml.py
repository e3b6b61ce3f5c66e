"""E-mail (EML): the letter, the letters in it, and its attachments as parts. Reads no attachment itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from email.message import Message
from email.utils import parsedate_to_datetime

from ingest.formats import mail_mime as mime
from ingest.formats.mail import MAX_LETTERS_DEEP, Attachments, Letter, html_units, plain_units, richest, when
from ingest.formats.mail_calendar import events
from ingest.formats.reading import Reading, RefusedError, damaged, too_large
from ingest.limits import MIB, ParseLimits
from ingest.locator import Locator
from ingest.unit import Unit

MAX_DEPTH = 50  # of parts in parts; mail programs write about five
MAX_LOGO = 20_000  # characters in base64; a picture in the text that is smaller is a logo or counts readers
SIGNATURES = frozenset(
    {"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"}
)
SEALED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime", "application/pgp-encrypted"})
CALENDARS = frozenset({"text/calendar", "application/ics"})
UNREAD = frozenset(
    {"text/x-amp-html", "text/css", "message/delivery-status", "message/disposition-notification"}
)
PLACEHOLDER = "attachment"


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a message.

    Raises:
        RefusedError: its parts are nested deeper than the parser can follow.
    """
    walk = MailWalk(limits)
    letter = walk.letter(mime.parse(data), "", ())
    return Reading(
        letter.units(), letter.subject, parts=walk.attachments.parts, notes=walk.attachments.all_notes()
    )


def extract(data: bytes, key: str, limits: ParseLimits) -> bytes:
    """Return the bytes of an attachment by the key that `read` gave it.

    Raises:
        RefusedError: there is no such attachment, or it is over the limit of a part.
    """
    return attached(mime.parse(data), key, limits)


def attached(message: Message, key: str, limits: ParseLimits) -> bytes:
    """Return an attachment's bytes; the key is the path of child numbers to it and its name ("1.0/plan.pdf").

    Raises:
        RefusedError: there is no such attachment, or it is over the limit of a part.
    """
    part = message
    numbers = key.partition("/")[0]
    for number in numbers.split(".") if numbers else ():
        children = part.get_payload()
        if not isinstance(children, list) or not number.isdecimal() or int(number) >= len(children):
            raise damaged("the attachment is not there")
        child = children[int(number)]
        if not isinstance(child, Message):
            raise damaged("the attachment is not there")
        part = child
    data = mime.payload(part)
    if len(data) > limits.max_part_mb * MIB:
        raise too_large(f"the attachment is over {limits.max_part_mb} MB")
    return data


@dataclass(slots=True)
class _Body:
    """The text of one part and of the parts in it."""

    units: list[Unit] = field(default_factory=list)
    events: list[str] = field(default_factory=list)

    def add(self, other: _Body) -> None:
        self.units += other.units
        self.events += [event for event in other.events if event not in self.events]


class MailWalk:
    """Walks through the messages of one file; gathers their attachments and what was left out."""

    def __init__(self, limits: ParseLimits) -> None:
        self.attachments = Attachments()
        self._legacy = limits.legacy_encoding

    def letter(self, message: Message, key: str, place: tuple[str, ...], depth: int = 0) -> Letter:
        """Read one message.

        Args:
            key: where the message stands in the file, as keys of attachments say it; "" for the file itself.
            place: what its attachments' names begin with.
            depth: how many messages are around it.
        """
        letter = Letter(
            mime.header(message, "Subject"),
            mime.header(message, "From") or mime.header(message, "Sender"),
            mime.header(message, "To"),
            mime.header(message, "Cc"),
            sent(mime.header(message, "Date")),
        )
        body = _Letter(self, letter, place, depth).body(message, key)
        letter.body = body.units + [Unit(event, Locator()) for event in body.events]
        return letter

    def text(self, part: Message) -> str:
        """Return the text of a part."""
        return mime.text(part, self._legacy)


@dataclass(slots=True)
class _Letter:
    """One message being walked through."""

    walk: MailWalk
    letter: Letter
    place: tuple[str, ...]
    depth: int

    def body(self, part: Message, key: str, level: int = 0) -> _Body:
        """Return the text of a part; attachments and messages in it go to the letter and the walk."""
        kind = mime.content_type(part)
        children = part.get_payload()
        if level > MAX_DEPTH:
            self.walk.attachments.notes.append(f"parts nested more than {MAX_DEPTH} deep are not read")
            return _Body()
        if kind in UNREAD or kind in SIGNATURES:
            return _Body()
        if isinstance(children, list) and not mime.is_packed_message(part):
            inside = [child for child in children if isinstance(child, Message)]
            if kind.startswith("message/"):
                self._inner(inside[:1], key)
                return _Body()
            found = [self.body(child, _key(key, i), level + 1) for i, child in enumerate(inside)]
            return _alternative(found) if kind == "multipart/alternative" else _joined(found)
        if kind in SEALED:
            self.walk.attachments.notes.append("a part of the message is encrypted and is not read")
            return _Body()
        return self._leaf(part, kind, key, is_root=level == 0)

    def _leaf(self, part: Message, kind: str, key: str, is_root: bool) -> _Body:
        if kind in CALENDARS:
            return _Body(events=events(self.walk.text(part)))
        name = mime.file_name(part)
        is_text = kind.startswith(("text/", "multipart/")) and kind != "text/rtf"
        if is_text and (is_root or not (name or mime.disposition(part) == "attachment")):
            return _Body(self._text_units(part, kind))
        if not _is_logo(part, kind):
            name = name or f"{PLACEHOLDER} {len(self.letter.files) + 1}"
            self.letter.files.append(name)
            self.walk.attachments.add(f"{key}/{name}", (*self.place, name))
        return _Body()

    def _text_units(self, part: Message, kind: str) -> list[Unit]:
        text = self.walk.text(part)
        if kind not in ("text/html", "application/xhtml+xml"):
            return plain_units(text)
        try:
            return html_units(text)
        except RefusedError as refusal:
            self.walk.attachments.notes.append(
                f"the formatted text of the message is not read: {refusal.reason}"
            )
            return []

    def _inner(self, messages: list[Message], key: str) -> None:
        if self.depth >= MAX_LETTERS_DEEP:
            self.walk.attachments.notes.append(
                f"messages nested more than {MAX_LETTERS_DEEP} deep are not read"
            )
            return
        for i, message in enumerate(messages):
            subject = mime.header(message, "Subject")
            place = (*self.place, Letter(subject).name("attached message"))
            inner = self.walk.letter(message, _key(key, i), place, self.depth + 1)
            self.letter.inner += inner.units(place)


def _key(key: str, number: int) -> str:
    return f"{key}.{number}" if key else str(number)


def _alternative(versions: list[_Body]) -> _Body:
    chosen = _Body(richest([version.units for version in versions]))
    for version in versions:
        chosen.add(_Body(events=version.events))
    return chosen


def _joined(found: list[_Body]) -> _Body:
    whole = _Body()
    for body in found:
        whole.add(body)
    return whole


def _is_logo(part: Message, kind: str) -> bool:
    inside = part.get("Content-ID") is not None and mime.disposition(part) != "attachment"
    return kind.startswith("image/") and inside and len(str(part.get_payload())) < MAX_LOGO


def sent(date: str) -> str:
    """Return a date header for people; as it stands, where it is no date."""
    try:
        return when(parsedate_to_datetime(date)) if date else ""
    except (ValueError, TypeError, IndexError, OverflowError):
        return date[:100]
