"""Text, Markdown and CSV: encodings, structure, lines and rows."""

from __future__ import annotations

import pytest

from ingest.formats import csv, md, txt
from ingest.formats.encoding import decode, decode_declared
from ingest.formats.reading import RefusedError
from ingest.locator import Locator
from ingest.unit import Unit, UnitKind

RUSSIAN = "Однажды, в студеную зимнюю пору я из лесу вышел; был сильный мороз. "


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Straße; Größe", "utf-8"),
        ("Straße; Größe", "utf-8-sig"),
        ("Straße; Größe", "utf-16"),
        ("Straße; Größe", "utf-16-le"),
        ("Straße; Größe", "utf-16-be"),
        ("Straße; Größe", "utf-32"),
        ("Münchner Straße, 12 €", "cp1252"),
        (RUSSIAN * 3, "cp1251"),
        (RUSSIAN * 3, "koi8-r"),
        ("青森県産の林檎です。とても甘いです。", "cp932"),
        ("本公司的会议室可以通过内部网站预订", "gb18030"),
        ("역사적 예수 연구자들은 이 사건을 다르게 본다", "cp949"),
    ],
)
def test_text_in_any_encoding_is_read(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_short_unmarked_text_is_taken_for_the_sites_own_encoding() -> None:
    assert decode("Größe".encode("cp1252"), "cp1252") == "Größe"
    assert decode("Čeština".encode("cp1250"), "cp1250") == "Čeština"


def test_a_log_with_one_foreign_line_is_decoded_line_by_line() -> None:
    assert decode("über\n".encode() * 5 + "größe\n".encode("cp1252")) == "über\n" * 5 + "größe\n"


def units(found: list[Unit]) -> list[tuple[str, str, tuple[int, int] | None]]:
    return [(unit.kind.value, unit.text, unit.locator.lines) for unit in found]


def test_paragraphs_and_headings_of_a_text_know_their_lines() -> None:
    text = b"MEETING NOTES\n\nThe roof\nis new.\n\nNext steps\n==========\nCall the roofer.\n"
    found = txt.read(text, "cp1252").units
    assert units(found) == [
        ("heading", "MEETING NOTES", (1, 1)),
        ("paragraph", "The roof\nis new.", (3, 4)),
        ("heading", "Next steps", (6, 6)),
        ("paragraph", "Call the roofer.", (8, 8)),
    ]
    assert found[3].locator.heading == ("Next steps",)


def test_a_log_is_read_line_by_line_without_its_colours() -> None:
    log = b"".join(b"2026-11-30 10:0%d \x1b[31mERROR\x1b[0m pump %d\n" % (i, i) for i in range(5))
    assert units(txt.read(log, "cp1252").units)[1] == ("paragraph", "2026-11-30 10:01 ERROR pump 1", (2, 2))


def test_a_long_block_is_cut_into_citable_line_spans() -> None:
    found = txt.read("\n".join(f"line {i}" for i in range(100)).encode(), "cp1252").units
    assert all(unit.locator.lines and unit.locator.lines[1] - unit.locator.lines[0] < 12 for unit in found)
    assert "\n".join(unit.text for unit in found).count("line") == 100


def test_every_line_of_a_log_is_an_entry_of_its_own() -> None:
    found = txt.read_log(b"pump on\n\n  at once\r\npump off", "cp1252").units
    assert units(found) == [
        ("paragraph", "pump on", (1, 1)),
        ("paragraph", "at once", (3, 3)),
        ("paragraph", "pump off", (4, 4)),
    ]


@pytest.mark.parametrize("told", ["", "utf-8", "unheard-of", "idna", "zip", "utf-7"])
def test_a_file_that_is_wrong_about_its_encoding_is_decoded_all_the_same(told: str) -> None:
    assert decode_declared("Größe".encode("utf-16"), told, "cp1252") == "Größe"
    assert decode_declared("Größe".encode(), told, "cp1252") == "Größe"


def test_a_file_that_is_right_about_its_encoding_is_believed() -> None:
    assert decode_declared("Škoda".encode("cp1250"), "windows-1250", "cp1252") == "Škoda"


def test_nothing_but_white_space_has_no_units() -> None:
    assert txt.read(b"\n \t\r\n", "cp1252").units == []


MARKDOWN = b"""---
title: Fire drill
owner: Ann
---
# Drill

Leave by the **nearest** exit, see [the map](http://intranet/map).

Sub
---
1. Close `windows`
   and doors
2. Go

| Floor | Warden |
|-------|:------:|
| 1     | Ann    |
| 2     |        |

```sh
alarm --test
```
"""


def test_markdown_keeps_its_structure() -> None:
    reading = md.read(MARKDOWN, "cp1252")
    assert reading.title == "Fire drill"
    assert units(reading.units) == [
        ("paragraph", "title: Fire drill\nowner: Ann", (2, 3)),
        ("heading", "Drill", (5, 5)),
        ("paragraph", "Leave by the nearest exit, see the map (http://intranet/map).", (7, 7)),
        ("heading", "Sub", (9, 10)),
        ("list_item", "1. Close windows and doors", (11, 12)),
        ("list_item", "2. Go", (13, 13)),
        ("table_row", "1 | Ann", (17, 17)),
        ("table_row", "2 |", (18, 18)),
        ("code", "alarm --test", (20, 22)),
    ]
    assert reading.units[4].locator.heading == ("Drill", "Sub")
    assert reading.units[6].header == "Floor | Warden"
    assert reading.units[7].locator.rows == (2, 2)


@pytest.mark.parametrize(
    "text", ["snake_case_name stays", "2 * 3 * 4", "a*b*c", "5 < 6 and 7 > 2", "C:\\path\\x"]
)
def test_what_only_looks_like_a_mark_stays(text: str) -> None:
    assert md.inline(text) == text


def test_an_unclosed_fence_takes_the_rest_of_the_file() -> None:
    assert units(md.read(b"```\na\n\nb", "cp1252").units) == [("code", "a\n\nb", (1, 4))]


def test_comments_of_markdown_are_no_text_except_in_code() -> None:
    text = b"One\n<!-- a\n\n  b -->\nTwo <!-- c --> three\n\n```\n<!-- d -->\n```\n"
    assert units(md.read(text, "cp1252").units) == [
        ("paragraph", "One", (1, 1)),
        ("paragraph", "Two three", (5, 5)),
        ("code", "<!-- d -->", (7, 9)),
    ]


def row(number: int, text: str) -> Unit:
    return Unit(text, Locator(rows=(number, number)), UnitKind.TABLE_ROW)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_rows_name_their_columns_whatever_the_delimiter(delimiter: str) -> None:
    lines = ["Name,Price,Note", "Widget,3.20,", "Bolt,0.10,M6 and M8"]
    data = "\n".join(line.replace(",", delimiter) for line in lines).encode()
    assert csv.read(data, "cp1252").units == [
        row(1, "Name: Widget; Price: 3.20"),
        row(2, "Name: Bolt; Price: 0.10; Note: M6 and M8"),
    ]


def test_quoted_cells_keep_delimiters_and_line_ends() -> None:
    found = csv.read(b'Name,Where\r\n"Smith, Ann","floor 1\nroom 2"\r\n', "cp1252").units
    assert found == [row(1, "Name: Smith, Ann; Where: floor 1 room 2")]


def test_lines_above_a_table_are_notes_and_not_its_header() -> None:
    found = csv.read(b"Price list 2026;;\n\nName;Price;Unit\nNut;1;kg\nBolt;2;kg\n", "cp1252").units
    assert [unit.text for unit in found] == [
        "Price list 2026",
        "Name: Nut; Price: 1; Unit: kg",
        "Name: Bolt; Price: 2; Unit: kg",
    ]


def test_a_table_without_names_keeps_all_its_rows() -> None:
    assert csv.read(b"1,2\n3,4\n", "cp1252").units == [row(1, "1 | 2"), row(2, "3 | 4")]


def test_a_header_alone_is_text_too() -> None:
    assert csv.read(b"Name,Price\n", "cp1252").units == [row(1, "Name | Price")]


@pytest.mark.parametrize("delimiter", ["^", "~", "¦", "\x01", "\x1f", "||", "|~|", "::"])
def test_delimiters_that_no_spreadsheet_writes_are_told_too(delimiter: str) -> None:
    lines = ["Name,Price,Note", "Widget,3.20,soft", "Bolt,0.10,M6 and M8"]
    data = "\n".join(line.replace(",", delimiter) for line in lines).encode()
    assert csv.read(data, "cp1252").units == [
        row(1, "Name: Widget; Price: 3.20; Note: soft"),
        row(2, "Name: Bolt; Price: 0.10; Note: M6 and M8"),
    ]


def test_decimal_commas_are_no_delimiter() -> None:
    found = csv.read(b"1,5;2,5;3,5\n4,5;5,5;6,5\n", "cp1252").units
    assert found == [row(1, "1,5 | 2,5 | 3,5"), row(2, "4,5 | 5,5 | 6,5")]


def test_empty_cells_are_no_double_delimiter() -> None:
    found = csv.read(b"Name|Price|Note\nNut||soft\nBolt|2|hard\n", "cp1252").units
    assert found == [row(1, "Name: Nut; Note: soft"), row(2, "Name: Bolt; Price: 2; Note: hard")]


def test_years_name_columns_where_no_years_stand_below() -> None:
    found = csv.read(b"Region,2024,2025\nNorth,10,12\nSouth,7,9\n", "cp1252").units
    assert found == [row(1, "Region: North; 2024: 10; 2025: 12"), row(2, "Region: South; 2024: 7; 2025: 9")]


def test_a_lost_quote_costs_its_row_and_not_the_file() -> None:
    lines = ["Name,Note", 'Nut,"soft', *(f"Bolt {i},hard" for i in range(200))]
    found = csv.read("\n".join(lines).encode(), "cp1252").units
    assert len(found) == 201
    assert found[0].text == 'Name: Nut; Note: "soft'


def test_a_long_file_is_read_to_its_20000th_row_and_says_so() -> None:
    found = csv.read(b"Name,Price\n" + b"Nut,1\n" * 30_000, "cp1252")
    assert len(found.units) == 19_999  # the header is a row of the file
    assert found.notes == ["only the first 20,000 rows of about 30,001 are read"]


def test_a_line_longer_than_any_row_is_refused() -> None:
    with pytest.raises(RefusedError, match="no row of a table"):
        csv.read(b"a," * 3_000_000, "cp1252")
