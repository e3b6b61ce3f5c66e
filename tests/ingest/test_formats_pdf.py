"""PDFs: rows, columns, paragraphs, headings, pages, hidden text, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ingest.formats import pdf as reader
from ingest.formats import pdf_attachments, pdf_scan
from ingest.formats.pdf_rows import Word, lines
from ingest.formats.reading import Reading, RefusedError
from ingest.limits import ParseLimits
from ingest.unit import Outcome
from tests.ingest.made_files import lines_at, pdf, text_at

PROSE = [
    "The pump must be checked every",
    "morning before the first shift and",
    "again when the last shift ends.",
]


FULL = "q 595 0 0 842 0 0 cm /Im Do Q"  # the image Im on all of the page
WIDGET = "/Type /Annot /Subtype /Widget /Rect [10 10 90 20]"


def with_image(content: str, side: int = 1) -> bytes:
    """Return a PDF of one page, which may draw the grey square Im."""
    image = f"<< /Type /XObject /Subtype /Image /Width {side} /Height {side} /ColorSpace /DeviceGray"
    stream = f"{image} /BitsPerComponent 8 /Length 1 >>\nstream\n0\nendstream"
    return pdf(content, resources="/XObject << /Im 8 0 R >>", extra=[stream])


def with_annotations(*annotations: str, extra: Sequence[str] = ()) -> bytes:
    """Return a PDF of one page of prose with annotations, which are its form's fields too."""
    listed = "[" + " ".join(f"{8 + i} 0 R" for i in range(len(annotations))) + "]"
    return pdf(
        lines_at(72, 700, PROSE),
        catalog=f"/AcroForm << /Fields {listed} >>",
        page=f"/Annots {listed}",
        extra=[*annotations, *extra],
    )


def read(*pages: str, **options: str) -> Reading:
    return reader.read(pdf(*pages, **options), ParseLimits())


def texts(*pages: str) -> list[str]:
    return [unit.text for unit in read(*pages).units]


def test_lines_become_a_paragraph_with_its_page() -> None:
    reading = read(lines_at(72, 700, PROSE), lines_at(72, 700, ["A second page."]), title="Pump manual")
    assert [(unit.text, unit.locator.page) for unit in reading.units] == [
        (" ".join(PROSE), 1),
        ("A second page.", 2),
    ]
    assert (reading.title, reading.n_pages) == ("Pump manual", 2)


def test_a_gap_between_lines_parts_paragraphs() -> None:
    assert texts(lines_at(72, 700, PROSE) + lines_at(72, 640, PROSE)) == [" ".join(PROSE)] * 2


def test_table_rows_are_kept_though_drawn_column_by_column() -> None:
    columns = [["Part", "Bolt", "Nut"], ["Size", "M6", "M8"], ["Price", "0.10", "0.20"]]
    found = read("\n".join(lines_at(72 + 150 * i, 700, column) for i, column in enumerate(columns))).units
    assert [(unit.kind.value, unit.text, unit.header) for unit in found] == [
        ("table_row", "Bolt | M6 | 0.10", "Part | Size | Price"),
        ("table_row", "Nut | M8 | 0.20", "Part | Size | Price"),
    ]


def test_columns_of_prose_are_read_one_after_the_other() -> None:
    left = [f"left column line {i} has several words" for i in range(12)]
    right = [f"right column line {i} has several words" for i in range(12)]
    text = " ".join(texts(lines_at(60, 700, left, 10) + "\n" + lines_at(320, 700, right, 10)))
    assert text.index("left column line 11") < text.index("right column line 0")


def test_a_table_with_wordy_cells_is_not_taken_for_columns() -> None:
    codes = [f"E{i:02d}" for i in range(12)]
    causes = [f"something is wrong with part number {i}" for i in range(12)]
    remedies = [f"ask the technician for spare part {i}" for i in range(12)]
    columns = [(60, codes), (120, causes), (360, remedies)]
    found = texts("\n".join(lines_at(x, 700, column, 9, 18) for x, column in columns))
    assert found[3] == "E03 | something is wrong with part number 3 | ask the technician for spare part 3"


def test_a_cell_that_wraps_is_put_back_together() -> None:
    page = "\n".join(
        [
            lines_at(72, 700, ["Case", "Splash", "Burn"], step=36),
            lines_at(200, 700, ["Do", "", "", "Cool it"], step=24),
            lines_at(200, 664, ["Rinse for a quarter of an hour,", "then see a doctor"], step=12),
        ]
    )
    found = read(page).units
    assert [(unit.text, unit.header) for unit in found] == [
        ("Splash | Rinse for a quarter of an hour, then see a doctor", "Case | Do"),
        ("Burn | Cool it", "Case | Do"),
    ]


def test_numbers_at_the_edge_of_pages_are_data_unless_they_are_the_pages_own() -> None:
    pages = [
        lines_at(72, 600, [f"Meter {i} read {100 + i}", "Some words here."]) + text_at(300, 30, f"Page {i}")
        for i in (1, 2, 3)
    ]
    found = " ".join(texts(*pages))
    assert all(f"read {100 + i}" in found for i in (1, 2, 3))
    assert "Page 1" in found
    assert "Page 2" not in found


def test_larger_lines_are_headings_and_make_the_path() -> None:
    page = (
        text_at(72, 760, "Maintenance", 22) + text_at(72, 720, "Daily checks", 16) + lines_at(72, 690, PROSE)
    )
    found = read(page).units
    assert [unit.kind.value for unit in found] == ["heading", "heading", "paragraph"]
    assert found[2].locator.heading == ("Maintenance", "Daily checks")


def test_a_bold_numbered_line_in_body_size_is_a_heading() -> None:
    page = text_at(72, 730, "2. Cleaning", 11, "F2") + lines_at(72, 700, PROSE)
    assert read(page).units[1].locator.heading == ("2. Cleaning",)


def test_the_outline_says_what_headings_are() -> None:
    outline = "<< /Type /Outlines /First 9 0 R /Last 9 0 R /Count 1 >>"
    item = "<< /Title (Cleaning) /Parent 8 0 R /Dest [6 0 R /Fit] >>"
    page = text_at(72, 760, "BIG STAMP", 30) + text_at(72, 730, "2 Cleaning") + lines_at(72, 690, PROSE)
    data = pdf(page, catalog="/Outlines 8 0 R", extra=[outline, item])
    found = reader.read(data, ParseLimits()).units
    assert [(unit.kind.value, unit.text) for unit in found[:2]] == [
        ("paragraph", "BIG STAMP"),
        ("heading", "2 Cleaning"),
    ]


def test_printed_page_labels_are_kept_beside_the_physical_page() -> None:
    labels = "/PageLabels << /Nums [0 << /S /r >> 2 << /S /D >>] >>"
    found = read(*[lines_at(72, 700, ["Some words here."])] * 3, catalog=labels).units
    assert [str(unit.locator) for unit in found] == ["page i", "page ii", "page 1"]
    assert [unit.locator.page for unit in found] == [1, 2, 3]


def test_running_heads_come_once() -> None:
    pages = [
        text_at(72, 800, "Staff manual 2026", 9)
        + lines_at(72, 600, [f"Text of page {word}."])
        + text_at(300, 30, f"{i}", 9)
        for i, word in enumerate(["one", "two", "three", "four"], 1)
    ]
    found = texts(*pages)
    assert found.count("Staff manual 2026") == 1
    assert [text for text in found if text.startswith("Text of")] == [
        f"Text of page {w}." for w in ("one", "two", "three", "four")
    ]


def test_text_written_sideways_is_read_apart_and_upright() -> None:
    stamp = "BT /F1 12 Tf 0 1 -1 0 40 300 Tm (received stamp 2026) Tj ET"
    assert texts(lines_at(72, 700, PROSE) + stamp) == [" ".join(PROSE), "received stamp 2026"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("1 1 1 rg " + text_at(72, 500, "white words") + " 0 g", "white words"),
        ("3 Tr " + text_at(72, 500, "invisible words") + " 0 Tr", "invisible words"),
        (text_at(72, 500, "tiny words", 1), "tiny words"),
        (text_at(900, 500, "words beside the page"), "words beside the page"),
    ],
)
def test_hidden_text_is_kept_and_flagged(content: str, text: str) -> None:
    found = read(lines_at(72, 700, PROSE) + "\n" + content).units
    assert {unit.text: unit.flags for unit in found} == {
        " ".join(PROSE): frozenset(),
        text: frozenset({"hidden"}),
    }


def test_white_text_on_a_dark_bar_is_not_hidden() -> None:
    bar = "0 0 0.5 rg 60 490 300 30 re f 1 1 1 rg " + text_at(72, 500, "Table head") + " 0 g"
    assert not any(unit.flags for unit in read(lines_at(72, 700, PROSE) + "\n" + bar).units)


def test_a_page_without_text_is_listed_as_a_scan_unless_it_is_empty() -> None:
    reading = read(lines_at(72, 700, PROSE), "100 100 200 200 re f", "")
    assert [unit.locator.page for unit in reading.units] == [1]
    assert (list(reading.scans), reading.n_pages) == ([2], 3)


def test_text_that_is_no_text_makes_its_page_a_scan() -> None:
    reading = read(lines_at(72, 700, ['"7+%-#!$ &/(=? *~+^ {}[]<>', "%&/()=?#'*+~ -.;:_!"]))
    assert (reading.units, list(reading.scans)) == ([], [1])


def test_a_stamp_on_a_picture_of_the_whole_page_leaves_the_page_a_scan() -> None:
    stamp = text_at(72, 30, "Received 3 May 2026")
    reading = reader.read(with_image(f"{FULL} {stamp}"), ParseLimits())
    assert [unit.text for unit in reading.units] == ["Received 3 May 2026"]
    assert list(reading.scans) == [1]


def test_invisible_text_over_a_picture_is_the_text_of_a_scan() -> None:
    layer = lines_at(72, 700, PROSE * 3)
    reading = reader.read(with_image(f"{FULL} 3 Tr {layer} 0 Tr"), ParseLimits())
    assert not any(unit.flags for unit in reading.units)
    assert list(reading.scans) == []


def test_a_number_beside_the_page_does_not_hide_the_line_level_with_it() -> None:
    found = read(lines_at(72, 700, PROSE) + "\n" + text_at(-40, 700, "17")).units
    assert [(unit.text, bool(unit.flags)) for unit in found] == [(" ".join(PROSE), False), ("17", True)]


def test_all_text_in_white_is_not_hidden() -> None:
    assert not any(unit.flags for unit in read("1 1 1 rg " + lines_at(72, 700, PROSE)).units)


def test_filled_fields_are_units_of_their_page() -> None:
    fields = [
        "<< /FT /Tx /T (p1.name_1[0]) /TU (Your name) /V (Ada Example) {} >>",
        "<< /FT /Tx /T (empty) {} >>",
        "<< /FT /Btn /T (agree) /V /Yes /AS /Yes /AP << /N << /Yes 2 0 R /Off 2 0 R >> >> {} >>",
        "<< /FT /Tx /Ff 8192 /T (secret) /V (hunter2) {} >>",
    ]
    reading = reader.read(with_annotations(*(field.replace("{}", WIDGET) for field in fields)), ParseLimits())
    assert [(unit.text, unit.locator.page) for unit in reading.units[1:]] == [
        ("Your name: Ada Example", 1),
        ("agree: ticked", 1),
    ]


def test_notes_and_text_boxes_are_read_and_hidden_ones_flagged() -> None:
    notes = [
        "<< /Subtype /Text /T (Bo) /Contents (Ask the supplier) {} >>",
        "<< /Subtype /FreeText /Contents (Written on the page) {} >>",
        "<< /Subtype /Text /F 2 /Contents (Nobody sees this) {} >>",
    ]
    data = with_annotations(*(note.replace("{}", "/Type /Annot /Rect [10 10 20 20]") for note in notes))
    found = reader.read(data, ParseLimits()).units[1:]
    assert [(unit.text, sorted(unit.flags)) for unit in found] == [
        ("Note by Bo: Ask the supplier", []),
        ("Written on the page", []),
        ("Note: Nobody sees this", ["hidden"]),
    ]


def test_a_form_for_adobe_reader_alone_says_so() -> None:
    text = "Please wait... If this message is not replaced, your viewer is not Adobe Reader 8 or later."
    data = pdf(lines_at(72, 700, [text]), catalog="/AcroForm << /XFA 8 0 R /Fields [] >>", extra=["[]"])
    with pytest.raises(RefusedError, match="only Adobe Reader shows") as refusal:
        reader.read(data, ParseLimits())
    assert refusal.value.outcome is Outcome.UNSUPPORTED


def test_attachments_are_listed_and_taken_out() -> None:
    names = "/Names << /EmbeddedFiles << /Names [(a) 8 0 R] >> >>"
    spec = "<< /Type /Filespec /F (x\\\\prices.txt) /UF (x\\\\prices.txt) /EF << /F 9 0 R >> >>"
    content = "<< /Type /EmbeddedFile /Length 10 /Params << /Size 10 >> >>\nstream\nbolts 0.10\nendstream"
    data = pdf(lines_at(72, 700, PROSE), catalog=names, extra=[spec, content])
    parts = reader.read(data, ParseLimits()).parts
    assert [part.name for part in parts] == [("prices.txt",)]
    assert pdf_attachments.extract(data, parts[0].key, ParseLimits()) == b"bolts 0.10"


def test_a_file_pinned_to_a_page_is_listed_and_taken_out() -> None:
    pin = "<< /Type /Annot /Subtype /FileAttachment /Rect [0 0 9 9] /FS 9 0 R >>"
    spec = "<< /Type /Filespec /F (plan.txt) /UF (plan.txt) /EF << /F 10 0 R >> >>"
    content = "<< /Type /EmbeddedFile /Length 4 /Params << /Size 4 >> >>\nstream\nplan\nendstream"
    data = with_annotations(pin, extra=[spec, content])
    parts = reader.read(data, ParseLimits()).parts
    assert [part.name for part in parts] == [("plan.txt",)]
    assert pdf_attachments.extract(data, parts[0].key, ParseLimits()) == b"plan"


def test_an_attachment_that_is_not_there_is_refused() -> None:
    with pytest.raises(RefusedError, match="missing"):
        pdf_attachments.extract(pdf(""), "7", ParseLimits())


def test_a_file_cut_off_is_rescued_with_a_note() -> None:
    pytest.importorskip("pdf_oxide")
    data = pdf(*[lines_at(72, 700, PROSE)] * 3)
    reading = reader.rescue(data[: data.index(b"xref\n")], ParseLimits())
    assert [unit.text for unit in reading.units] == [" ".join(PROSE)] * 3
    assert reading.notes == (reader.RESCUED,)


def test_nothing_to_rescue_is_damaged() -> None:
    for data in (b"%PDF-1.7\nnothing", pdf(lines_at(72, 700, PROSE))[:120]):
        with pytest.raises(RefusedError, match="cut off or broken") as refusal:
            reader.rescue(data, ParseLimits())
        assert refusal.value.outcome is Outcome.DAMAGED


def test_an_image_of_too_many_pixels_is_not_drawn() -> None:
    data = with_image(FULL, side=60_000)
    assert list(reader.read(data, ParseLimits()).scans) == [1]
    with pytest.raises(RefusedError, match="3600 million pixels"):
        pdf_scan.read_page(data, 1, ParseLimits())


def test_a_file_cut_off_is_damaged() -> None:
    with pytest.raises(RefusedError, match="cut off or broken") as refusal:
        reader.read(pdf(lines_at(72, 700, PROSE))[:120], ParseLimits())
    assert refusal.value.outcome is Outcome.DAMAGED


def test_a_page_limit_is_named_with_its_numbers() -> None:
    data = pdf("", "", "")
    with pytest.raises(RefusedError, match="3 pages, more than the limit of 2") as refusal:
        reader.read(data, ParseLimits(max_pages=2))
    assert refusal.value.outcome is Outcome.TOO_LARGE


def test_a_pdf_behind_other_bytes_is_read() -> None:
    data = b"mail header\r\n" * 200 + pdf(lines_at(72, 700, PROSE))
    assert reader.read(data, ParseLimits()).units[0].text == " ".join(PROSE)


def test_cells_are_parted_by_gaps_wider_than_the_line_is_high() -> None:
    words = [Word("Part", 0, 0, 20, 10), Word("no.", 23, 0, 35, 10), Word("Price", 60, 1, 80, 11)]
    assert [line.cells for line in lines(words)] == [("Part no.", "Price")]


def test_a_raised_mark_stays_in_its_line() -> None:
    words = [
        Word("area", 0, 10, 20, 20),
        Word("m", 23, 10, 30, 20),
        Word("2", 30, 8, 34, 14),
        Word("next", 0, 24, 20, 34),
    ]
    assert [line.text for line in lines(words)] == ["area m 2", "next"]
