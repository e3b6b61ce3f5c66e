"""Rich text: paragraphs, rows, notes and what is hidden, in every code page that Word has written."""

from __future__ import annotations

import contextlib
import random

import pytest

from ingest.formats import rtf
from ingest.formats.reading import Reading, RefusedError
from ingest.limits import ParseLimits
from ingest.unit import HIDDEN, UnitKind

LIMITS = ParseLimits()


def read(body: str, head: str = r"\ansi\ansicpg1252") -> Reading:
    return rtf.read(("{\\rtf1" + head + " " + body + "}").encode("latin-1"), LIMITS)


def texts(body: str, head: str = r"\ansi\ansicpg1252") -> list[str]:
    return [unit.text for unit in read(body, head).units]


def test_paragraphs_are_parted_and_escapes_read() -> None:
    assert texts(r"One \{a\}\par Two\line three\~x \'80\u8364?\par\pard Four\emdash\bullet") == [
        "One {a}",
        "Two\nthree x €€",
        "Four—•",
    ]


@pytest.mark.parametrize(
    ("charset", "body", "read"),
    [
        (204, r"\'d1\'f7\'b8\'f2", "Счёт"),
        (238, r"\'c8l\'e1nek", "Článek"),
        (128, r"\'89\'bf\'8ai\'95\'5c", "価格表"),
        (134, r"\'bc\'db\'b8\'f1", "价格"),
        (161, r"\'d4\'e9\'ec\'de", "Τιμή"),
        (2, r"\'b7\'fc", "••"),
    ],
)
def test_text_is_decoded_by_the_charset_of_its_font(charset: int, body: str, read: str) -> None:
    fonts = r"{\fonttbl{\f0\fcharset0 Arial;}{\f7\fcharset" + f"{charset} Other;" + "}}"
    assert texts(fonts + r"\f0 a{\f7 " + body + r"}\'e4") == [f"a{read}ä"]


@pytest.mark.parametrize(("head", "read"), [(r"\ansicpg1251", "д"), (r"\ansicpg99999", "ä"), (r"\mac", "‰")])
def test_text_without_a_font_is_decoded_by_the_code_page_of_the_document(head: str, read: str) -> None:
    assert texts(r"\'e4", head) == [read]


def test_unicode_is_read_and_what_stands_in_for_it_is_skipped() -> None:
    assert texts(r"\uc1\u1057C\u1095\'f7x{\uc2\u-10179??\u-8704??}{\uc0\u233}y") == ["Счx😀éy"]


def test_rows_of_a_table_carry_its_header() -> None:
    row = r"\trowd\intbl {}\cell {}\cell\row "
    table = "".join(
        row.replace("{}", a, 1).replace("{}", b, 1)
        for a, b in (("Part", "Price"), (r"Pump\par old", "30"), ("Valve", "7"))
    )
    units = read(r"Before\par " + table + r"\pard After\par").units
    assert [(unit.text, unit.header, unit.kind) for unit in units] == [
        ("Before", "", UnitKind.PARAGRAPH),
        ("Pump old | 30", "Part | Price", UnitKind.TABLE_ROW),
        ("Valve | 7", "Part | Price", UnitKind.TABLE_ROW),
        ("After", "", UnitKind.PARAGRAPH),
    ]
    assert units[2].locator.rows == (2, 2)


def test_headings_are_told_by_style_or_outline_level() -> None:
    styles = r"{\stylesheet{\s1 heading 1;}{\s2\outlinelevel1 Own;}{\s3 Normal;}}"
    body = r"\pard\s1 Heating\par\pard\s2 Boiler\par\pard\s3 Old.\par\pard\outlinelevel0 Water\par\pard Cold."
    units = read(styles + body).units
    assert [(unit.text, unit.locator.heading) for unit in units if unit.kind is UnitKind.PARAGRAPH] == [
        ("Old.", ("Heating", "Boiler")),
        ("Cold.", ("Water",)),
    ]


def test_lists_keep_their_numbers() -> None:
    units = read(r"{\listtext\pard\plain 1.\tab}Close the valve.\par{\pntext\'b7\tab}Wait.\par").units
    assert [(unit.text, unit.kind) for unit in units] == [
        ("1. Close the valve.", UnitKind.LIST_ITEM),
        ("· Wait.", UnitKind.LIST_ITEM),
    ]


def test_notes_comments_and_text_boxes_follow_the_paragraph_that_holds_them() -> None:
    box = r"{\shp{\*\shpinst{\sp{\sn x}{\sv y}}{\shptxt In a box\par}}{\shprslt{\pict 00ff}}}"
    body = r"Text{\footnote A note.\par}{\*\annotation A comment.}" + box + r" goes on.\par Next."
    assert texts(body) == ["Text goes on.", "Note: A note.", "Comment: A comment.", "In a box", "Next."]


def test_a_page_header_is_read_once() -> None:
    assert texts(r"{\header Version 3\par}One\par{\header Version 3\par}{\footer Page}Two\par") == [
        "One", "Version 3", "Two", "Page",
    ]  # fmt: skip


def test_hidden_text_is_kept_and_flagged() -> None:
    units = read(r"Seen {\v not seen}\fs2 tiny\plain  again\par{\v all}\par").units
    assert [(unit.text, HIDDEN in unit.flags) for unit in units] == [
        ("Seen again", False),
        ("not seentiny", True),
        ("all", True),
    ]


def test_deleted_text_pictures_fields_and_tables_of_styles_are_left_out() -> None:
    body = (
        r"{\colortbl;\red0;}{\*\generator Word}{\deleted gone}Click {\field{\*\fldinst HYPERLINK x}{\fldrslt here}}"
        r"{\pict\bin5 }}}}}}.{\*\unheard text}{\object{\*\objdata 00}{\result shown}}"
    )
    assert texts(body) == ["Click here.shown"]


def test_the_title_is_read() -> None:
    assert read(r"{\info{\title Gr\'f6\'dfe}{\author Ann}}x").title == "Größe"


def test_text_behind_the_document_is_no_text() -> None:
    assert [unit.text for unit in rtf.read(rb"{\rtf1 One}Two", LIMITS).units] == ["One"]


def test_a_cut_off_document_is_read_as_far_as_it_goes() -> None:
    assert texts(r"One\par{\b Two{\footnote note")[:1] == ["One"]
    assert [unit.text for unit in rtf.read(rb"{\rtf1\trowd\intbl a\cell b\cell", LIMITS).units] == ["a | b"]


def test_nesting_that_no_program_writes_is_refused() -> None:
    with pytest.raises(RefusedError, match="nested more than 500"):
        rtf.read(rb"{\rtf1" + b"{" * 600, LIMITS)
    assert texts("{" * 300 + "x" + "}" * 300) == ["x"]


def test_a_damaged_document_is_read_or_refused_and_nothing_else() -> None:
    body = r"{\fonttbl{\f0\fcharset128 A;}}\f0\'89\'bf{\footnote x}\trowd\intbl a\cell\row\u8364?{\pict\bin3 abc}\par"
    data = ("{\\rtf1\\ansi " + body + "}").encode()
    dice = random.Random(4)
    for _ in range(500):
        broken = bytearray(data)
        for _ in range(dice.choice((1, 5, 20))):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        with contextlib.suppress(RefusedError):
            rtf.read(bytes(broken), LIMITS)
