"""On-call rota of the fourth quarter of 2026; weeks run from Monday 08:00 to Monday 08:00."""

from __future__ import annotations

from datetime import date, timedelta

HEADER = ("week_from", "week_to", "doctor", "nurse", "technician", "remark")
FIRST_MONDAY = date(2026, 10, 5)

WEEKS = (
    (
        "Dr Yusuf Tarrant",
        "Agnes Molloy",
        "Callum Strand",
        "Callum Strand ill from 5 October; Ruaridh Penhale stands in",
    ),
    ("Dr Samuel Ilves", "Ingrid Falkner", "Ruaridh Penhale", ""),
    ("Dr Maren Osei-Lund", "Joran Beck", "Ruaridh Penhale", "clocks go back on 25 October"),
    ("Dr Hanne Westby", "Agnes Molloy", "Callum Strand", ""),
    ("Dr Yusuf Tarrant", "Lucia Pardew", "Callum Strand", ""),
    ("Dr Samuel Ilves", "Joran Beck", "Ruaridh Penhale", ""),
    ("Dr Hanne Westby", "Ingrid Falkner", "Callum Strand", "swapped with Dr Osei-Lund"),
    ("Dr Yusuf Tarrant", "Lucia Pardew", "Ruaridh Penhale", "tank cleaning on 25 November"),
    ("Dr Maren Osei-Lund", "Agnes Molloy", "Callum Strand", ""),
    ("Dr Samuel Ilves", "Joran Beck", "Ruaridh Penhale", ""),
    ("Dr Yusuf Tarrant", "Ingrid Falkner", "Callum Strand", ""),
    ("Dr Maren Osei-Lund", "Lucia Pardew", "Ruaridh Penhale", "Christmas week"),
    ("Dr Hanne Westby", "Joran Beck", "Callum Strand", "New Year's week"),
)


def rows() -> list[list[str]]:
    """Return the rota's rows, the header first."""
    table = [list(HEADER)]
    for n, week in enumerate(WEEKS):
        monday = FIRST_MONDAY + timedelta(weeks=n)
        table.append([monday.isoformat(), (monday + timedelta(days=6)).isoformat(), *week])
    return table
