"""Plain text and logs: paragraphs with their lines. Knows encodings through `encoding`, nothing of markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.formats.encoding import decode
from ingest.formats.reading import Reading, damaged
from ingest.formats.tidy import lines_kept, one_line, without_terminal_codes
from ingest.limits import ParseLimits
from ingest.locator import Locator
from ingest.unit import Unit, UnitKind

MAX_LINES = 12  # of one unit, so that a citation of lines stays exact
MIN_LINES = 4  # a longer paragraph may be cut at a line that ends a sentence
UNDERLINE = re.compile(r"^(=|-|~|\*|#){3,}$")
LOG_LINE = re.compile(
    r"^\W?(?:\d{4}-\d\d-\d\d|\d\d[/.]\d\d[/.]\d\d|\w{3} [ \d]\d \d\d:|\d\d:\d\d:\d\d|\d{10})"
)
SENTENCE_ENDS = (".", "!", "?", ":", "。", "！", "？", ".”", '."')


def read(data: bytes, legacy: str) -> Reading:
    """Read a text file; underlined lines and single lines in capitals are headings."""
    lines = _lines(data, legacy)
    if _is_log([line for line in lines[:200] if line.strip()]):
        return _log(lines)
    return Reading(list(_paragraphs(lines)))


def read_log(data: bytes, legacy: str) -> Reading:
    """Read a text whose lines are entries, each for itself."""
    return _log(_lines(data, legacy))


def read_misnamed(data: bytes, limits: ParseLimits) -> Reading:
    """Refuse a text under the name of an Office document: mostly what a broken download left.

    Raises:
        RefusedError: always.
    """
    raise damaged(
        "its name says Office document, but it holds only plain text: get the document again, or name it .txt"
    )


def _lines(data: bytes, legacy: str) -> list[str]:
    text = without_terminal_codes(decode(data, legacy))
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _log(lines: list[str]) -> Reading:
    return Reading([_unit(i, [line], ()) for i, line in enumerate(lines, 1) if one_line(line)])


def _is_log(lines: list[str]) -> bool:
    dated = sum(bool(LOG_LINE.match(line)) for line in lines)
    return len(lines) >= 3 and dated * 2 > len(lines)


def _paragraphs(lines: list[str]) -> Iterator[Unit]:
    heading: tuple[str, ...] = ()
    for first, block in _blocks(lines):
        title, rest = _title(block)
        if title:
            heading = (title,)
            yield Unit(title, Locator(heading=heading, lines=(first, first)), UnitKind.HEADING)
        start = first + len(block) - len(rest)
        for offset, part in _parts(rest):
            unit = _unit(start + offset, part, heading)
            if unit.text:
                yield unit


def _blocks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of the first line, lines) of each run without an empty line."""
    block: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []
    if block:
        yield len(lines) + 1 - len(block), block


def _title(block: list[str]) -> tuple[str, list[str]]:
    """Split a heading off a block: an underlined first line, or a block that is one short line in capitals."""
    first = one_line(block[0])
    if (
        len(block) > 1
        and UNDERLINE.match(block[1].strip())
        and any(map(str.isalpha, first))
        and len(first) <= 120
    ):
        return first, block[2:]
    if len(block) == 1 and 4 <= len(first) <= 60 and first.isupper() and not first.endswith((".", "!", ",")):
        return first, []
    return "", block


def _parts(block: list[str]) -> Iterator[tuple[int, list[str]]]:
    start = 0
    for i, line in enumerate(block, 1):
        long_enough = i - start >= MIN_LINES and line.rstrip().endswith(SENTENCE_ENDS)
        if i == len(block) or i - start >= MAX_LINES or long_enough:
            yield start, block[start:i]
            start = i


def _unit(first: int, lines: list[str], heading: tuple[str, ...]) -> Unit:
    return Unit(lines_kept("\n".join(lines)), Locator(heading=heading, lines=(first, first + len(lines) - 1)))
