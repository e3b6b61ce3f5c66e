"""A cell's value as people read it: tidy numbers, percent, currency, ISO dates. Knows no file format."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from enum import Enum, auto

MAX_EXACT = 2**53  # a float holds every whole number up to it
MAX_SERIAL = 2_958_466  # 10000-01-01, counted in days as Excel does
FEBRUARY_29_1900 = 60  # a day that Lotus 1-2-3 believed in, and Excel kept
DAYS_TO_1904 = 1462
ISO_DURATION = re.compile(r"(-?)P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,]\d+)?S)?")

# What is no digit place, unit or symbol in a format code: quoted words, escapes, fill and space characters.
LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.')
BRACKET = re.compile(r"\[([^\]]*)\]")
ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
CURRENCY = re.compile(r"\[\$([^\]-]+)")
SYMBOL = re.compile(r"[$€£¥₹₽₺₩₪₴₫฿]|\b(?:CHF|EUR|USD|GBP|kr|zł|Kč|Ft)\b")
PADDED = re.compile(r"0{2,}")


class Kind(Enum):
    """What a number stands for."""

    GENERAL = auto()
    DECIMAL = auto()
    PERCENT = auto()
    CURRENCY = auto()
    DATE = auto()
    MOMENT = auto()
    MONTH = auto()
    TIME = auto()
    DURATION = auto()


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How a cell shows its number.

    Attributes:
        decimals: shown after the point.
        symbol: of a currency.
        width: digits that a whole number is padded to ("00042").
        to_s: seconds that a time is rounded to: 60 where it is shown without seconds.
    """

    kind: Kind = Kind.GENERAL
    decimals: int = 0
    symbol: str = ""
    width: int = 0
    to_s: int = 1


GENERAL = NumberFormat()
# Formats that files name by number only. Source: ECMA-376 part 1, 18.8.30; 27-36 and 50-58 are East Asian dates.
BUILT_IN = {
    **{i: NumberFormat(Kind.DECIMAL) for i in (1, 3, 37, 38, 41, 42)},
    **{i: NumberFormat(Kind.DECIMAL, 2) for i in (2, 4, 39, 40, 43, 44)},
    9: NumberFormat(Kind.PERCENT),
    10: NumberFormat(Kind.PERCENT, 2),
    **{i: NumberFormat(Kind.DATE) for i in (14, 15, 16, *range(27, 32), 34, 35, 36, *range(50, 59))},
    17: NumberFormat(Kind.MONTH),
    **{i: NumberFormat(Kind.TIME, to_s=60) for i in (18, 20, 32)},
    **{i: NumberFormat(Kind.TIME) for i in (19, 21, 33, 45, 47)},
    22: NumberFormat(Kind.MOMENT, to_s=60),
    46: NumberFormat(Kind.DURATION),
}


def number_format(code: str) -> NumberFormat:
    """Return what a format code such as `#,##0.00 [$€-407]` makes of a number; its first section decides."""
    if ELAPSED.search(code):
        return NumberFormat(Kind.DURATION)
    section = code.split(";")[0]
    bare = BRACKET.sub("", LITERAL.sub("", section))
    units = bare.lower().replace("am/pm", "h").replace("a/p", "h")
    if bare.lower() in ("general", "standard", "@", ""):
        return GENERAL
    decimals = len(re.sub(r"[^0#?]", "", bare.partition(".")[2]))
    if "%" in bare:
        return NumberFormat(Kind.PERCENT, decimals)
    if not re.search(r"[0#?]", bare) and re.search(r"[ymdhs]", units):
        return NumberFormat(_calendar(units), to_s=1 if "s" in units else 60)
    told = CURRENCY.search(section) or SYMBOL.search(BRACKET.sub("", section))
    if told:
        return NumberFormat(Kind.CURRENCY, decimals, told[told.re.groups].strip(' "\\'))
    return NumberFormat(Kind.DECIMAL, decimals, width=len(bare) if PADDED.fullmatch(bare) else 0)


def _calendar(units: str) -> Kind:
    """Tell a date from a time: m is a month beside years and days, a minute beside hours and seconds."""
    has_date, has_time = "d" in units or "y" in units, "h" in units or "s" in units
    if has_time:
        return Kind.MOMENT if has_date else Kind.TIME
    if "d" in units:
        return Kind.DATE
    return Kind.MONTH if "y" in units and "m" in units else Kind.DATE


def number_text(value: float, form: NumberFormat = GENERAL, from_1904: bool = False) -> str:
    """Return a number in its format: "2019", "12.5%", "€ 1599.99", "2021-01-31 10:30", "26:30".

    More digits than the format shows are kept up to two decimals; thousands are not grouped, so that figures are found.

    Args:
        from_1904: days count from 1904-01-01, as old Mac workbooks do.
    """
    kind = form.kind
    if kind is Kind.GENERAL:
        return plain(value)
    if kind is Kind.PERCENT:
        return plain(_rounded(value * 100, form.decimals)) + "%"
    if kind is Kind.CURRENCY:
        size = abs(value)
        shown = f"{size:.{min(form.decimals, 6)}f}" if form.decimals else plain(_rounded(size, 0))
        return f"{'-' if value < 0 else ''}{form.symbol}{'' if len(form.symbol) == 1 else ' '}{shown}"
    if kind is Kind.DECIMAL:
        text = plain(_rounded(value, form.decimals))
        return text.zfill(form.width) if form.width and text.isdigit() else text
    if kind is Kind.DURATION:
        return duration_text(dt.timedelta(days=value)) if abs(value) < MAX_SERIAL else plain(value)
    return _serial_text(value, form, from_1904)


def plain(value: float) -> str:
    """Return a number without noise: 2019.0 is "2019", 0.1 + 0.2 is "0.3"."""
    if abs(value) <= MAX_EXACT and value == int(value):
        return str(int(value))
    return f"{value:.12g}"


def _rounded(value: float, decimals: int) -> float:
    """Round to what is shown, and to two decimals at least; a small number does not become nothing."""
    return round(value, max(decimals, 2)) or value


def _serial_text(serial: float, form: NumberFormat, from_1904: bool) -> str:
    days = serial + (DAYS_TO_1904 if from_1904 else 0)
    if not 0 <= days < MAX_SERIAL:
        return plain(serial)
    seconds = round(serial * 86_400 / form.to_s) * form.to_s
    if 0 <= serial < 1 and (form.kind is Kind.TIME or not from_1904):
        return time_text((dt.datetime.min + dt.timedelta(seconds=seconds)).time())
    if not from_1904 and serial < FEBRUARY_29_1900:
        days += 1
    moment = dt.datetime(1899, 12, 30) + dt.timedelta(days=int(days) - int(serial), seconds=seconds)
    if form.kind is Kind.MONTH and moment.day == 1:
        return f"{moment:%Y-%m}"
    return moment.date().isoformat() if form.kind in (Kind.DATE, Kind.MONTH) else moment_text(moment)


def moment_text(moment: dt.datetime) -> str:
    """Return "2021-01-31", with the time where there is one."""
    date = moment.date().isoformat()
    return f"{date} {time_text(moment.time())}" if moment.time() != dt.time() else date


def time_text(time: dt.time) -> str:
    """Return "09:30", or "09:30:15"."""
    return time.strftime("%H:%M:%S" if time.second else "%H:%M")


def duration_text(span: dt.timedelta) -> str:
    """Return hours and minutes, as many hours as there are: "26:30", "00:01:05"."""
    seconds = round(abs(span.total_seconds()))
    sign = "-" if span < dt.timedelta() else ""
    text = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}"
    return f"{text}:{seconds % 60:02}" if seconds % 60 else text


def iso_text(text: str) -> str:
    """Return a date, moment or duration that a file holds as ISO 8601; what is none stays as it is."""
    if found := ISO_DURATION.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:])
        total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        if total >= MAX_SERIAL * 86_400:
            return text
        span = dt.timedelta(seconds=total)
        return duration_text(-span if found[1] else span)
    try:
        return moment_text(dt.datetime.fromisoformat(text).replace(microsecond=0))
    except ValueError:
        return text


def value_text(value: object) -> str:
    """Return a cell's value that a library has already made a Python object; "" for none."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return plain(value)
    if isinstance(value, dt.datetime):
        return moment_text(value.replace(microsecond=0))
    if isinstance(value, dt.timedelta):
        return duration_text(value)
    if isinstance(value, dt.time):
        return time_text(value)
    return str(value) if value is not None else ""
