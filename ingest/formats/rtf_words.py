"""RTF cut into words, groups and bytes, and what the words and numbers of the format mean. Keeps no state.

Source: Rich Text Format (RTF) Specification 1.9.1, Microsoft, 2008.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

TOKEN = re.compile(
    r"\\(?:([a-zA-Z]{1,32})(-?\d{1,10})? ?|'([0-9a-fA-F]{2})|([^a-zA-Z]))|([{}])|([^\\{}\r\n]+)|[\r\n]+|.",
    re.S,
)

# \fcharset to Python's codecs; the Mac scripts that Python lacks fall back on the document's code page.
SYMBOL = "symbol"  # no codec: a font of signs
CHARSETS = {
    0: "cp1252", 2: SYMBOL, 77: "mac_roman", 83: "mac_greek", 84: "mac_cyrillic", 88: "cp874", 89: "mac_latin2",
    128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
    254: "cp437", 255: "cp850",
}  # fmt: skip
CODEPAGES = {932: "cp932", 936: "gb18030", 1361: "johab", 10000: "mac_roman", 65001: "utf-8"}
SYMBOLS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "emspace": " ", "enspace": " ", "qmspace": " ",
    "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "nestcell": " | ",
    "nestrow": "\n", "softline": "\n", "lbr": "\n",
}  # fmt: skip
ESCAPED = {"~": "\xa0", "_": "-", "-": "", "\n": "\n", "\r": "\n", "{": "{", "}": "}", "\\": "\\"}

# Groups whose text is not the document's. Those marked `\\*` are left out anyway, unless they are in STARRED.
LEFT_OUT = frozenset(
    "colortbl pict objdata objclass objname objalias fldinst sp shprslt xe tc rxe txe nonesttables ftnsep ftnsepc ftncn"
    " aftnsep aftnsepc aftncn pntxta pntxtb private template filetbl nextfile themedata datastore latentstyles"
    " listtable listoverridetable rsidtbl bkmkstart bkmkend upr mmath atnid atnauthor atndate atnref atnparent"
    " generator formfield datafield nesttableprops".split()
)
STARRED = frozenset("shpinst annotation footnote do".split())
# Groups that are texts of their own, and what is written in front of them.
ASIDES = {
    "footnote": "Note: ", "annotation": "Comment: ", "shptxt": "", "dptxbxtext": "", "header": "", "headerl": "",
    "headerr": "", "headerf": "", "footer": "", "footerl": "", "footerr": "", "footerf": "",
}  # fmt: skip


class Token(NamedTuple):
    """One piece: a control word with its number, a group's brace, or text as bytes.

    Attributes:
        kind: "word", "symbol" (`\\~`), "brace", "bytes" or "hex" (one byte).
    """

    kind: str
    text: str = ""
    number: int | None = None
    data: bytes = b""


def tokens(data: bytes) -> Iterator[Token]:
    """Cut a file; binary blocks (`\\bin`) are jumped over."""
    text = data.decode("latin-1")
    at = 0
    while match := TOKEN.match(text, at):
        at = match.end()
        word, number, hexed, symbol, brace, plain = match.groups()
        if word == "bin" and number:
            at += max(0, int(number))
        elif word:
            yield Token("word", word, int(number) if number else None)
        elif hexed:
            yield Token("hex", data=bytes.fromhex(hexed))
        elif symbol:
            yield Token("symbol", symbol)
        elif brace:
            yield Token("brace", brace)
        elif plain:
            yield Token("bytes", data=plain.encode("latin-1"))


def codec_of(codepage: int | None) -> str:
    """Return Python's name of a Windows code page; cp1252 for one that it does not know."""
    name = CODEPAGES.get(codepage or 1252, f"cp{codepage}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name
