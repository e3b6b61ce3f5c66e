"""Write the example documents of Harbour Road Clinic: `python examples/make_examples.py [FOLDER]`.

The folder is examples/documents where none is given. Needs the extra `examples` (reportlab, python-docx).
The files are kept in the repository, so nobody who only uses them has to run this.
"""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from clinic import (
    handbook,
    incident,
    intranet,
    manual,
    notes,
    patient_guide,
    plant_log,
    price_list,
    rota,
    safety_sheet,
)
from manual_cover import draw_cover
from pdf_blocks import Look
from reportlab.lib.pagesizes import A5
from reportlab.lib.units import mm
from write_docx import write_docx
from write_pdf import write_leaflet, write_manual

CLINIC = "Harbour Road Clinic"
WRITTEN = "1767344400"  # 2 January 2026, 09:00 UTC
DOCUMENTS = Path(__file__).parent / "documents"


def _generator_manual(path: Path) -> None:
    header = f"{manual.MAKER} · {manual.TITLE} · {manual.SUBTITLE}"
    look = Look(
        title=f"{manual.TITLE}: {manual.SUBTITLE}",
        author=manual.MAKER,
        header=header,
        footer=manual.IMPRINT[0],
        accent="#1f3f66",
        size=9,
        paper=A5,
        margin=15 * mm,
    )
    write_manual(path, look, manual.CHAPTERS, draw_cover)


def _safety_sheet(path: Path) -> None:
    look = Look(safety_sheet.TITLE, CLINIC, CLINIC, safety_sheet.FOOTER, "#8a2b2b")
    write_leaflet(path, look, safety_sheet.SUBTITLE, safety_sheet.PAGES)


def _patient_guide(path: Path) -> None:
    look = Look(
        patient_guide.TITLE,
        CLINIC,
        CLINIC,
        patient_guide.FOOTER,
        "#20675a",
        language="es",
        page_word="Página",
    )
    write_leaflet(path, look, patient_guide.SUBTITLE, patient_guide.PAGES)


def _staff_handbook(path: Path) -> None:
    write_docx(path, handbook.TITLE, handbook.SUBTITLE, "Staff handbook, seventh edition", handbook.BLOCKS)


def _incident_report(path: Path) -> None:
    write_docx(path, incident.TITLE, incident.SUBTITLE, incident.TITLE, incident.BLOCKS)


def _text(content: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content.encode("utf-8"))  # bytes, so that no platform changes the line ends

    return write


def _csv(rows: Sequence[Sequence[str]]) -> Callable[[Path], None]:
    sheet = io.StringIO()
    csv.writer(sheet, lineterminator="\n").writerows(rows)
    return _text(sheet.getvalue())


WRITERS: dict[str, Callable[[Path], None]] = {
    "generator-manual.pdf": _generator_manual,
    "disinfectant-safety-sheet.pdf": _safety_sheet,
    "guia-del-paciente.pdf": _patient_guide,
    "staff-handbook.docx": _staff_handbook,
    "incident-report-2026-10-17.docx": _incident_report,
    "meeting-notes-2026-09-09.md": _text(notes.SEPTEMBER),
    "meeting-notes-2026-11-11.md": _text(notes.NOVEMBER),
    "intranet-vaccine-fridge.html": _text(intranet.PAGE),
    "plant-room-log.txt": _text(plant_log.text()),
    "price-list-2026.csv": _csv(price_list.rows()),
    "on-call-rota-2026-q4.csv": _csv(rota.rows()),
}


def main(arguments: Sequence[str]) -> None:
    """Write every document and name it."""
    os.environ["SOURCE_DATE_EPOCH"] = WRITTEN  # the only way to tell reportlab; its own fixed date is in 2000
    folder = Path(arguments[0]) if arguments else DOCUMENTS
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in WRITERS.items():
        write(folder / name)
        print(f"{(folder / name).stat().st_size:>8} bytes  {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
