"""Invitations in mail (iCalendar): what, when, where and who, as text. Repetition rules and time zones stay as written.

Source: RFC 5545.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.formats.tidy import lines_kept, one_line

LABELS = {
    "SUMMARY": "Event", "DTSTART": "Start", "DTEND": "End", "LOCATION": "Place", "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendees", "DESCRIPTION": "Description",
}  # fmt: skip
MAX_EVENTS = 1_000
FOLD = re.compile(r"\r?\n[ \t]")
LINE = re.compile(r"([A-Za-z-]+)((?:;[^:;=]+=(?:\"[^\"]*\"|[^:;\"]*))*):(.*)")
STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?\Z")
NAME = re.compile(r";CN=(\"[^\"]*\"|[^;]*)", re.IGNORECASE)
ZONE = re.compile(r";TZID=\"?([^;\"]*)", re.IGNORECASE)
ESCAPE = re.compile(r"\\([nN,;\\])")


def events(text: str) -> list[str]:
    """Return each event of a calendar as lines: "Event: …", "Start: …", and so on."""
    found: list[str] = []
    values: dict[str, list[str]] = {}
    for name, options, value in _lines(text):
        if name == "BEGIN" and value.upper() in ("VEVENT", "VTODO"):
            values = {}
        elif name == "END" and value.upper() in ("VEVENT", "VTODO") and len(found) < MAX_EVENTS:
            found.append(_shown(values))
        elif name in LABELS and one_line(value):
            values.setdefault(name, []).append(_value(name, options, value))
    return [event for event in found if event]


def _lines(text: str) -> Iterator[tuple[str, str, str]]:
    for line in FOLD.sub("", text).splitlines():
        if match := LINE.match(line):
            yield match[1].upper(), match[2], match[3].strip()


def _value(name: str, options: str, value: str) -> str:
    if name in ("DTSTART", "DTEND"):
        return _time(value, options)
    if name in ("ORGANIZER", "ATTENDEE"):
        person = NAME.search(options)
        address = re.sub(r"(?i)^mailto:", "", value)
        called = person[1].strip('"') if person else ""
        return f"{called} <{address}>" if called and called != address else address
    return ESCAPE.sub(lambda escaped: "\n" if escaped[1] in "nN" else escaped[1], value)


def _time(value: str, options: str) -> str:
    stamp = STAMP.match(value)
    if not stamp:
        return value
    year, month, day, hour, minute, utc = stamp.groups()
    zone = ZONE.search(options)
    clock = f" {hour}:{minute}" + (" UTC" if utc else f" ({zone[1]})" if zone else "") if hour else ""
    return f"{year}-{month}-{day}{clock}"


def _shown(values: dict[str, list[str]]) -> str:
    lines = [f"{label}: {', '.join(values[name][:200])}" for name, label in LABELS.items() if name in values]
    return lines_kept("\n".join(lines))
