"""Report of the power failure of 17 October 2026; its times agree with the plant room log."""

from __future__ import annotations

from clinic.blocks import Block, Bullets, Heading, Table, Text

TITLE = "Incident report 2026-11"
SUBTITLE = "Loss of generator power in the night of 17 October 2026"

BLOCKS: tuple[Block, ...] = (
    Table(
        ("Item", "Entry"),
        (
            ("Date and place", "Saturday 17 October 2026, whole building"),
            ("Category", "B: service lost, nobody harmed"),
            ("Reported by", "Ruaridh Penhale, plant technician on call"),
            ("Doctor on call", "Dr Samuel Ilves"),
            ("Investigated by", "Nia Corrigan, health and safety"),
            ("Report closed", "4 November 2026"),
        ),
        (0.3, 0.7),
    ),
    Heading("1 Summary"),
    Text(
        "During a storm the public supply failed at 02:14. The generator took over as designed, but stopped "
        "55 minutes later because its fuel filter was blocked. The building was without power for 32 "
        "minutes, until the filter had been changed. Eleven patients were in the house. Nobody was harmed "
        "and no medicine was lost."
    ),
    Heading("2 Course of events"),
    Table(
        ("Time", "Event"),
        (
            ("02:14", "Public supply fails; the generator starts and takes the load"),
            ("03:02", "Controller shows E07; the horn is heard by the night nurse, who calls the technician"),
            ("03:09", "Controller shows E16 and stops the engine; the building is dark"),
            ("03:12", "Nurses move two patients from oxygen concentrators to cylinders"),
            ("03:26", "Technician arrives and finds water and sludge in the separator bowl"),
            ("03:41", "Filter changed, fuel line bled, generator carries the load again"),
            ("06:50", "Public supply returns"),
            ("07:00", "Building switched back to the public supply"),
        ),
        (0.14, 0.86),
    ),
    Heading("3 Effects"),
    Bullets(
        (
            "The vaccine fridge warmed up to 7.1 °C and stayed within its limits.",
            "The laboratory freezer rose from -24 to -21 °C.",
            "The telephone exchange was down for 38 minutes, because its own battery was flat.",
            "The lift stood between floors, empty.",
        )
    ),
    Heading("4 Causes"),
    Text(
        "The fuel delivered on 2 October contained water. The weekly draining of the separator had been "
        "left out on 5 and on 12 October: it was the task of Callum Strand, who was ill, and nobody had "
        "taken it over. No spare filter lay in the plant room; the one that was used came from the "
        "technician's own van."
    ),
    Heading("5 Measures"),
    Table(
        ("Measure", "Responsible", "By"),
        (
            (
                "Two spare fuel filters are kept in the plant room, cabinet P2",
                "Ruaridh Penhale",
                "30 October 2026",
            ),
            ("Draining of the separator is signed for in the log each week", "Ruaridh Penhale", "at once"),
            ("The tank is emptied and cleaned by a contractor", "Tobias Quill", "27 November 2026"),
            ("New battery for the telephone exchange", "Petra Halloran", "20 November 2026"),
            (
                "The supplier is asked for a fuel analysis with each delivery",
                "Tobias Quill",
                "15 November 2026",
            ),
        ),
        (0.52, 0.24, 0.24),
    ),
    Text("The cleaning of the tank is expected to cost £640. The fuel supplier has accepted half of it."),
)
