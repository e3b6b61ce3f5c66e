"""XML of any kind: records as units that name their values, feeds by their items, documents by their paragraphs.

Nothing outside the file is read, and a file that defines entities is refused: so is XML built to break readers.
"""

from __future__ import annotations

import html as entities
import re
from typing import Any

from lxml import etree

from ingest.formats.encoding import decode_declared
from ingest.formats.package import SAFE_XML
from ingest.formats.reading import Reading, damaged
from ingest.formats.records import Record, Records, Value, too_deep
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits

DECLARATION = re.compile(r"^\s*<\?xml\b[^>]{0,200}\?>", re.IGNORECASE)
ENCODING = re.compile(
    rb"^[\s\xef\xbb\xbf]*<\?xml\b[^>]{0,150}?\bencoding\s*=\s*[\"']([\w.:-]{1,40})", re.IGNORECASE
)
DOCTYPE = re.compile(r"<!DOCTYPE\b[^<>\[\]]*>", re.IGNORECASE)
ENTITY = re.compile(r"<!ENTITY", re.IGNORECASE)
NAMED = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[a-zA-Z]\w{1,30};")
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
UNREAD_ATTRIBUTES = frozenset(
    "class style lang space schemalocation nonamespaceschemalocation version xmlns".split()
)
MAX_ATTRIBUTE = 300  # characters
MAX_ATTRIBUTES = 500  # of one element; lxml reads them in square time
PICTURE = "svg"  # its attributes draw; only its texts are read


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read an XML file; a broken one is read as far as it goes, with a note.

    Raises:
        RefusedError: it defines entities, is nested over 256 deep, or holds no element.
    """
    root, notes = _parse(_text(data, limits))
    value = _value(root)
    records = Records(notes)
    if isinstance(value, str):
        value = Record([(_name(root), value)])
    units = records.units(value)
    return Reading(units, _title(value), notes=records.notes)


def _text(data: bytes, limits: ParseLimits) -> str:
    """Decode by mark and content, then by what the file says of itself: exports often say UTF-8 and are UTF-16."""
    told = ENCODING.match(data[:400])
    text = decode_declared(data, told[1].decode("ascii") if told else "", limits.legacy_encoding)
    text = DECLARATION.sub("", text.lstrip("\ufeff"), count=1)
    if ENTITY.search(text):
        raise damaged(
            "it defines entities (DTD), as files do that are built to break readers: export it without them"
        )
    # Names of characters stand in the DTD, which is not read: they are taken as HTML means them.
    text = NAMED.sub(lambda match: entities.unescape(match[0]), DOCTYPE.sub("", text, count=1))
    return NOT_XML.sub("", text)


def _parse(text: str) -> tuple[Any, list[str]]:
    data = text.encode("utf-8", "replace")
    try:
        return etree.fromstring(data, _parser(recover=False)), []
    except etree.XMLSyntaxError as error:
        if "depth" in str(error):
            raise too_deep() from error
        line = error.lineno
    try:
        root = etree.fromstring(data, _parser(recover=True))
    except etree.XMLSyntaxError as error:
        raise damaged(f"its XML is broken ({str(error)[:200]})") from error
    if root is None:
        raise damaged("its XML is broken: there is no element in it")
    return root, [f"its XML is broken in line {line}: what follows may be missing"]


def _parser(recover: bool) -> etree.XMLParser:
    return etree.XMLParser(encoding="utf-8", recover=recover, **SAFE_XML)


def _value(element: Any) -> Value:
    """Turn an element into a value: text, or the fields that its attributes and its elements are."""
    children = [child for child in element if isinstance(child.tag, str)]
    own = [element.text, *(child.tail for child in element)]
    is_mixed = any(text and text.strip() for text in own)
    attributes: list[tuple[str, Value]] = _attributes(element)
    if not children or is_mixed:
        text = _whole_text(element)
        if not attributes or (is_mixed and children):
            return text
        return Record([("", text), *attributes] if text.strip() else attributes)
    return Record([*attributes, *_fields(children)])


def _fields(children: list[Any]) -> list[tuple[str, Value]]:
    """Return children as fields; neighbours of one name are one list."""
    fields: list[tuple[str, Value]] = []
    for child in children:
        name, value = _name(child), _value(child)
        if not fields or fields[-1][0] != name:
            fields.append((name, value))
            continue
        earlier = fields[-1][1]
        if isinstance(earlier, list):
            earlier.append(value)
        else:
            fields[-1] = (name, [earlier, value])
    return fields


def _attributes(element: Any) -> list[tuple[str, Value]]:
    is_picture = etree.QName(element.getroottree().getroot()).localname == PICTURE
    if is_picture or len(element.attrib) > MAX_ATTRIBUTES:
        return []
    found: list[tuple[str, Value]] = []
    for key, value in element.attrib.items():
        name = etree.QName(key).localname
        if (
            name.lower() not in UNREAD_ATTRIBUTES
            and len(value) <= MAX_ATTRIBUTE
            and any(map(str.isalnum, value))
        ):
            found.append((name, value))
    return found


def _whole_text(element: Any) -> str:
    """Return all text under an element, without that of comments."""
    return "".join(element.itertext())


def _name(element: Any) -> str:
    return etree.QName(element).localname[:80]


def _title(value: Value) -> str:
    """Return the document's title: its own, or that of its one wrapped element (a feed's channel)."""
    if not isinstance(value, Record):
        return ""
    inner = [field for _, field in value.fields if isinstance(field, Record)]
    return one_line(value.title() or (inner[0].title() if len(inner) == 1 else ""))
