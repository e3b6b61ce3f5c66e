"""Figures of a text: numbers with their units, written out or not, and dates; when two of them are the same. Pure.

Nothing is calculated: a sum or a rounded figure is another figure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from appliance.checks.units import CURRENCIES, factor_after, unit_after
from appliance.checks.written_numbers import WRITTEN, value_of

_MONTHS = {
    name: number
    for number, names in enumerate(
        "january jan januar|february feb februar|march mar märz|april apr|may mai|june jun juni|july jul juli|"
        "august aug|september sep sept|october oct oktober okt|november nov|december dec dezember dez".split(
            "|"
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})\b",
        r"\b(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4})\b",
        r"\b(?P<d>\d{1,2})/(?P<m>\d{1,2})/(?P<y>\d{4})\b",
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<m>{_MONTH}),?\s+(?P<y>\d{{4}})\b",
        rf"\b(?P<m>{_MONTH})\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})\b",
    )
)
_SIGN = r"(?:(?<![\w.,–-])[-−]\s?|\bminus\s+)?"
_DIGITS = r"(?P<digits>\d+(?:[.,:]\d+)*(?:[\u00a0\u202f]\d{3})*)(?P<half>[½¼¾])?"
_NUMBER = re.compile(
    rf"(?P<currency>[$€£]\s?)?(?P<sign>{_SIGN})(?<![^\W_])(?<![^\W\d_][-/]){_DIGITS}", re.IGNORECASE
)
_WRITTEN = re.compile(rf"\b(?:{WRITTEN})(?:(?:\s+and\s+|[\s-])(?:{WRITTEN}))*\b", re.IGNORECASE)
_WRITTEN_WORD = re.compile(rf"\b(?:{WRITTEN})\b", re.IGNORECASE)
_ORDINAL = re.compile(r"(?:st|nd|rd|th|s|er|ers)\b", re.IGNORECASE)
# Shorter words are mostly no nouns.
_NOUN = re.compile(
    r"\s(?!(?:other|different|more|less|total|major|main|such|from|that|with|were|have)\b)([a-z]{4,})\b"
)
_DECADE = re.compile(r"[12]\d\d0s")
_HALVES = {"½": ".5", "¼": ".25", "¾": ".75", None: ""}
_DATE = "date"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number or a date.

    Attributes:
        values: how it may be read, as plain decimals ("1.200" is 1200 in German and 1.2 in English); ISO for a date.
        unit: of `units`; empty where none stands beside it; "date" for a date.
        text: as it is written, unit included.
        start, end: where it stands.
        parts: day and year of a date.
        counted: the word after a number without a unit, without its plural ("five plays": "play"); empty where none is.
    """

    values: frozenset[str]
    unit: str
    text: str
    start: int
    end: int
    parts: frozenset[str] = frozenset()
    counted: str = ""

    def is_in(self, known: Sequence[Figure]) -> bool:
        """Tell whether it stands among the figures of another text; a unit that is not given fits every unit."""
        if any(self.values & other.values and _same_unit(self.unit, other.unit) for other in known):
            return not self._is_counted_otherwise(known)
        if self.unit == _DATE:
            plain = frozenset[str]().union(*(other.values | other.parts for other in known))
            return self.parts <= plain and not any(self._same_month(other) for other in known)
        return any(self.values & other.parts for other in known)

    def _is_counted_otherwise(self, known: Sequence[Figure]) -> bool:
        """Whether the same thing is counted there, and never so many: three plays and five yards are not five plays."""
        counts = [other for other in known if self.counted and other.counted == self.counted]
        return bool(counts) and not any(self.values & other.values for other in counts)

    def is_like(self, other: Figure) -> bool:
        """Tell whether the other could stand in its place: a date for a date, the same unit, or the same number."""
        if (self.unit == _DATE) != (other.unit == _DATE):
            return False
        return _same_unit(self.unit, other.unit) or bool(self.values & other.values)

    def _same_month(self, other: Figure) -> bool:
        return any(
            mine[:7] == theirs[:7] for mine in self.values for theirs in other.values if "-" in theirs[1:]
        )


def figures(text: str) -> list[Figure]:
    """Return the figures of a text in order; those within codes ("X-250") are not figures."""
    dates = list(_dates(text))
    taken = covered(dates)
    free = (number for number in (*_numbers(text), *_written(text)) if number.start not in taken)
    return sorted([*dates, *free], key=lambda figure: figure.start)


def covered(found: Iterable[Figure]) -> set[int]:
    """Return the character offsets at which these figures stand."""
    return {at for figure in found for at in range(figure.start, figure.end)}


def _dates(text: str) -> Iterator[Figure]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            day, year = int(match["d"]), int(match["y"])
            name = match["m"].rstrip(".").casefold()
            month = _MONTHS.get(name) or int(name)
            readings = {(day, month), (month, day)} if "/" in match.group() else {(day, month)}
            values = frozenset(f"{year}-{m:02}-{d:02}" for d, m in readings if 1 <= m <= 12 and 1 <= d <= 31)
            if values:
                parts = frozenset({str(day), str(year)})
                yield Figure(values, _DATE, match.group(), match.start(), match.end(), parts)


def _numbers(text: str) -> Iterator[Figure]:
    for match in _NUMBER.finditer(text):
        end = match.end()
        factor, unit, end = _what_follows(text, end)
        if end == match.end() and text[end : end + 1].isalpha():
            ordinal = _ORDINAL.match(text, end)
            if ordinal is None:
                continue  # a code: "4711B"
            end = ordinal.end()
        if unit == "s" and _DECADE.fullmatch(text, match.start(), end):
            unit = ""
        if match["currency"]:
            unit = CURRENCIES[match["currency"].strip()]
        sign = "-" if match["sign"] else ""
        values = frozenset(
            sign + _scaled(value + _HALVES[match["half"]], factor) for value in _readings(match["digits"])
        )
        yield Figure(
            values,
            unit,
            text[match.start() : end].strip(),
            match.start(),
            end,
            counted=_counted(text, end, unit),
        )


def _written(text: str) -> Iterator[Figure]:
    for run in _WRITTEN.finditer(text):
        whole = value_of(run.group()) is not None  # "two hundred", and not "two and three"
        for match in [run] if whole else _WRITTEN_WORD.finditer(text, run.start(), run.end()):
            value = value_of(match.group())
            factor, unit, end = _what_follows(text, match.end())
            if value is not None and (value > 1 or unit):  # "one" is mostly a pronoun
                values = frozenset({_scaled(str(value), factor)})
                counted = _counted(text, end, unit)
                yield Figure(values, unit, text[match.start() : end], match.start(), end, counted=counted)


def _counted(text: str, end: int, unit: str) -> str:
    following = _NOUN.match(text, end)
    return "" if unit or following is None else following[1].removesuffix("s")


def _what_follows(text: str, end: int) -> tuple[int, str, int]:
    """Return the factor and the unit that stand after a number, and where they end."""
    factor, end = factor_after(text, end)
    unit, end = unit_after(text, end)
    return factor, unit, end


def _readings(digits: str) -> set[str]:
    digits = re.sub(r"[\u00a0\u202f]", "", digits)
    if re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", digits):
        return {_plain(digits.replace(",", ""))}
    if re.fullmatch(r"[1-9]\d{0,2}(?:\.\d{3}){2,}", digits):
        return {digits.replace(".", "")}
    if re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", digits):
        return {_plain(digits), digits.replace(".", "")}
    if re.fullmatch(r"[1-9]\d{0,2}(?:\.\d{3})+,\d+", digits):
        return {_plain(digits.replace(".", "").replace(",", "."))}
    return {_plain(digits.replace(",", "."))}


def _plain(number: str) -> str:
    """Return a decimal without zeros that say nothing; "8.0" is 8, "08:30" stays a time."""
    if number.count(".") == 1 and ":" not in number:
        number = number.rstrip("0").rstrip(".")
    return number.lstrip("0") or "0" if number.isdigit() else number


def _scaled(number: str, factor: int) -> str:
    if factor == 1:
        return number
    try:
        return _plain(f"{float(number) * factor:.6f}")
    except ValueError:
        return number


def _same_unit(one: str, other: str) -> bool:
    return not one or not other or one == other
