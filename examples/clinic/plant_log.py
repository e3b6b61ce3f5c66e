"""The plant room log of autumn 2026: a check each working day, and what happened in between.

Fuel and engine hours are reckoned from the manual's figures, so that the lines agree with each other
and with the incident report.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

TANK_LITRES = 240
LITRES_A_TEST = 2.2
HOURS_A_TEST = 0.33
FIRST, LAST = date(2026, 9, 1), date(2026, 11, 27)
NEW_TEST_DAY = date(2026, 11, 18)  # Wednesday 06:30 from here on: notes of 11 November
NOT_DRAINED = (date(2026, 10, 5), date(2026, 10, 12))
CALLUM_ILL = (date(2026, 10, 5), date(2026, 10, 23))

HEADING = """\
HARBOUR ROAD CLINIC - PLANT ROOM LOG - 1 September to 27 November 2026
Columns: date, time, entry, initials. RP = Ruaridh Penhale, CS = Callum Strand.
CHECK: oil and coolant level seen, batteries in volts, fuel in per cent of the tank.
TEST:  weekly run of 20 minutes under load; engine hours after the run, oil pressure, coolant temperature.
DRAIN: water separator drained.
"""

# (when, litres added or burnt, engine hours, text); the night of 17 October is told as the report tells it.
EVENTS: tuple[tuple[str, float, float, str], ...] = (
    ("2026-09-03 10:20", 0, 0, "WORK   Carbon monoxide alarm tested with test gas, sounds at 35 ppm. RP"),
    ("2026-09-11 14:05", 0, 0, "WORK   Notice about the test run hung in the lift. RP"),
    ("2026-09-22 09:40", 0, 0, "WORK   Fan belt tightened, gave 14 mm, now 10 mm. CS"),
    ("2026-10-02 11:15", 150, 0, "FUEL   150 litres delivered by Dunmarrow Fuels, delivery note DF-7719. CS"),
    ("2026-10-17 02:14", 0, 0, "EVENT  Mains failure, storm. Engine started, load taken after 11 s."),
    ("2026-10-17 03:02", 0, 0, "ALARM  E07 fuel filter blocked. Night nurse rang."),
    ("2026-10-17 03:09", -7, 0.92, "ALARM  E16 fuel pressure low. Engine stopped. Building dark."),
    (
        "2026-10-17 03:26",
        0,
        0,
        "WORK   On site. Water and sludge in separator bowl, about 0.4 litres drained. RP",
    ),
    ("2026-10-17 03:41", 0, 0, "EVENT  Filter changed, line bled, engine running, load taken. RP"),
    ("2026-10-17 06:50", 0, 0, "EVENT  Mains back. RP"),
    ("2026-10-17 07:00", 0, 0, "EVENT  Switched back to mains. RP"),
    ("2026-10-17 07:04", -24, 3.38, "EVENT  Engine stopped after cool-down. RP"),
    ("2026-10-18 16:30", 0, 0, "DRAIN  Extra drain after the incident, 0.1 litres of water. RP"),
    ("2026-10-20 08:30", 0, 0, "DRAIN  Extra drain, clean. RP"),
    ("2026-10-29 13:10", 0, 0, "WORK   Two spare fuel filters put into cabinet P2. RP"),
    (
        "2026-11-06 10:50",
        36,
        0,
        "FUEL   36 litres delivered by Dunmarrow Fuels, note DF-7802, analysis enclosed. RP",
    ),
    ("2026-11-07 09:15", 0, 0, "DRAIN  Drain after delivery, clean. CS"),
    ("2026-11-13 15:45", 0, 0, "WORK   Bearing of the yard door louvre greased. CS"),
    ("2026-11-16 09:00", 0, 0, "WORK   Lift notice changed to Wednesday 06:30. RP"),
    ("2026-11-24 15:20", 0, 0, "WORK   Hired set of 30 kVA connected in the yard and run for 15 minutes. RP"),
    (
        "2026-11-25 09:20",
        -220.4,
        0,
        "WORK   Tank pumped out by Dunmarrow Fuels, 220 litres, then washed and dried. RP",
    ),
    ("2026-11-25 15:35", 220, 0, "FUEL   220 litres delivered by Dunmarrow Fuels, delivery note DF-7866. RP"),
    ("2026-11-26 09:00", 0, 0, "DRAIN  Drain after delivery, clean. RP"),
)


def text() -> str:
    """Return the log, oldest entry first."""
    litres, hours = 94.0, 412.6
    lines = []
    for when, added, run, entry in sorted(_entries(), key=lambda entry: entry[0]):
        litres, hours = litres + added, hours + run
        filled = entry.format(fuel=round(100 * litres / TANK_LITRES), hours=hours)
        lines.append(f"{when:%Y-%m-%d %H:%M}  {filled}")
    return HEADING + "\n" + "\n".join(lines) + "\n"


def _entries() -> list[tuple[datetime, float, float, str]]:
    entries = [(datetime.fromisoformat(when), added, run, entry) for when, added, run, entry in EVENTS]
    for n in range((LAST - FIRST).days + 1):
        day = FIRST + timedelta(days=n)
        if day.weekday() < 5:
            entries += _routine(day, n)
    return entries


def _routine(day: date, n: int) -> list[tuple[datetime, float, float, str]]:
    who = "RP" if n % 3 or CALLUM_ILL[0] <= day <= CALLUM_ILL[1] else "CS"
    midnight = datetime(day.year, day.month, day.day)
    volts = 27.1 + (n * 7 % 4) / 10
    check = f"CHECK  levels good, batteries {volts:.1f} V, fuel {{fuel}} %. {who}"
    entries = [(midnight.replace(hour=8, minute=n * 11 % 20), 0.0, 0.0, check)]
    moved = day >= NEW_TEST_DAY
    if day.weekday() != (2 if moved else 0):
        return entries
    start = midnight.replace(hour=6, minute=30) if moved else midnight.replace(hour=7)
    bar, celsius = 3.9 + (n * 5 % 4) / 10, 83 + n * 3 % 5
    test = f"TEST   {{hours:.1f}} h, oil {bar:.1f} bar, coolant {celsius} °C, no faults. {who}"
    entries.append((start, -LITRES_A_TEST, HOURS_A_TEST, test))
    if day not in NOT_DRAINED:
        who = "CS" if day < CALLUM_ILL[0] else who  # his task until he fell ill: incident report, chapter 4
        entries.append((start + timedelta(minutes=25), 0.0, 0.0, f"DRAIN  clean. {who}"))
    return entries
