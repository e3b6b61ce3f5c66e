"""Outlook messages (MSG): the letter, the letters in it, and its attachments as parts. Reads no attachment itself."""

from __future__ import annotations

import re

from ingest.formats import mail_mime as mime
from ingest.formats import rtf
from ingest.formats.eml import sent
from ingest.formats.mail import MAX_LETTERS_DEEP, Attachments, Letter, html_units, plain_units, richest, when
from ingest.formats.mail_lzfu import unpacked
from ingest.formats.msg_store import INTERNET_CODEPAGE, PROPERTIES, Store
from ingest.formats.ole import Ole
from ingest.formats.reading import Reading, RefusedError, damaged
from ingest.formats.tidy import one_line
from ingest.limits import MIB, ParseLimits
from ingest.locator import Locator
from ingest.unit import Unit

CLASS, SUBJECT, HEADERS, BODY, RTF, HTML = 0x001A, 0x0037, 0x007D, 0x1000, 0x1009, 0x1013
SENDER_NAMES, SENDER_ADDRESSES = (0x0C1A, 0x0042), (0x5D01, 0x5D02, 0x0C1F, 0x0065)
SENT, DELIVERED, STARTS, ENDS = 0x0039, 0x0E06, 0x0060, 0x0061
SHOWN_TO, SHOWN_CC = 0x0E04, 0x0E03
NAME, SMTP, ADDRESS, RECIPIENT_TYPE, TO, CC = 0x3001, 0x39FE, 0x3003, 0x0C15, 1, 2
DATA, LONG_NAME, SHORT_NAME, CONTENT_ID = 0x3701, 0x3707, 0x3704, 0x3712
RECIPIENT, ATTACHMENT = r"__recip_version1\.0_#[0-9A-F]{8}", r"__attach_version1\.0_#[0-9A-F]{8}"
INNER = "__substg1.0_3701000D/"
MAX_RECIPIENTS = 500
MAX_LOGO = 15_000  # bytes; a picture in the text that is smaller is a logo or counts readers
PICTURE = re.compile(r"\.(?:png|jpe?g|gif|bmp)$", re.IGNORECASE)
APPOINTMENTS = ("ipm.appointment", "ipm.schedule")


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a message.

    Raises:
        RefusedError: the file is broken, or holds no message.
    """
    walk = _Walk(Ole(data, limits), limits)
    letter = walk.letter("", 32, ())
    return Reading(
        letter.units(), letter.subject, parts=walk.attachments.parts, notes=walk.attachments.all_notes()
    )


def extract(data: bytes, key: str, limits: ParseLimits) -> bytes:
    """Return the bytes of an attachment by the key that `read` gave it.

    Raises:
        RefusedError: there is no such attachment, it is broken or over the limit of a part.
    """
    storage = "".join(f"__attach_version1.0_#{number}/{INNER}" for number in key.partition("/")[0].split("."))
    return Ole(data, limits).read(storage.removesuffix(INNER) + f"__substg1.0_{DATA:04X}0102")


class _Walk:
    """Walks through the messages of one file."""

    def __init__(self, ole: Ole, limits: ParseLimits) -> None:
        self.attachments = Attachments()
        self._ole = ole
        self._limits = limits

    def letter(
        self, path: str, header: int, place: tuple[str, ...], key: str = "", codepage: int = 0
    ) -> Letter:
        """Read the message in a storage.

        Args:
            header: bytes in front of its properties.
            place: what the names of its attachments begin with.
            key: numbers of the attachments that it lies in, each with a point behind it.
            codepage: of the message around it.
        """
        store = Store(self._ole, path, header, self._limits.legacy_encoding, codepage)
        if not store.has(PROPERTIES):
            raise damaged("there is no message in it: save it again from Outlook")
        letter = _headed(store)
        letter.body = _times(store) + self._body(store)
        for storage in store.within(ATTACHMENT):
            self._attachment(storage, letter, place, key, store.codepage)
        return letter

    def _body(self, store: Store) -> list[Unit]:
        versions = [plain_units(store.text(BODY))]
        for version in (self._rich, self._html):
            try:
                versions.append(version(store))
            except RefusedError as refusal:
                self.attachments.notes.append(
                    f"a formatted version of the text is not read: {refusal.reason}"
                )
        return richest(versions)

    def _rich(self, store: Store) -> list[Unit]:
        packed = store.binary(RTF)
        if not packed:
            return []
        return rtf.read(unpacked(packed, self._limits.max_part_mb * MIB), self._limits).units

    def _html(self, store: Store) -> list[Unit]:
        page = store.binary(HTML)
        text = store.decoded(page, store.number(INTERNET_CODEPAGE)) if page else store.text(HTML)
        return html_units(text) if text.strip() else []

    def _attachment(self, path: str, letter: Letter, place: tuple[str, ...], key: str, codepage: int) -> None:
        store = Store(self._ole, path, 8, self._limits.legacy_encoding, codepage)
        number = path.rpartition("#")[2].rstrip("/")
        if store.has(INNER + PROPERTIES):
            self._inner(path + INNER, letter, place, f"{key}{number}.", codepage)
            return
        name = one_line(store.text(LONG_NAME) or store.text(SHORT_NAME) or store.text(NAME))
        name = name.replace("\\", "/").rpartition("/")[2][:200] or f"attachment {len(letter.files) + 1}"
        if not store.has(f"__substg1.0_{DATA:04X}0102") or self._is_logo(store, name):
            return
        letter.files.append(name)
        self.attachments.add(f"{key}{number}/{name}", (*place, name))

    def _inner(self, path: str, letter: Letter, place: tuple[str, ...], key: str, codepage: int) -> None:
        if key.count(".") > MAX_LETTERS_DEEP:
            self.attachments.notes.append(f"messages nested more than {MAX_LETTERS_DEEP} deep are not read")
            return
        subject = one_line(Store(self._ole, path, 24, self._limits.legacy_encoding, codepage).text(SUBJECT))
        inner_place = (*place, Letter(subject).name("attached message"))
        letter.inner += self.letter(path, 24, inner_place, key, codepage).units(inner_place)

    def _is_logo(self, store: Store, name: str) -> bool:
        return bool(PICTURE.search(name) and store.text(CONTENT_ID) and len(store.binary(DATA)) < MAX_LOGO)


def _headed(store: Store) -> Letter:
    """Return the message's head: from its properties, and from the wire's headers what they leave open."""
    wire = mime.parse(store.text(HEADERS).encode("utf-8", "replace"))
    people = _people(store)
    moment = store.time(SENT) or store.time(DELIVERED)
    address = next((text for tag in SENDER_ADDRESSES if "@" in (text := store.text(tag))), "")
    name = next((text for tag in SENDER_NAMES if (text := store.text(tag))), "")
    return Letter(
        one_line(store.text(SUBJECT)) or mime.header(wire, "Subject"),
        _person(name, address) or mime.header(wire, "From"),
        ", ".join(people[TO]) or one_line(store.text(SHOWN_TO)) or mime.header(wire, "To"),
        ", ".join(people[CC]) or one_line(store.text(SHOWN_CC)) or mime.header(wire, "Cc"),
        when(moment) if moment else sent(mime.header(wire, "Date")),
    )


def _people(store: Store) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {TO: [], CC: []}
    for path in store.within(RECIPIENT)[:MAX_RECIPIENTS]:
        recipient = store.inside(path)
        address = next((text for tag in (SMTP, ADDRESS) if "@" in (text := recipient.text(tag))), "")
        person = _person(recipient.text(NAME), address)
        kind = recipient.number(RECIPIENT_TYPE) & 0xF
        if person and kind in found:
            found[kind].append(person)
    return found


def _person(name: str, address: str) -> str:
    name, address = one_line(name).strip("'"), one_line(address)
    if not address or name == address:
        return name or address
    return f"{name} <{address}>" if name else address


def _times(store: Store) -> list[Unit]:
    """Return when an appointment begins and ends."""
    if not store.text(CLASS).lower().startswith(APPOINTMENTS):
        return []
    times = (("Start", store.time(STARTS)), ("End", store.time(ENDS)))
    lines = [f"{label}: {when(moment)}" for label, moment in times if moment]
    return [Unit("\n".join(lines), Locator())] if lines else []
