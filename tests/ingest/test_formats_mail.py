"""Mail: who wrote what and when, whatever the program that wrote it; and no message, however broken, does harm."""

from __future__ import annotations

import base64
import contextlib
import random
import struct
from email.message import EmailMessage

import pytest

from ingest.formats import eml, mbox, mhtml, msg
from ingest.formats.mail_lzfu import PRELOAD, unpacked
from ingest.formats.mail_mime import charset_decoded, words_decoded
from ingest.formats.reading import Reading, RefusedError
from ingest.limits import ParseLimits
from ingest.sniff import sniff
from tests.ingest.made_msg import Message, compound

LIMITS = ParseLimits()
HEAD = b"From: Ann <ann@x.example>\nTo: Bob <bob@x.example>\nDate: Tue, 3 Mar 2026 10:00:00 +0100\nSubject: Boiler\n"
SENT_2026 = 134169984000000000  # 3 March 2026, 08:00 UTC


def texts(reading: Reading) -> list[str]:
    return [unit.text for unit in reading.units]


def mixed(*parts: bytes, kind: bytes = b"multipart/mixed") -> bytes:
    return HEAD + nested(*parts, kind=kind)


def nested(*parts: bytes, kind: bytes = b"multipart/mixed", boundary: bytes = b"XX") -> bytes:
    body = b"".join(b"--%b\n%b\n" % (boundary, part) for part in parts)
    return b"Content-Type: %b; boundary=%b\n\n%b--%b--\n" % (kind, boundary, body, boundary)


def part(kind: bytes, body: bytes, *more: bytes) -> bytes:
    return b"".join(line + b"\n" for line in (b"Content-Type: " + kind, *more)) + b"\n" + body


def test_a_mail_says_who_wrote_to_whom_and_when() -> None:
    reading = eml.read(HEAD + b"Cc: c@x.example\n\nIt is serviced.\n\nAnn", LIMITS)
    assert reading.title == "Boiler"
    assert texts(reading) == [
        "Boiler",
        "From: Ann <ann@x.example>\nTo: Bob <bob@x.example>\nCc: c@x.example\n"
        "Date: 2026-03-03 10:00 +01:00 (Tuesday 3 March 2026)",
        "It is serviced.",
        "Ann",
    ]


def test_a_mail_of_a_mail_program_is_read_with_its_attachments_listed() -> None:
    message = EmailMessage()
    message["Subject"], message["From"] = "Prüfung der Anlage", "Jörg <j@x.example>"
    message.set_content("Der Kessel ist geprüft.")
    message.add_attachment("a;b\n1;2\n", subtype="csv", filename="größe.csv")
    reading = eml.read(message.as_bytes(), LIMITS)
    assert reading.title == "Prüfung der Anlage"
    assert "Attachments: größe.csv" in texts(reading)
    assert [attached.name for attached in reading.parts] == [("größe.csv",)]
    assert reading.parts[0].key.endswith("/größe.csv")
    assert eml.extract(message.as_bytes(), reading.parts[0].key, LIMITS) == b"a;b\n1;2\n"


@pytest.mark.parametrize(
    ("plain", "page", "chosen"),
    [
        (b"The boiler is old", b"<p>The boiler is <b>old</b>", ["The boiler is old"]),
        (
            b"All of it: one two three four five six",
            b"<p>one two three",
            ["All of it: one two three four five six"],
        ),
        (b"No HTML", b"<ul><li>one two</li><li>three four five</ul>", ["- one two", "- three four five"]),
    ],
)
def test_the_most_formatted_version_that_leaves_out_nothing_is_read(
    plain: bytes, page: bytes, chosen: list[str]
) -> None:
    message = mixed(part(b"text/plain", plain), part(b"text/html", page), kind=b"multipart/alternative")
    assert texts(eml.read(message, LIMITS))[2:] == chosen


def test_a_formatted_body_is_decoded_by_what_the_mail_says_of_it() -> None:
    page = b'<html><meta charset="utf-8"><p>Gr\xf6\xdfe \x80</p></html>'
    assert texts(eml.read(HEAD + part(b"text/html; charset=iso-8859-1", page), LIMITS))[-1] == "Größe €"


def test_quoted_replies_are_kept_and_parted() -> None:
    body = b"Yes.\n\n> Is it done?\n>\n> Ann wrote:\n>> When?\n"
    assert texts(eml.read(HEAD + b"\n" + body, LIMITS))[2:] == [
        "Yes.",
        "> Is it done?",
        "> Ann wrote:\n>> When?",
    ]


def test_a_message_in_a_message_is_read_in_a_place_of_its_own() -> None:
    inner = part(b"message/rfc822", b"Subject: Offer\nFrom: c@x.example\n\nIt costs 300.\n")
    reading = eml.read(mixed(part(b"text/plain", b"See below."), inner), LIMITS)
    placed = [(str(unit.locator), unit.text) for unit in reading.units[2:]]
    place = "attached message: Offer"
    assert placed == [
        ("", "See below."),
        (place, "Offer"),
        (place, "From: c@x.example"),
        (place, "It costs 300."),
    ]


def test_messages_nested_over_four_deep_become_a_note() -> None:
    data = b"Subject: inmost\n\nhidden treasure"
    for i in range(9):
        data = b"Subject: m%d\nContent-Type: message/rfc822\n\n" % i + data
    reading = eml.read(data, LIMITS)
    assert "hidden treasure" not in texts(reading)
    assert reading.notes == ["messages nested more than 4 deep are not read"]


def test_an_attachment_of_an_inner_message_is_found_again() -> None:
    inside = nested(part(b"text/plain", b"x"), part(b"text/csv; name=a.csv", b"1;2"), boundary=b"YY")
    message = mixed(part(b"text/plain", b"y"), part(b"message/rfc822", b"Subject: In\n" + inside))
    (attached,) = eml.read(message, LIMITS).parts
    assert attached.name == ("attached message: In", "a.csv")
    assert eml.extract(message, attached.key, LIMITS) == b"1;2"


def test_a_message_packed_in_base64_is_an_attachment() -> None:
    packed = base64.encodebytes(b"Subject: Offer\n\nIt costs 300.\n")
    head = b"Content-Transfer-Encoding: base64", b"Content-Disposition: attachment; filename=offer.eml"
    message = mixed(part(b"text/plain", b"x"), part(b"message/rfc822", packed, *head))
    (attached,) = eml.read(message, LIMITS).parts
    assert attached.name == ("offer.eml",)
    assert eml.extract(message, attached.key, LIMITS).startswith(b"Subject: Offer")


def test_a_mail_that_is_nothing_but_a_file_has_it_as_a_part() -> None:
    message = HEAD + part(
        b"application/pdf; name=plan.pdf", b"JVBERg==", b"Content-Transfer-Encoding: base64"
    )
    (attached,) = eml.read(message, LIMITS).parts
    assert eml.extract(message, attached.key, LIMITS) == b"%PDF"


def test_pictures_in_the_text_are_attachments_unless_they_are_logos() -> None:
    logo = part(
        b"image/png; name=logo.png", b"iVBOR", b"Content-ID: <1>", b"Content-Transfer-Encoding: base64"
    )
    photo = part(b"image/png; name=leak.png", b"iVBO" * 6000, b"Content-ID: <2>")
    message = mixed(part(b"text/html", b"<p>See"), logo, photo, kind=b"multipart/related")
    assert [attached.name for attached in eml.read(message, LIMITS).parts] == [("leak.png",)]
    assert sniff(message, "a.txt") == "eml"


def test_an_invitation_tells_what_when_and_where() -> None:
    event = (
        b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Boiler\\, yearly\nDTSTART;TZID=Europe/Berlin:20260303T100000\n"
        b"DTEND:20260303T110000Z\nLOCATION:Cel\n lar\nORGANIZER;CN=Ann:mailto:ann@x.example\nEND:VEVENT\n"
    )
    assert texts(eml.read(HEAD + part(b"text/calendar", event), LIMITS))[-1] == (
        "Event: Boiler, yearly\nStart: 2026-03-03 10:00 (Europe/Berlin)\nEnd: 2026-03-03 11:00 UTC\nPlace: Cellar\n"
        "Organizer: Ann <ann@x.example>"
    )


def test_an_encrypted_message_says_so() -> None:
    reading = eml.read(HEAD + part(b"application/pkcs7-mime; name=smime.p7m", b"MIAG"), LIMITS)
    assert reading.notes == ["a part of the message is encrypted and is not read"]
    assert reading.parts == []


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("=?utf-8?Q?K=C3=BCn?= =?utf-8?Q?digung?=", "Kündigung"),
        ("=?utf-8?B?w4M=?= =?iso-8859-1?Q?=FC_x?=", "Ãü x"),
        ("=?utf-8?B?4oKs?= =?utf-8?B?4oI=?= =?utf-8?B?rA==?=", "€€"),
        ("=?utf-8*de?Q?=C3=BC?= plain", "ü plain"),
        ("=?unheard-of?Q?abc?=", "abc"),
        ("a =?= b =?utf-8?Q?", "a =?= b =?utf-8?Q?"),
    ],
)
def test_encoded_words_are_decoded(written: str, read: str) -> None:
    assert words_decoded(written) == read


@pytest.mark.parametrize(
    ("data", "charset", "read"),
    [
        ("Größe".encode(), "iso-8859-1", "Größe"),
        ("Größe €".encode("cp1252"), "iso-8859-1", "Größe €"),
        ("Größe".encode("cp1252"), "utf-8", "Größe"),
        ("Größe".encode("cp1252"), "made-up", "Größe"),
        ("価格表".encode("iso-2022-jp"), "ISO-2022-JP", "価格表"),
        (b"abc-", "punycode", "abc-"),
    ],
)
def test_a_charset_is_believed_when_it_can_be_true(data: bytes, charset: str, read: str) -> None:
    assert charset_decoded(data, charset) == read


def test_a_mail_wholly_in_utf_16_is_read() -> None:
    data = (HEAD + b"MIME-Version: 1.0\n\nGr").decode() + "öße"
    for encoding in ("utf-16", "utf-16-le"):
        assert texts(eml.read(data.encode(encoding), LIMITS))[-1] == "Größe"


def test_a_raw_header_without_encoding_is_decoded() -> None:
    assert eml.read(b"From: a@x.example\nSubject: K\xc3\xbcndigung\n\nx", LIMITS).title == "Kündigung"


def test_nesting_that_no_program_writes_is_refused_or_cut() -> None:
    deep = [b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(3000)]
    with pytest.raises(RefusedError, match="nested deeper"):
        eml.read(HEAD + b"".join(deep), LIMITS)
    assert eml.read(HEAD + b"".join(deep[:60]), LIMITS).notes == [
        "parts nested more than 50 deep are not read"
    ]


def test_more_attachments_than_the_limit_are_counted_in_a_note() -> None:
    reading = eml.read(mixed(*[part(b"application/pdf; name=a.pdf", b"x")] * 250), LIMITS)
    assert len(reading.parts) == 200
    assert reading.notes == ["only the first 200 of 250 attachments are read"]


def test_an_attachment_over_the_limit_of_a_part_is_refused() -> None:
    message = mixed(part(b"application/pdf; name=a.pdf", b"x" * 3_000_000))
    with pytest.raises(RefusedError, match="over 1 MB"):
        eml.extract(message, "0/a.pdf", ParseLimits(max_part_mb=1))


@pytest.mark.parametrize("key", ["7/a", "0.0.0/a", "x/a", "-1/a"])
def test_a_key_that_names_nothing_is_refused(key: str) -> None:
    message = mixed(part(b"text/plain", b"x"))
    with pytest.raises(RefusedError, match="not there"):
        eml.extract(message, key, LIMITS)
    with pytest.raises(RefusedError, match="not there"):
        mbox.extract(b"From a@x 10:00 2026\n" + message, key, LIMITS)


def test_a_mailbox_gives_each_message_a_place() -> None:
    inner = mixed(
        part(b"text/plain", b"From here on it runs.\n\n>From Ann"), part(b"text/csv; name=a.csv", b"1;2")
    )
    line = b"From ann@x.example Tue Mar  3 10:00:00 2026\n"
    data = line + HEAD + b"\nFirst.\n\n" + line + inner
    reading = mbox.read(data, LIMITS)
    places = [(str(unit.locator), unit.text) for unit in reading.units]
    assert ("message 1: Boiler", "First.") in places
    assert ("message 2: Boiler", "From here on it runs.") in places
    assert ("message 2: Boiler", "From Ann") in places
    assert reading.parts[0].name == ("message 2: Boiler", "a.csv")
    assert mbox.extract(data, reading.parts[0].key, LIMITS) == b"1;2"


def test_a_saved_page_is_read_in_the_charset_that_its_part_says() -> None:
    page = part(
        b"text/html; charset=utf-8",
        b"<h1>Caf=C3=A9</h1><p>Open",
        b"Content-Transfer-Encoding: quoted-printable",
    )
    data = b"From: <Saved by Blink>\nMIME-Version: 1.0\n" + nested(page, kind=b"multipart/related")
    assert sniff(data, "page.doc") == "mhtml"
    assert texts(mhtml.read(data, LIMITS)) == ["Café", "Open"]


def test_a_saved_page_without_a_page_is_refused() -> None:
    with pytest.raises(RefusedError, match="no page"):
        mhtml.read(nested(part(b"image/png", b"x"), kind=b"multipart/related"), LIMITS)


LETTER = {0x0037: "Boiler", 0x0C1A: "Ann", 0x5D01: "ann@x.example", 0x1000: "It is serviced.\r\n\r\nAnn"}
PEOPLE = [("Bob", "bob@x.example", 1), ("Cem", "cem@x.example", 2)]


def test_an_outlook_message_says_who_wrote_to_whom_and_when() -> None:
    reading = msg.read(Message(LETTER, sent=SENT_2026, recipients=PEOPLE).bytes(), LIMITS)
    assert reading.title == "Boiler"
    assert texts(reading) == [
        "Boiler",
        "From: Ann <ann@x.example>\nTo: Bob <bob@x.example>\nCc: Cem <cem@x.example>\n"
        "Date: 2026-03-03 08:00 +00:00 (Tuesday 3 March 2026)",
        "It is serviced.",
        "Ann",
    ]


def test_an_outlook_message_in_an_old_code_page_is_read() -> None:
    data = Message({0x0037: "Счёт", 0x1000: "Оплатить до марта"}, codepage=1251).bytes()
    assert texts(msg.read(data, LIMITS)) == ["Счёт", "Оплатить до марта"]
    assert sniff(data, "a.txt") == "msg"


def test_the_formatted_body_of_an_outlook_message_is_read() -> None:
    page = "<ul><li>Größe</li></ul>".encode()
    assert texts(msg.read(Message(binaries={0x1013: page}).bytes(), LIMITS)) == ["- Größe"]
    rich = rb"{\rtf1\ansi Gr\'f6\'dfe\par}"
    plain = struct.pack("<IIII", len(rich) + 12, len(rich), 0x414C454D, 0) + rich
    assert texts(msg.read(Message(binaries={0x1009: plain}).bytes(), LIMITS)) == ["Größe"]


def test_compressed_rich_text_is_unpacked() -> None:
    """The example of [MS-OXRTFCP] 3.1.1."""
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a00726370673132354232 0af32068656c090020627705b06c647d0a800fa0"
    )
    assert len(PRELOAD) == 207
    assert unpacked(packed, 1000) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"


def test_attachments_of_an_outlook_message_are_listed_and_found_again() -> None:
    inner = Message({0x0037: "Offer", 0x1000: "It costs 300."}, attachments=[("plan.pdf", b"%PDF-1")])
    data = Message(LETTER, attachments=[("a.csv", b"1;2"), inner]).bytes()
    reading = msg.read(data, LIMITS)
    assert [attached.name for attached in reading.parts] == [
        ("a.csv",),
        ("attached message: Offer", "plan.pdf"),
    ]
    assert [msg.extract(data, attached.key, LIMITS).rstrip(b"\0") for attached in reading.parts] == [
        b"1;2",
        b"%PDF-1",
    ]
    assert ("attached message: Offer", "It costs 300.") in [(str(u.locator), u.text) for u in reading.units]
    assert "Attachments: a.csv" in texts(reading)


def test_a_message_that_carries_a_locked_document_is_a_message() -> None:
    locked = compound({"EncryptedPackage": b"x"})
    assert sniff(locked, "a.docx") == "office-encrypted"
    assert sniff(Message(LETTER, attachments=[("plan.docx", locked)]).bytes(), "a.msg") == "msg"
    assert sniff(compound({"WordDocument": b"x", "ObjectPool": Message(LETTER).tree(24)}), "a.msg") == "doc"


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        (b"Received: x\nDKIM-Signature: v=1\nSubject: y\n", "eml"),
        (
            b"Authentication-Results: x\nFrom: a@x.example\nTo: b@x.example\nContent-Type: multipart/related\n",
            "eml",
        ),
        (b"From: Ann <a@x.example>\nSubject: y\nContent-Type: multipart/related; boundary=b\n", "eml"),
        (b"From: <Saved by Blink>\nSubject: y\nContent-Type: multipart/related; boundary=b\n", "mhtml"),
        (
            b"Date: x\nSubject: Exported\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n",
            "mhtml",
        ),
        (b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n", "mhtml"),
        (b"From - Tue Mar 03 10:00:00 2026\nX-Mozilla-Status: 0001\nSubject: y\n", "mbox"),
        (b"From 9 to 5 we are open.\nCome in.\n", "txt"),
        (b"Subject: a note\nwithout anything else\n", "txt"),
        (b"\x78\x9f\x3e\x22\x01\x00", "tnef"),
    ],
)
def test_mail_is_told_from_pages_and_notes_by_its_headers(headers: bytes, kind: str) -> None:
    assert sniff(headers + b"\nText.\n", "a.txt") == kind


def test_outlook_messages_nested_over_four_deep_become_a_note() -> None:
    message = Message({0x1000: "hidden treasure"})
    for i in range(7):
        message = Message({0x0037: f"m{i}"}, attachments=[message])
    reading = msg.read(message.bytes(), LIMITS)
    assert "hidden treasure" not in texts(reading)
    assert reading.notes == ["messages nested more than 4 deep are not read"]


def test_a_damaged_outlook_message_is_read_or_refused_and_nothing_else() -> None:
    data = Message(LETTER, sent=SENT_2026, recipients=PEOPLE, attachments=[("a.csv", b"1;2")]).bytes()
    dice = random.Random(4)
    for _ in range(300):
        broken = bytearray(data)
        for _ in range(dice.choice((1, 10, 100))):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        with contextlib.suppress(RefusedError):
            for attached in msg.read(bytes(broken), LIMITS).parts:
                msg.extract(bytes(broken), attached.key, LIMITS)


def test_a_damaged_mail_is_read_or_refused_and_nothing_else() -> None:
    picture = base64.encodebytes(bytes(range(256)) * 4)
    inner = part(b"message/rfc822", b"Subject: =?utf-8?B?w4M=?=\n\nx")
    data = mixed(part(b"text/html", b"<p>x"), part(b"image/png; name*=utf-8''%C3%BC.png", picture), inner)
    dice = random.Random(4)
    for _ in range(300):
        broken = bytearray(data)
        for _ in range(dice.choice((1, 10, 100))):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        with contextlib.suppress(RefusedError):
            for attached in eml.read(bytes(broken), LIMITS).parts:
                eml.extract(bytes(broken), attached.key, LIMITS)
