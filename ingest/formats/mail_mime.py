"""The letters of e-mail on the wire: MIME parts, their headers, names and texts decoded, whatever is wrong with them.

The parser's oldest policy is used on purpose: it keeps headers as they came and raises least; decoding is done here.
"""

from __future__ import annotations

import base64
import binascii
import email
import itertools
import quopri
import re
from email.message import Message
from email.policy import compat32

from ingest.formats.encoding import BOMS, decode
from ingest.formats.reading import damaged
from ingest.formats.tidy import one_line

MAX_HEADER = 20_000  # characters; a list of a thousand addresses fits
# What the standard library lets out when a part contradicts itself.
BROKEN = (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError)
WORD = re.compile(r"=\?([^?\s*]+)(?:\*[^?\s]*)?\?([bBqQ])\?([^?\r\n]*)\?=")
WORDS = re.compile(rf"(?:{WORD.pattern}\s*(?==\?))*{WORD.pattern}")
SUPERSETS = {
    "iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "shift-jis": "cp932", "x-sjis": "cp932",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "big5": "cp950", "iso-8859-8-i": "iso-8859-8",
    "iso-8859-9": "cp1254", "unicode-1-1-utf-7": "utf-7", "iso-2022-jp": "iso2022_jp_ext",
}  # fmt: skip
# Encodings in which no text of people comes, and which are slow on long input.
NO_CHARSET = frozenset({"punycode", "idna", "undefined", "unicode_escape", "raw_unicode_escape"})
ONE_BYTE = re.compile(r"(?:|us-ascii|ascii|cp125\d|windows-125\d|latin.?\d|iso-8859-.+|koi8-.)\Z")


def parse(data: bytes) -> Message:
    """Parse a message; one that is wholly in UTF-16 or UTF-32 is turned to UTF-8 first.

    Raises:
        RefusedError: its parts are nested deeper than the parser can follow.
    """
    if b"\0" in data[:64] or any(data.startswith(bom) for bom, _ in BOMS):
        data = decode(data).lstrip("\ufeff").encode("utf-8", "replace")
    try:
        return email.message_from_bytes(data.lstrip(b"\r\n"), policy=compat32)
    except RecursionError as error:
        raise damaged("its parts are nested deeper than any mail program writes them") from error


def header(message: Message, name: str) -> str:
    """Return a header as people read it, on one line; "" when it is missing."""
    for key, value in message.raw_items():
        if key.lower() == name.lower():
            return one_line(words_decoded(unescaped(str(value)[:MAX_HEADER])))
    return ""


def unescaped(text: str) -> str:
    """Decode bytes that the parser carries as half characters (surrogates)."""
    return text if text.isascii() else decode(text.encode("utf-8", "surrogateescape"))


def words_decoded(text: str) -> str:
    """Decode the encoded words (`=?utf-8?B?…?=`) in a header. Source: RFC 2047."""
    return WORDS.sub(_run_decoded, text) if "=?" in text else text


def _run_decoded(run: re.Match[str]) -> str:
    """Decode neighbours of one charset together: programs cut words inside a character."""
    words = [(charset.lower(), _word_bytes(how, data)) for charset, how, data in WORD.findall(run[0])]
    groups = itertools.groupby(words, key=lambda word: word[0])
    return "".join(charset_decoded(b"".join(data for _, data in group), name) for name, group in groups)


def _word_bytes(how: str, text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    if how in "qQ":
        return quopri.decodestring(data, header=True)
    try:
        return base64.b64decode(data + b"=" * (-len(data) % 4))
    except binascii.Error:
        return data


def charset_decoded(data: bytes, charset: str, legacy: str = "cp1252") -> str:
    """Decode a text by what is said of it, if that can be; by what it looks like otherwise."""
    name = charset.strip("\"' ").lower()
    if not data.isascii() and ONE_BYTE.match(name):
        try:
            return data.decode("utf-8")  # by chance no text in such a charset is valid UTF-8
        except UnicodeDecodeError:
            pass
    try:
        return (
            decode(data, legacy) if not name or name in NO_CHARSET else data.decode(SUPERSETS.get(name, name))
        )
    except (LookupError, ValueError):
        return decode(data, legacy)


def payload(part: Message) -> bytes:
    """Return the part's bytes, as far as they can be decoded."""
    if is_packed_message(part):
        return _word_bytes("b", "".join(str(_only_child(part)).split()))
    try:
        data = part.get_payload(decode=True)
    except BROKEN:
        data = str(part.get_payload()).encode("utf-8", "replace")
    return data if isinstance(data, bytes) else b""


def is_packed_message(part: Message) -> bool:
    """Tell a message in base64: forbidden, written all the same, and not unpacked by the parser."""
    coding = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
    return coding == "base64" and part.is_multipart() and content_type(part).startswith("message/")


def _only_child(part: Message) -> object:
    children = part.get_payload()
    child = children[0] if isinstance(children, list) and children else ""
    return child.get_payload() if isinstance(child, Message) else child


def text(part: Message, legacy: str) -> str:
    """Return the text of a text part."""
    return charset_decoded(payload(part), charset(part), legacy)


def charset(part: Message) -> str:
    """Return the charset that the part claims, "" for none."""
    try:
        return str(part.get_param("charset", "") or "")
    except BROKEN:
        return ""


def content_type(part: Message) -> str:
    """Return "text/plain" and the like, in small letters."""
    return part.get_content_type()


def disposition(part: Message) -> str:
    """Return "attachment", "inline" or ""."""
    return part.get_content_disposition() or ""


def file_name(part: Message) -> str:
    """Return the name of an attached file without folders, "" for none. Knows RFC 2231, 2047 and raw bytes."""
    try:
        name = part.get_filename() or ""
    except BROKEN:
        return ""
    name = one_line(words_decoded(unescaped(name[:MAX_HEADER])))
    return name.replace("\\", "/").rpartition("/")[2].strip()[:200]
