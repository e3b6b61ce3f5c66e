"""An old Word document's list numbers ("3.2", "b)"): the text has none, the lists and counting make them.

Source: [MS-DOC] 2.9.131 (LFO), 2.9.147 (LSTF), 2.9.150 (LVL), 2.9.151 (LVLF); [MS-OSHARED] 2.2.1.3 (number formats).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ingest.formats.doc_format import Paragraph
from ingest.formats.numerals import letters, roman

LIST_BYTES, LEVEL_BYTES, NUMBER_BYTES, N_LEVELS = 28, 28, 16, 9
DECIMAL, UPPER_ROMAN, LOWER_ROMAN, UPPER_LETTER, LOWER_LETTER, ZERO_DECIMAL, BULLET, NONE = (
    0,
    1,
    2,
    3,
    4,
    22,
    23,
    255,
)
BULLET_LABEL = "-"
MAX_LABEL = 40


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    number_format: int
    is_legal: bool  # numbers of other levels are shown in figures
    label: str  # with the characters 0 to 8 where the numbers of those levels go


class DocNumbering:
    """Counts the numbered paragraphs of one document, in reading order."""

    def __init__(self, lists: bytes, numbers: bytes) -> None:
        """Read the tables; what is cut off or broken has bullets for labels.

        Args:
            lists: the table of lists, with what follows it: the levels.
            numbers: the table of what paragraphs call lists.
        """
        self._levels: dict[int, list[_Level]] = {}
        self._list_ids: list[int] = []
        self._starts: dict[tuple[int, int], int] = {}  # (list number, level) → where it starts instead
        self._counts: dict[int, dict[int, int]] = {}
        try:
            self._read_lists(lists)
            self._read_numbers(numbers)
        except struct.error:  # a document is read without some of its numbers
            pass

    def label(self, form: Paragraph) -> str:
        """Return the next number of a paragraph: "3.2", "b)", "-" for bullets and lists that are not known."""
        if form.list_number > len(self._list_ids):
            return BULLET_LABEL
        list_id = self._list_ids[form.list_number - 1]
        levels = self._levels.get(list_id, [])
        if form.list_level >= len(levels):
            return BULLET_LABEL
        restarted = any((form.list_number, n) in self._starts for n in range(N_LEVELS))
        counts = self._counts.setdefault(-form.list_number if restarted else list_id, {})
        level = form.list_level
        start = self._starts.get((form.list_number, level), levels[level].start)
        counts[level] = counts.get(level, start - 1) + 1
        for deeper in [n for n in counts if n > level]:
            del counts[deeper]
        return _text(levels, level, counts)

    def _read_lists(self, data: bytes) -> None:
        if not data:
            return
        (n_lists,) = struct.unpack_from("<H", data, 0)
        place = 2 + LIST_BYTES * n_lists
        for i in range(n_lists):
            list_id, flags = struct.unpack_from("<i22xB", data, 2 + LIST_BYTES * i)
            levels = []
            for _ in range(1 if flags & 1 else N_LEVELS):
                level, place = _level(data, place)
                levels.append(level)
            self._levels[list_id] = levels

    def _read_numbers(self, data: bytes) -> None:
        if not data:
            return
        (n_numbers,) = struct.unpack_from("<I", data, 0)
        n_numbers = min(n_numbers, len(data) // NUMBER_BYTES)
        found = [struct.unpack_from("<i8xB", data, 4 + NUMBER_BYTES * i) for i in range(n_numbers)]
        self._list_ids = [list_id for list_id, _ in found]
        place = 4 + NUMBER_BYTES * n_numbers
        for number, (_, n_overrides) in enumerate(found, 1):
            place += 4
            for _ in range(n_overrides):
                start, flags = struct.unpack_from("<iI", data, place)
                place += 8
                if flags & 0x20:  # a level of its own: only where it starts is taken from it
                    own, place = _level(data, place)
                    start = own.start
                if flags & 0x30:
                    self._starts[number, flags & 0x0F] = start


def _level(data: bytes, place: int) -> tuple[_Level, int]:
    """Return a level and the place behind it. Raises struct.error."""
    start, number_format, flags = struct.unpack_from("<iBB", data, place)
    n_characters, n_paragraph = struct.unpack_from("<BB", data, place + 24)
    place += LEVEL_BYTES + n_characters + n_paragraph
    (n_letters,) = struct.unpack_from("<H", data, place)
    label = data[place + 2 : place + 2 + 2 * n_letters].decode("utf-16-le", "replace")
    level = _Level(start, number_format, bool(flags & 0x04), label[:MAX_LABEL])
    return level, place + 2 + 2 * n_letters


def _text(levels: list[_Level], level: int, counts: dict[int, int]) -> str:
    own = levels[level]
    if own.number_format == BULLET:
        return BULLET_LABEL
    pieces = []
    for letter in own.label:
        other = ord(letter)
        if other >= len(levels) or other >= N_LEVELS:
            pieces.append(letter)
            continue
        number = counts.get(other, levels[other].start)
        legal = own.is_legal and other != level
        pieces.append(_number(number, DECIMAL if legal else levels[other].number_format))
    return "".join(pieces).strip()


def _number(number: int, number_format: int) -> str:
    if number_format in (UPPER_ROMAN, LOWER_ROMAN):
        text = roman(number)
        return text.upper() if number_format == UPPER_ROMAN else text
    if number_format in (UPPER_LETTER, LOWER_LETTER):
        text = letters(number)
        return text.upper() if number_format == UPPER_LETTER else text
    if number_format in (BULLET, NONE):
        return ""
    return f"{number:02d}" if number_format == ZERO_DECIMAL else str(number)
