"""Spreadsheets: rows that read alone, with the cells they stand in, and bounds that no file gets past."""

from __future__ import annotations

import datetime as dt
import io
import struct
import zipfile
from collections.abc import Callable, Sequence

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.worksheet.worksheet import Worksheet

from ingest.formats import ods, xls, xlsb, xlsx
from ingest.formats.biff import Biff
from ingest.formats.reading import Reading, RefusedError
from ingest.formats.sheet_numbers import GENERAL, Kind, iso_text, number_format, number_text
from ingest.limits import ParseLimits
from ingest.readers import READERS
from ingest.sniff import sniff
from ingest.unit import HIDDEN, Outcome, UnitKind
from tests.ingest.made_files import zip_of
from tests.ingest.made_ole import ole

LIMITS = ParseLimits()
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


Fill = Callable[[Worksheet], object] | Sequence[Sequence[object]]


def workbook(*fills: Fill) -> bytes:
    """Return a workbook of a sheet ("S1", "S2", …) for each: its rows, or a function that fills it."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for number, fill in enumerate(fills, 1):
        sheet = book.create_sheet(f"S{number}")
        if callable(fill):
            fill(sheet)
        else:
            for row in fill:
                sheet.append(list(row))
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def bare(sheet: str, space: str = MAIN, strings: str = "", **parts: str) -> bytes:
    """Return a workbook of one sheet, "Data", from the XML inside its root."""
    relations = {"rId1": ("worksheet", "worksheets/sheet1.xml"), "rId2": ("sharedStrings", "strings.xml")}
    return zip_of(
        {
            "_rels/.rels": rels({"rId1": ("officeDocument", "xl/workbook.xml")}),
            "xl/workbook.xml": f'<workbook xmlns="{space}" xmlns:r="{RELATION}"><sheets>'
            '<sheet name="Data" sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": rels(relations),
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{space}">{sheet}</worksheet>',
            "xl/strings.xml": f'<sst xmlns="{space}">{strings}</sst>',
            **parts,
        }
    )


def rels(relations: dict[str, tuple[str, str]]) -> str:
    inner = "".join(
        f'<Relationship Id="{key}" Type="{RELATION}/{kind}" Target="{target}"/>'
        for key, (kind, target) in relations.items()
    )
    return f'<Relationships xmlns="{PACKAGE}">{inner}</Relationships>'


def spreadsheet(body: str, styles: str = "", **parts: str) -> bytes:
    """Return an OpenDocument spreadsheet from what stands inside office:spreadsheet."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
        for name, space in [
            ("office", "office"),
            ("table", "table"),
            ("text", "text"),
            ("style", "style"),
            ("draw", "drawing"),
        ]
    )
    content = (
        f'<office:document-content {spaces} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:automatic-styles>'
        f"{styles}</office:automatic-styles><office:body><office:spreadsheet>{body}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    return zip_of(
        {"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content, **parts}
    )


def said(found: Reading) -> list[tuple[str, str]]:
    return [(str(unit.locator), unit.text) for unit in found.units]


def test_rows_name_their_columns_and_know_their_cells() -> None:
    found = xlsx.read(workbook([["Item", "Price", "Unit"], ["Nut", 1.5, "kg"], ["Bolt", 2, None]]), LIMITS)
    assert said(found) == [
        ("S1!A1:C1", "Item | Price | Unit"),
        ("S1!A2:C2", "Item: Nut; Price: 1.5; Unit: kg"),
        ("S1!A3:B3", "Item: Bolt; Price: 2"),
    ]
    assert {unit.kind for unit in found.units} == {UnitKind.TABLE_ROW}


def test_a_title_above_a_table_is_its_heading_and_a_blank_row_ends_it() -> None:
    rows: Fill = [["Stock"], ["Item", "Price", "Unit"], ["Nut", 1, "kg"], [], ["Checked by Ann"]]
    found = xlsx.read(workbook(rows), LIMITS)
    assert said(found) == [
        ("S1!A1", "Stock"),
        ("S1!A2:C2, Stock", "Item | Price | Unit"),
        ("S1!A3:C3, Stock", "Item: Nut; Price: 1; Unit: kg"),
        ("S1!A5", "Checked by Ann"),
    ]
    assert [unit.kind for unit in found.units][::3] == [UnitKind.HEADING, UnitKind.PARAGRAPH]


def test_a_header_with_an_empty_row_below_it_names_its_table() -> None:
    found = xlsx.read(workbook([["Item", "Price"], [], ["Nut", 1], ["Bolt", 2]]), LIMITS)
    assert [unit.text for unit in found.units] == [
        "Item | Price",
        "Item: Nut; Price: 1",
        "Item: Bolt; Price: 2",
    ]


def test_a_spacer_row_does_not_take_the_names_away() -> None:
    rows: Fill = [["Item", "Price", "Unit"], ["Nut", 1, "kg"], [], ["Bolt", 2, "kg"]]
    assert xlsx.read(workbook(rows), LIMITS).units[-1].text == "Item: Bolt; Price: 2; Unit: kg"


def test_two_columns_of_words_are_a_form_and_have_no_header() -> None:
    found = xlsx.read(workbook([["Name", "Alice"], ["Town", "Utrecht"], ["Born", 1980]]), LIMITS)
    assert [unit.text for unit in found.units] == ["Name | Alice", "Town | Utrecht", "Born | 1980"]


def test_years_and_quarters_name_columns() -> None:
    rows = [["Region", 2024, 2025, "Q1"], ["North", 10, 12, 3], ["South", 7, 9, 2]]
    assert xlsx.read(workbook(rows), LIMITS).units[1].text == "Region: North; 2024: 10; 2025: 12; Q1: 3"


def test_merged_cells_read_in_each_row_and_group_the_columns_below() -> None:
    def fill(sheet: Worksheet) -> None:
        rows = [
            [None, None, "Plan", None, "Real", None],
            ["Site", "Shop", "2024", "2025", "2024", "2025"],
            ["North", "A", 1, 2, 3, 4],
            [None, "B", 5, 6, 7, 8],
        ]
        for row in rows:
            sheet.append(row)
        for cells in ("C1:D1", "E1:F1", "A3:A4"):
            sheet.merge_cells(cells)

    found = xlsx.read(workbook(fill), LIMITS)
    assert [unit.text for unit in found.units[2:]] == [
        "Site: North; Shop: A; Plan 2024: 1; Plan 2025: 2; Real 2024: 3; Real 2025: 4",
        "Site: North; Shop: B; Plan 2024: 5; Plan 2025: 6; Real 2024: 7; Real 2025: 8",
    ]


def test_hidden_sheets_rows_and_columns_are_read_marked_and_told() -> None:
    def secret(sheet: Worksheet) -> None:
        sheet.append(["Name", "Wage", "Desk"])
        sheet.append(["Ann", 3000, 7])
        sheet.append(["Bob", 3100, 8])
        sheet.row_dimensions[3].hidden = True
        sheet.column_dimensions["B"].hidden = True

    def hide(sheet: Worksheet) -> None:
        sheet.append(["Plan B"])
        sheet.sheet_state = "veryHidden"

    found = xlsx.read(workbook(secret, hide), LIMITS)
    assert [(unit.text, HIDDEN in unit.flags) for unit in found.units] == [
        ("Name | Desk", False),
        ("Name: Ann; Desk: 7", False),
        ("Wage", True),
        ("Wage: 3000", True),
        ("Name: Bob; Wage: 3100; Desk: 8", True),
        ("Plan B", True),
    ]
    assert list(found.notes) == ["sheet S1 has hidden rows or columns", "sheet S2 is hidden"]


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (2019.0, "General", "2019"),
        (0.1 + 0.2, "General", "0.3"),
        (123456789012345, "General", "123456789012345"),
        (0.25, "0%", "25%"),
        (0.1234, "0.0%", "12.34%"),
        (1599.99, "#,##0.00", "1599.99"),
        (0.001, "0.00", "0.001"),
        (12.5, '"$"#,##0.00', "$12.50"),
        (-12.5, "[$€-407] #,##0.00;[Red]-[$€-407] #,##0.00", "-€12.50"),
        (12.5, "#,##0.00 [$CHF]", "CHF 12.50"),
        (42, "00000", "00042"),
        (44197, "dd/mm/yyyy", "2021-01-01"),
        (44197, "[$-409]mmm-yy", "2021-01"),
        (44197.4375, "yyyy-mm-dd hh:mm", "2021-01-01 10:30"),
        (44197.0, 'd. mmmm yyyy "h"', "2021-01-01"),
        (0.4375, "h:mm AM/PM", "10:30"),
        (0.4375 + 15 / 86400, "hh:mm:ss", "10:30:15"),
        (1.25, "[h]:mm", "30:00"),
        (-5, "dd/mm/yyyy", "-5"),
        (1e300, "[h]:mm", "1e+300"),
        (float("nan"), "0%", "nan%"),
    ],
)
def test_numbers_read_as_their_format_shows_them(value: float, code: str, text: str) -> None:
    assert number_text(value, number_format(code)) == text


def test_days_may_count_from_1904_and_february_29_1900_never_was() -> None:
    date = number_format("yyyy-mm-dd")
    assert number_text(42735, date, from_1904=True) == "2021-01-01"
    assert [number_text(day, date) for day in (1, 59, 61)] == ["1900-01-01", "1900-02-28", "1900-03-01"]


@pytest.mark.parametrize(
    ("iso", "text"),
    [
        ("2021-01-01", "2021-01-01"),
        ("2021-01-01T10:10:10", "2021-01-01 10:10:10"),
        ("PT10H10M10S", "10:10:10"),
        ("PT26H30M", "26:30"),
        ("-PT1H", "-01:00"),
        ("soon", "soon"),
    ],
)
def test_iso_dates_and_durations_read_as_people_write_them(iso: str, text: str) -> None:
    assert iso_text(iso) == text


def test_values_of_every_kind_are_text() -> None:
    def fill(sheet: Worksheet) -> None:
        sheet.append([True, dt.datetime(2021, 1, 31, 9, 30), dt.time(7, 5), dt.timedelta(hours=26), "=1/0"])
        sheet.append(["a\nb", "\u200bx", 0.5, None, "#N/A"])
        sheet["C2"].number_format = "0%"

    found = xlsx.read(workbook(fill), LIMITS)
    assert [unit.text for unit in found.units] == [
        "TRUE | 2021-01-31 09:30 | 07:05 | 26:00",
        "a b | x | 50% |  | #N/A",
    ]
    assert list(found.notes) == [
        "sheet S1: a formula has no stored result: open the workbook, save it, and add it again"
    ]


def test_comments_and_charts_are_read_where_they_stand() -> None:
    def fill(sheet: Worksheet) -> None:
        sheet.append(["Year", "Ducks"])
        sheet.append([2024, 180])
        sheet["B2"].comment = Comment("Ann:\ncounted twice", "Ann")
        chart = BarChart()
        chart.title = "Ducks on the pond"
        chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=2), titles_from_data=True)
        sheet.add_chart(chart, "D2")

    found = xlsx.read(workbook(fill), LIMITS)
    assert ("S1!B2", "Comment on B2 by Ann: counted twice") in said(found)
    chart_unit = found.units[-1]
    assert chart_unit.text == "Chart: Ducks on the pond"
    assert str(chart_unit.locator).startswith("S1!D2")


def test_threaded_comments_replace_their_old_copies() -> None:
    space = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
    found = xlsx.read(
        bare(
            '<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>',
            **{
                "xl/worksheets/_rels/sheet1.xml.rels": rels(
                    {"rId1": ("comments", "../comments1.xml"), "rId2": ("threadedComment", "../threads.xml")}
                ),
                "xl/comments1.xml": f'<comments xmlns="{MAIN}"><authors><author>tc={{1}}</author></authors>'
                "<commentList>"
                '<comment ref="A1" authorId="0"><text><t>[Threaded comment] Your version …</t></text></comment>'
                '<comment ref="B1" authorId="0"><text><r><t>old </t></r><r><t>note</t></r></text></comment>'
                "</commentList></comments>",
                "xl/threads.xml": f'<ThreadedComments xmlns="{space}"><threadedComment ref="A1" personId="{{9}}">'
                "<text>Is this right?</text></threadedComment></ThreadedComments>",
                "xl/_rels/workbook.xml.rels": rels(
                    {"rId1": ("worksheet", "worksheets/sheet1.xml"), "rId3": ("person", "people.xml")}
                ),
                "xl/people.xml": f'<personList xmlns="{space}"><person displayName="Eva" id="{{9}}"/></personList>',
            },
        ),
        LIMITS,
    )
    assert [unit.text for unit in found.units[1:]] == [
        "Comment on A1 by Eva: Is this right?",
        "Comment on B1 by tc={1}: old note",
    ]


def test_text_boxes_are_read_once() -> None:
    runs = "<a:r><a:t>Mind the </a:t></a:r><a:r><a:t>step</a:t></a:r>"
    box = f"<xdr:sp><xdr:txBody><a:p>{runs}</a:p></xdr:txBody></xdr:sp>"
    drawing = (
        '<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><xdr:twoCellAnchor>'
        "<xdr:from><xdr:col>6</xdr:col><xdr:row>2</xdr:row></xdr:from><xdr:to><xdr:col>8</xdr:col><xdr:row>4</xdr:row>"
        f"</xdr:to><mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
        "</xdr:twoCellAnchor></xdr:wsDr>"
    )
    found = xlsx.read(
        bare(
            "<sheetData/>",
            **{
                "xl/worksheets/_rels/sheet1.xml.rels": rels({"rId1": ("drawing", "../drawings/d.xml")}),
                "xl/drawings/d.xml": drawing,
            },
        ),
        LIMITS,
    )
    assert said(found) == [("Data!G3:I5", "Mind the step")]


@pytest.mark.parametrize("space", [MAIN, STRICT])
def test_two_cells_at_opposite_corners_are_two_cells(space: str) -> None:
    sheet = (
        '<dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row>'
        '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>last</t></is></c></row></sheetData>'
    )
    found = xlsx.read(
        bare(sheet, space, "<si><r><t>fi</t></r><r><t>rst</t></r><rPh><t>x</t></rPh></si>"), LIMITS
    )
    assert said(found) == [("Data!A1", "first"), ("Data!XFD1048576", "last")]


def test_cells_and_rows_without_places_follow_one_another() -> None:
    sheet = "<sheetData><row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c><c><v>4</v></c></row></sheetData>"
    assert said(xlsx.read(bare(sheet), LIMITS)) == [("Data!A1:B1", "1 | 2"), ("Data!A2:B2", "3 | 4")]


def test_a_long_sheet_is_read_to_its_20000th_row_and_says_so() -> None:
    rows = "".join(f'<row r="{i}"><c r="A{i}"><v>{i}</v></c></row>' for i in range(1, 20_101))
    found = xlsx.read(bare(f"<sheetData>{rows}</sheetData>"), LIMITS)
    assert len(found.units) == 20_000
    assert list(found.notes) == ["sheet Data: only the first 20,000 rows of 20,100 are read"]


def test_one_long_text_in_every_cell_is_no_way_to_fill_the_memory() -> None:
    cells = "".join('<c t="s"><v>0</v></c>' for _ in range(1_000))
    with pytest.raises(RefusedError) as refused:
        xlsx.read(
            bare(f"<sheetData><row>{cells}</row></sheetData>", strings=f"<si><t>{'ab ' * 10_000}</t></si>"),
            LIMITS,
        )
    assert refused.value.outcome is Outcome.TOO_LARGE


def test_a_sheet_that_unpacks_beyond_the_limit_is_refused() -> None:
    cell = "<row><c t='inlineStr'><is><t>bomb</t></is></c></row>"
    with pytest.raises(RefusedError) as refused:
        xlsx.read(bare(f"<sheetData>{cell * 50_000}</sheetData>"), ParseLimits(max_part_mb=1))
    assert refused.value.outcome is Outcome.TOO_LARGE


def test_a_broken_sheet_costs_itself_only() -> None:
    data = workbook([["kept", "too"]], [["lost"]])
    with_hole = rewritten(data, "xl/worksheets/sheet2.xml", "<worksheet><sheetData>")
    found = xlsx.read(with_hole, LIMITS)
    assert [unit.text for unit in found.units] == ["kept | too"]
    assert found.notes[0].startswith("sheet S2 cannot be read")


def rewritten(data: bytes, name: str, text: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        members: dict[str, str | bytes] = {member: package.read(member) for member in package.namelist()}
    return zip_of(members | {name: text})


def test_what_the_cell_reader_calls_damaged_goes_to_calamine() -> None:
    data = workbook([["Item", "Price"], ["Nut", 2.0], ["Bolt", 0.5]])
    assert READERS["xlsx"] == (xlsx.read, xls.read_package)
    assert [unit.text for unit in xls.read_package(data, LIMITS).units] == [
        "Item | Price",
        "Item: Nut; Price: 2",
        "Item: Bolt; Price: 0.5",
    ]


@pytest.mark.parametrize("read", [xlsx.read, xls.read_package])
def test_a_package_with_a_document_type_is_refused_by_both_readers(
    read: Callable[[bytes, ParseLimits], Reading],
) -> None:
    data = rewritten(
        workbook([["x"]]), "_rels/.rels", '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'
    )
    with pytest.raises(RefusedError) as refused:
        read(data, LIMITS)
    assert refused.value.outcome is Outcome.DAMAGED


def cell(text: str, attributes: str = "") -> str:
    return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"


def ods_row(*cells: str, attributes: str = "") -> str:
    return f"<table:table-row {attributes}>{''.join(cells)}</table:table-row>"


def ods_value(kind: str, name: str, stored: str, shown: str = "shown", more: str = "") -> str:
    return cell(shown, f'office:value-type="{kind}" office:{name}="{stored}" {more}')


def test_opendocument_cells_are_read_by_their_values() -> None:
    empty = '<table:table-cell table:number-columns-repeated="2"/>'
    body = ods_row(
        ods_value("float", "value", "2019", "2.019,0"),
        ods_value("percentage", "value", "0.125"),
        ods_value("currency", "value", "12.5", more='office:currency="EUR"'),
        ods_value("date", "date-value", "2021-01-31T09:30:00"),
        ods_value("time", "time-value", "PT07H05M00S"),
        empty,
        cell('two<text:s text:c="3"/>words<text:line-break/>and <text:span>more</text:span>'),
    )
    found = ods.read(spreadsheet(f'<table:table table:name="T">{body}</table:table>'), LIMITS)
    assert said(found) == [
        ("T!A1:H1", "2019 | 12.5% | EUR 12.50 | 2021-01-31 09:30 | 07:05 | two words and more")
    ]


def test_opendocument_repeats_are_counted_and_empty_ones_cost_nothing() -> None:
    body = (
        ods_row(
            '<table:table-cell table:number-columns-repeated="16384"/>',
            attributes='table:number-rows-repeated="9"',
        )
        + ods_row(cell("a", 'table:number-columns-repeated="2"'), attributes='table:number-rows-repeated="2"')
        + ods_row("<table:table-cell/>", attributes='table:number-rows-repeated="1048565"')
    )
    found = ods.read(spreadsheet(f'<table:table table:name="T">{body}</table:table>'), LIMITS)
    assert said(found) == [("T!A10:B10", "a | a"), ("T!A11:B11", "a | a")]


@pytest.mark.parametrize(
    ("rows", "columns"), [("999999999", "1"), ("1", "999999999"), ("99999999999", "99999999999")]
)
def test_opendocument_repeats_beyond_any_sheet_are_refused(rows: str, columns: str) -> None:
    row = ods_row(
        cell("x", f'table:number-columns-repeated="{columns}"'),
        attributes=f'table:number-rows-repeated="{rows}"',
    )
    with pytest.raises(RefusedError) as refused:
        ods.read(spreadsheet(f"<table:table>{row}</table:table>"), LIMITS)
    assert refused.value.outcome is Outcome.TOO_LARGE


def test_opendocument_comments_shapes_merged_and_hidden_parts_are_read() -> None:
    note = "<office:annotation><dc:creator>Ann</dc:creator><text:p>ask Bob</text:p></office:annotation>"
    shape = "<table:shapes><draw:custom-shape><text:p>Draft</text:p></draw:custom-shape></table:shapes>"
    table = (
        f'<table:table table:name="T">{shape}'
        + ods_row(
            cell("North", 'table:number-rows-spanned="2"'),
            f"<table:table-cell>{note}<text:p>7</text:p></table:table-cell>",
        )
        + ods_row("<table:covered-table-cell/>", cell("8"))
        + ods_row(cell("x"), cell("9"), attributes='table:visibility="collapse"')
        + "</table:table>"
    )
    style = (
        '<style:style style:name="no" style:family="table"><style:table-properties table:display="false"/>'
        "</style:style>"
    )
    secret = f'<table:table table:name="P" table:style-name="no">{ods_row(cell("pay"))}</table:table>'
    found = ods.read(spreadsheet(table + secret, style), LIMITS)
    assert [(str(unit.locator), unit.text, HIDDEN in unit.flags) for unit in found.units] == [
        ("T!A1:B1", "North | 7", False),
        ("T!A2:B2", "North | 8", False),
        ("T!A3:B3", "x | 9", True),
        ("sheet T", "Draft", False),
        ("T!B1", "Comment on B1 by Ann: ask Bob", False),
        ("P!A1", "pay", True),
    ]
    assert list(found.notes) == ["sheet T has hidden rows or columns", "sheet P is hidden"]


def test_an_opendocument_spreadsheet_with_a_password_says_so() -> None:
    manifest = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        '<m:file-entry m:full-path="content.xml">'
        "<m:encryption-data/></m:file-entry></m:manifest>"
    )
    with pytest.raises(RefusedError) as refused:
        ods.read(spreadsheet("", **{"META-INF/manifest.xml": manifest}), LIMITS)
    assert refused.value.outcome is Outcome.NEEDS_PASSWORD


def record(kind: int, body: bytes = b"") -> bytes:
    return struct.pack("<2H", kind, len(body)) + body


def biff(*records: bytes, name: bytes = b"Sheet1", globals_: bytes = b"") -> bytes:
    """Return a BIFF8 stream of one sheet."""
    head = record(0x809, struct.pack("<6H", 0x600, 5, 0, 0, 0, 0)) + globals_
    start = len(head) + 4 + 8 + len(name) + 4
    bound = record(0x85, struct.pack("<IBBBB", start, 0, 0, len(name), 0) + name)
    sheet = record(0x809, struct.pack("<6H", 0x600, 16, 0, 0, 0, 0)) + b"".join(records) + record(0x0A)
    return head + bound + record(0x0A) + sheet


def number(row: int, column: int, value: float, style: int = 0) -> bytes:
    return record(0x203, struct.pack("<3Hd", row, column, style, value))


PERCENT = record(0xE0, struct.pack("<2H", 0, 0) + bytes(16)) + record(
    0xE0, struct.pack("<2H", 0, 9) + bytes(16)
)

NOTE = [
    record(0x5D, struct.pack("<4H", 0x15, 0x12, 0x19, 7) + bytes(14)),
    record(0x1B6, struct.pack("<5H2HI", 0, 0, 0, 0, 0, 9, 16, 0)),
    record(0x3C, b"\0Ann:\nask "),
    record(0x3C, bytes(16)),
    record(0x1C, struct.pack("<5HB", 1, 2, 0, 7, 3, 0) + b"Ann"),
]


def test_an_old_workbook_is_read_with_its_percentages_and_comments() -> None:
    data = ole({"Workbook": biff(number(0, 0, 7), number(1, 2, 0.5, 1), *NOTE, globals_=PERCENT)})
    assert sniff(data, "old.xls") == "xls"
    assert said(xls.read(data, LIMITS)) == [
        ("Sheet1!A1", "7"),
        ("Sheet1!C2", "| 50%"),
        ("Sheet1!C2", "Comment on C2 by Ann: ask"),
    ]


def test_an_old_workbook_that_spans_a_whole_sheet_is_refused() -> None:
    with pytest.raises(RefusedError) as refused:
        xls.read(ole({"Workbook": biff(number(0, 0, 1), number(65_535, 255, 1))}), LIMITS)
    assert refused.value.outcome is Outcome.TOO_LARGE


def test_records_of_an_old_workbook_tell_formats_comments_and_what_is_hidden() -> None:
    hidden = [
        record(0x208, struct.pack("<8H", 3, 0, 1, 0, 0, 0, 0x20, 0)),
        record(0x7D, struct.pack("<6H", 4, 5, 0, 0, 1, 0)),
    ]
    (sheet,) = Biff(biff(number(1, 2, 0.5, 1), number(4, 9, 1), *hidden, *NOTE, globals_=PERCENT)).sheets()
    assert {place: form.kind for place, form in sheet.formats.items()} == {(2, 3): Kind.PERCENT}
    assert sheet.n_area() == 4 * 8
    assert sheet.hidden_rows == {4}
    assert sheet.hidden_columns == [(5, 6)]
    assert sheet.notes == [(2, 3, 7, "Ann")]
    assert sheet.texts == {7: "Ann: ask"}


def test_an_old_workbook_with_a_password_says_so() -> None:
    with pytest.raises(RefusedError) as refused:
        xls.read(ole({"Workbook": biff(globals_=record(0x2F, bytes(6)))}), LIMITS)
    assert refused.value.outcome is Outcome.NEEDS_PASSWORD


def test_records_cut_off_anywhere_never_raise() -> None:
    stream = biff(
        number(1, 2, 0.5, 1), record(0x5D), record(0x1B6), record(0xBD, b"\0" * 5), globals_=PERCENT
    )
    for length in range(len(stream)):
        Biff(stream[:length])


def test_a_workbook_from_before_excel_5_says_how_to_save_it() -> None:
    data = b"\x09\x04\x06\x00\x00\x04\x10\x00\x00\x00"
    assert sniff(data, "old.xls") == "xls"
    with pytest.raises(RefusedError, match="save it as XLSX"):
        xls.read(data, LIMITS)


def test_a_binary_workbook_that_spans_a_whole_sheet_is_refused_before_it_is_laid_out() -> None:
    def part(row: int, column: int) -> bytes:
        return (
            b"\x00\x11"
            + struct.pack("<I", row)
            + bytes(13)
            + b"\x05\x10"
            + struct.pack("<I", column)
            + bytes(12)
        )

    corners = b"\x81\x01\x00" + part(0, 0) + part(1_048_575, 16_383)
    assert xlsb.n_area(corners) == 1_048_576 * 16_384
    data = zip_of({"_rels/.rels": rels({}), "xl/workbook.bin": b"", "xl/worksheets/sheet1.bin": corners})
    with pytest.raises(RefusedError) as refused:
        xls.read_package(data, LIMITS)
    assert refused.value.outcome is Outcome.TOO_LARGE


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"<html><table><tr><td>1</td></tr></table></html>", "export.xls", "html"),
        ("part\tqty\nbolt\t400\n".encode("utf-16"), "export.xls", "csv"),
        (b"naam;bedrag\nJansen;1,5\n", "export.xlsx", "csv"),
    ],
)
def test_text_under_a_spreadsheets_name_is_told_by_its_content(data: bytes, name: str, kind: str) -> None:
    assert sniff(data, name) == kind


def test_a_general_number_is_plain() -> None:
    assert number_format("General") == number_format("@") == GENERAL
