"""Rich text (RTF): paragraphs, headings, table rows, notes and comments, with hidden text flagged.

A walk of our own: converters to plain text lose footnotes, rows and what is hidden. Pictures and objects are not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ingest.formats.reading import Reading, damaged
from ingest.formats.rtf_units import Runs, Units
from ingest.formats.rtf_words import (
    ASIDES,
    CHARSETS,
    ESCAPED,
    LEFT_OUT,
    STARRED,
    SYMBOL,
    SYMBOLS,
    Token,
    codec_of,
    tokens,
)
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits
from ingest.unit import Unit

MAX_DEPTH = 500  # of groups; no program that people write with comes near
MAX_NAME = 1_000  # characters of a style's or the document's name
TINY = 4  # half-points: letters of 2 pt and less are not for people
HEADING_STYLE = re.compile(r"heading (\d)\b", re.IGNORECASE)
SYMBOL_PRIVATE = range(0xF020, 0xF100)  # private characters in which Word writes the bytes of a symbol font


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read a rich text document.

    Raises:
        RefusedError: groups are nested over `MAX_DEPTH` deep.
    """
    walk = _Walk()
    for token in tokens(data):
        if not walk.take(token):
            break
    return Reading(walk.finish(), walk.title)


@dataclass(slots=True)
class _Group:
    """What holds until the group's closing brace."""

    target: str = "text"  # or "skip", "fonts", "styles", "info", "title"
    font: int | None = None
    n_skipped: int = 1  # characters behind \u that stand in for it in readers without Unicode
    hidden: bool = False
    deleted: bool = False
    size: int = 24  # half-points
    in_table: bool = False
    level: int = 0  # of a heading, from 1; 0: no heading


@dataclass(slots=True)
class _Aside:
    """A footnote, comment, text box or page header: a text beside the paragraph that holds it."""

    word: str
    depth: int
    runs: Runs


class _Walk:
    """Takes tokens, keeps the state of the groups, gives units."""

    def __init__(self) -> None:
        self.title = ""
        self._output = Units()
        self._groups: list[_Group] = []
        self._now = _Group()
        self._asides: list[_Aside] = []
        self._starred = False
        self._codec = "cp1252"
        self._fonts: dict[int | None, str] = {}
        self._default_font: int | None = None
        self._styles: dict[int, int] = {}  # style → level of a heading
        self._entry = 0  # the font or style that is being defined
        self._name = ""  # of a style or of the document
        self._bytes = bytearray()
        self._n_to_skip = 0

    def take(self, token: Token) -> bool:
        """Take the next token; returns whether the document goes on."""
        if token.kind in ("bytes", "hex"):
            data = token.data[self._n_to_skip :]
            self._n_to_skip = max(0, self._n_to_skip - len(token.data))
            if self._now.target != "skip":
                self._bytes += data
            return True
        self._decode()
        self._n_to_skip = 0
        if token.kind == "brace":
            return self._enter() if token.text == "{" else self._leave()
        if token.kind == "symbol":
            self._symbol(token.text)
        else:
            self._word(token.text, token.number)
        return True

    def finish(self) -> list[Unit]:
        """Close what the file left open and return all units."""
        self._decode()
        while self._asides:
            self._close_aside()
        self._output.end_paragraph(self._now.level)
        return self._output.finish()

    def _enter(self) -> bool:
        self._groups.append(replace(self._now))
        if len(self._groups) > MAX_DEPTH:
            raise damaged(
                f"its groups are nested more than {MAX_DEPTH} deep, as no word processor writes them"
            )
        return True

    def _leave(self) -> bool:
        if self._now.target == "styles" and (told := HEADING_STYLE.search(self._name)):
            self._styles.setdefault(self._entry, int(told[1]) or 1)
        if self._now.target == "title":
            self.title = one_line(self._name)
        self._name = ""
        if self._asides and self._asides[-1].depth == len(self._groups):
            self._close_aside()
        if not self._groups:
            return False
        self._now = self._groups.pop()
        return bool(self._groups)  # behind the outermost group nothing counts, as in Word

    def _close_aside(self) -> None:
        aside = self._asides.pop()
        self._output.add_aside(aside.word, aside.runs)

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            self._starred = True
        elif symbol in "\r\n":
            self._end("par")
        else:
            self._add(ESCAPED.get(symbol, ""))

    def _word(self, word: str, number: int | None) -> None:
        starred, self._starred = self._starred, False
        if self._now.target == "skip":
            return
        if word in LEFT_OUT or (starred and word not in STARRED):
            self._now.target = "skip"
        elif word in ASIDES and self._now.target == "text":
            self._asides.append(_Aside(word, len(self._groups), []))
            self._now.in_table = False
        elif word in ("fonttbl", "stylesheet", "info"):
            self._now.target = {"fonttbl": "fonts", "stylesheet": "styles"}.get(word, "info")
        elif self._now.target == "info":
            self._now.target = "title" if word == "title" else "skip"
        elif self._now.target == "fonts":
            self._define_font(word, number or 0)
        elif self._now.target == "styles":
            self._define_style(word, number or 0)
        elif word in ("par", "sect", "page", "column", "cell", "row"):
            self._end(word)
        elif word in SYMBOLS:
            self._add(SYMBOLS[word])
        elif word == "u":
            self._unicode(number or 0)
        else:
            self._set(word, number)

    def _define_font(self, word: str, number: int) -> None:
        if word == "f":
            self._entry = number
        elif word == "fcharset" and number in CHARSETS:
            self._fonts[self._entry] = CHARSETS[number]
        elif word == "cpg":
            self._fonts[self._entry] = codec_of(number)

    def _define_style(self, word: str, number: int) -> None:
        if word == "s":
            self._entry = number
        elif word == "outlinelevel" and 0 <= number < 9:
            self._styles[self._entry] = number + 1

    def _set(self, word: str, number: int | None) -> None:
        """Take a word that sets how the text that follows looks."""
        now, on = self._now, number != 0
        if word == "f":
            now.font = number
        elif word == "uc":
            now.n_skipped = min(max(number or 0, 0), 16)
        elif word in ("v", "deleted"):
            now.hidden, now.deleted = (on, now.deleted) if word == "v" else (now.hidden, on)
        elif word == "fs":
            now.size = number or 24
        elif word == "plain":
            now.hidden, now.deleted, now.size, now.font = False, False, 24, self._default_font
        elif word == "pard":
            now.in_table, now.level = False, 0
        elif word == "intbl":
            now.in_table = not self._asides
        elif word == "s":
            now.level = self._styles.get(number or 0, 0)
        elif word == "outlinelevel":
            now.level = (number or 0) + 1 if 0 <= (number or 0) < 9 else 0
        elif word in ("listtext", "pntext"):
            self._output.is_item = True
        else:
            self._set_codec(word, number)

    def _set_codec(self, word: str, number: int | None) -> None:
        if word == "ansicpg":
            self._codec = codec_of(number)
        elif word in ("mac", "pc", "pca"):
            self._codec = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}[word]
        elif word == "deff":
            self._default_font = self._now.font = number

    def _unicode(self, number: int) -> None:
        code = number % 0x10000
        self._add(_symbols(chr(code & 0xFF)) if code in SYMBOL_PRIVATE else chr(code))
        self._n_to_skip = self._now.n_skipped

    def _decode(self) -> None:
        if self._bytes:
            codec = self._fonts.get(self._now.font, self._codec)
            text = self._bytes.decode("cp1252" if codec == SYMBOL else codec, "replace")
            self._add(_symbols(text) if codec == SYMBOL else text)
            self._bytes.clear()

    def _add(self, text: str) -> None:
        now = self._now
        if now.target in ("styles", "title"):
            self._name += text[: max(0, MAX_NAME - len(self._name))]
        elif now.target == "text" and not now.deleted:
            runs = self._asides[-1].runs if self._asides else self._output.runs
            runs.append((text, now.hidden or now.size <= TINY))

    def _end(self, word: str) -> None:
        if self._now.target != "text":
            return
        if self._asides:
            self._add(" | " if word == "cell" else "\n")
        elif word == "cell":
            self._output.end_cell()
        elif word == "row":
            self._output.end_row()
        elif self._now.in_table:
            self._add("\n")
        else:
            self._output.end_paragraph(self._now.level)


def _symbols(text: str) -> str:
    """Return what stands in a symbol font: letters and digits; its other signs are bullets, ticks and arrows."""
    return "".join(ch if ch.isascii() and (ch.isalnum() or ch == " ") else "•" for ch in text)
