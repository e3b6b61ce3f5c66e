"""Old Word documents and presentations: what a reader of the page sees, and the files that are not read."""

from __future__ import annotations

import contextlib
import random
import struct

import pytest

from ingest.formats import doc, ppt
from ingest.formats.ole import Ole
from ingest.formats.reading import Reading, RefusedError
from ingest.limits import ParseLimits
from ingest.sniff import sniff
from ingest.unit import HIDDEN, Outcome, UnitKind
from tests.ingest.made_files import docx, p
from tests.ingest.made_ole import (
    Doc,
    Slide,
    change,
    drawing,
    group,
    ole,
    presentation,
    record,
    shape,
    text_atoms,
)

LIMITS = ParseLimits()
IN_TABLE, ROW_END, LIST, LIST_LEVEL = 0x2416, 0x2417, 0x460B, 0x260A
CELL, END = change(IN_TABLE, 1), change(IN_TABLE, 1) + change(ROW_END, 1)
VANISH, DELETED, COLOUR, SHADE = 0x083C, 0x0800, 0x6870, 0x442D
TITLE, BODY, NOTES, OTHER = 0, 1, 2, 4


def read(made: Doc) -> Reading:
    return doc.read(made.bytes(), LIMITS)


def texts(reading: Reading) -> list[str]:
    return [unit.text for unit in reading.units]


def refusal(data: bytes, reader: object = doc) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        reader.read(data, LIMITS)  # type: ignore[attr-defined]
    return caught.value


def test_text_comes_from_pieces_of_one_and_of_two_bytes_a_letter() -> None:
    made = Doc("Grüße – “so”\rΔοκιμή \ud800\udf32\r", narrow=13)
    assert texts(read(made)) == ["Grüße – “so”", "Δοκιμή 𐌲"]


def test_what_word_draws_itself_is_no_text() -> None:
    made = Doc("A\x01 pic\x08ture, a\x1enon-break, a soft\x1fhyphen,\x0ba line\x0enext\x0cpage\r")
    assert texts(read(made)) == ["A picture, a-non-break, a softhyphen, a line next", "page"]


def test_field_codes_are_dropped_and_their_results_stay() -> None:
    field = '\x13 HYPERLINK "http://x" \x14the \x13 REF a \x14inner\x15 link\x15'
    assert texts(read(Doc(f"See {field} here\r"))) == ["See the inner link here"]
    assert texts(read(Doc("\x13 TOC \\o \x14One\rTwo\x15\r"))) == ["One", "Two"]
    assert texts(read(Doc("\x13 PAGE \x15of all\r"))) == ["of all"]
    assert texts(read(Doc("\x13 never ends\rwords\r"))) == ["never ends", "words"]


def test_headings_make_the_path_of_what_follows() -> None:
    made = Doc("Rules\rLeave\rFour weeks.\r", forms=[(1, b""), (2, b""), (0, b"")], tables={1: stylesheet()})
    reading = read(made)
    assert [unit.kind for unit in reading.units] == [UnitKind.HEADING, UnitKind.HEADING, UnitKind.PARAGRAPH]
    assert reading.units[2].locator.heading == ("Rules", "Leave")
    assert reading.title == "Rules"


def test_an_outline_level_of_its_own_makes_a_heading() -> None:
    reading = read(Doc("Scope\rwords\r", forms=[(0, change(0x2640, 1)), (0, b"")]))
    assert reading.units[0].kind is UnitKind.HEADING
    assert str(reading.units[1].locator) == "Scope"


def test_cells_become_rows_with_their_header() -> None:
    text = "Item\x07Price\x07\x07Bolt\x073.20\x07\x07Nut\x07\x07\x07After\r"
    forms = [(0, CELL), (0, CELL), (0, END)] * 3 + [(0, b"")]
    reading = read(Doc(text, forms=forms))
    assert texts(reading) == ["Bolt | 3.20", "Nut |", "After"]
    assert {unit.header for unit in reading.units[:2]} == {"Item | Price"}
    assert reading.units[1].locator.rows == (2, 2)


def test_white_words_are_read_in_tables_and_on_a_ground_of_their_own_and_hidden_elsewhere() -> None:
    white = change(COLOUR, 0xFFFFFF, 4)
    row = Doc(
        "Head\x07Two\x07\x07a\x07b\x07\x07", forms=[(0, CELL), (0, CELL), (0, END)] * 2, runs=[(0, 4, white)]
    )
    assert read(row).units[0].header == "Head | Two"
    shaded = read(Doc("Dark\r", forms=[(0, change(SHADE, 0x20, 2))], runs=[(0, 4, white)]))
    assert not shaded.units[0].flags
    plain = read(Doc("Seen unseen\r", runs=[(5, 11, white)]))
    assert [(unit.text, unit.flags) for unit in plain.units] == [("Seen", frozenset()), ("unseen", {HIDDEN})]


def test_hidden_words_are_flagged_and_deleted_words_are_gone() -> None:
    runs = [(4, 10, change(VANISH, 1)), (10, 15, change(DELETED, 1))]
    reading = read(Doc("Pay secret gone now\r", runs=runs))
    assert [(unit.text, bool(unit.flags)) for unit in reading.units] == [("Pay now", False), ("secret", True)]


def test_lists_are_numbered_as_word_shows_them() -> None:
    forms = [(0, change(LIST, 1, 2) + change(LIST_LEVEL, level)) for level in (0, 1, 1, 0, 1)] + [
        (0, change(LIST, 2, 2))
    ]
    tables = {74: list_numbers(7, 8), 73: lists()}
    reading = read(Doc("One\rSub\rSub two\rTwo\rAgain\rDot\r", forms=forms, tables=tables))
    assert texts(reading) == ["1. One", "1.a) Sub", "1.b) Sub two", "2. Two", "2.a) Again", "- Dot"]
    assert {unit.kind for unit in reading.units} == {UnitKind.LIST_ITEM}


def test_broken_list_tables_cost_the_numbers_only() -> None:
    made = Doc(
        "One\r", forms=[(0, change(LIST, 1, 2))], tables={74: list_numbers(7), 73: struct.pack("<H", 500)}
    )
    assert texts(read(made)) == ["- One"]


def test_notes_follow_the_paragraph_that_calls_them_and_margins_come_last() -> None:
    text = "Body\x02 one\rBody two\r" + "\x02 Note text\r\r" + "Version 7\rVersion 7\r"
    counts = [19, 13, 20]
    tables = {2: struct.pack("<IIH", 4, 19, 1), 3: struct.pack("<III", 0, 12, 13)}
    reading = read(Doc(text, counts=counts, tables=tables))
    assert texts(reading) == ["Body one", "Footnote 1: Note text", "Body two", "Version 7"]


def test_word_95_is_read_by_its_bytes_and_its_table_marks() -> None:
    first = "Отчёт о работе отдела за прошлый год, подготовлен для всех сотрудников"
    body = f"{first}\rИмя\x07Цена\x07\x07Болт\x075\x07\x07".encode("cp1251")
    assert texts(doc.read(word_95(body), LIMITS)) == [first, "Болт | 5"]
    assert texts(doc.read(word_95("Café\r".encode("cp1252")), LIMITS)) == ["Café"]
    assert texts(doc.read(word_95("Café’s\r".encode("mac_roman"), mac=True), LIMITS)) == ["Café’s"]


def test_an_east_asian_word_95_is_left_to_another_program() -> None:
    assert refusal(
        word_95("日本語の文書です。これは試験です。\r".encode("cp932") * 9, language=0x0411)
    ).outcome is (Outcome.UNSUPPORTED)


def test_a_locked_document_is_named() -> None:
    assert refusal(Doc("x\r", flags=0x0300).bytes()).outcome is Outcome.NEEDS_PASSWORD
    locked_edit = presentation(Slide(), edit_bytes=32)
    locked_user = presentation(Slide(), token=0xF3D1_C4DF)
    assert {refusal(data, ppt).outcome for data in (locked_edit, locked_user)} == {Outcome.NEEDS_PASSWORD}


def test_a_document_without_its_table_is_damaged() -> None:
    streams = Doc("x\r").streams()
    del streams["1Table"]
    error = refusal(ole(streams))
    assert error.outcome is Outcome.DAMAGED
    assert "1Table" in error.reason


def test_pieces_that_claim_more_than_the_limit_are_refused() -> None:
    made = Doc("x\r")
    clx = b"\x02" + struct.pack("<III", 16, 0, 0x7FFF_FFFF) + struct.pack("<HIH", 0, 0x800, 0)
    assert refusal(Doc("x\r", tables={33: clx}).bytes()).outcome is Outcome.TOO_LARGE
    assert texts(read(made)) == ["x"]


def test_a_stream_that_runs_in_circles_is_refused() -> None:
    data = bytearray(ole({"WordDocument": b"\xec\xa5" + bytes(9000), "1Table": b""}))
    entry = data.index("WordDocument".encode("utf-16-le"))
    struct.pack_into("<Q", data, entry + 120, 1 << 30)
    assert "larger than the file" in refusal(bytes(data)).reason


@pytest.mark.parametrize("reader", [doc, ppt])
def test_files_with_broken_bytes_are_read_or_refused(reader: object) -> None:
    made_doc = Doc("Head\rItem\x07Price\x07\x07", forms=[(1, b""), (0, CELL), (0, CELL), (0, END)], tables={
        1: stylesheet(), 74: list_numbers(7), 73: lists(),
    }).bytes()  # fmt: skip
    made_ppt = presentation(
        Slide(records=drawing(shape(text_atoms(TITLE, "T")), group(shape(text_atoms(OTHER, "c")))))
    )
    whole = made_doc if reader is doc else made_ppt
    chance = random.Random(7)
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        end = chance.choice([len(data), chance.randrange(len(data))])
        with contextlib.suppress(RefusedError):
            reader.read(bytes(data[:end]), LIMITS)  # type: ignore[attr-defined]


def test_the_title_comes_from_the_properties() -> None:
    for kind, value in ((0x1E, b"Leave policy\0"), (0x1F, "Leave policy\0".encode("utf-16-le"))):
        length = len(value) if kind == 0x1E else len(value) // 2
        section = (
            struct.pack("<II", 100, 1) + struct.pack("<II", 2, 16) + struct.pack("<II", kind, length) + value
        )
        summary = bytes(44) + struct.pack("<I", 48) + section
        assert Ole(ole({"\x05SummaryInformation": summary, "x": b""}), LIMITS).title() == "Leave policy"
    assert Ole(ole({"\x05SummaryInformation": b"\xff" * 60}), LIMITS).title() == ""


def test_slides_come_in_order_with_titles_bullets_and_notes() -> None:
    first = Slide(
        outline=text_atoms(TITLE, "Plan") + text_atoms(BODY, "One\rTwo\x0bmore"),
        records=drawing(shape(refers_to(1), top=200), shape(refers_to(0), top=10)),
        notes=drawing(shape(text_atoms(NOTES, "Say hello")), shape(text_atoms(OTHER, "*"), extra=margin())),
    )
    second = Slide(
        records=drawing(shape(text_atoms(OTHER, "right"), 5, 300), shape(text_atoms(OTHER, "left"), 9, 2))
    )
    reading = ppt.read(presentation(first, second), LIMITS)
    assert [(unit.text, unit.locator.slide) for unit in reading.units] == [
        ("Plan", 1), ("One", 1), ("Two more", 1), ("Say hello", 1), ("left", 2), ("right", 2),
    ]  # fmt: skip
    assert str(reading.units[3].locator) == "slide 1, Plan › Notes"
    assert reading.title == "Plan"
    assert reading.n_pages == 2


def test_a_slide_whose_drawing_is_lost_is_read_from_the_list_of_slides() -> None:
    reading = ppt.read(
        presentation(Slide(outline=text_atoms(TITLE, "Kept") + text_atoms(BODY, "words"))), LIMITS
    )
    assert texts(reading) == ["Kept", "words"]


def test_a_table_on_a_slide_becomes_rows() -> None:
    cells = [
        shape(text_atoms(OTHER, text), top, left, in_group=True)
        for text, top, left in [("4", 20, 50), ("Name", 10, 0), ("Bolt", 20, 0), ("Stock", 10, 50)]
    ]
    is_table = record(0xF122, struct.pack("<HI", 0x039F, 1), instance=1)
    head = record(0xF004, record(0xF010, struct.pack("<4h", 5, 5, 9, 9)) + is_table, container=True)
    reading = ppt.read(presentation(Slide(records=drawing(group(head, *cells)))), LIMITS)
    assert [(unit.header, unit.text) for unit in reading.units] == [("Name | Stock", "Bolt | 4")]


def test_hidden_slides_are_read_and_flagged_and_comments_have_their_author() -> None:
    hidden = record(0x03F9, bytes(10) + struct.pack("<H", 4) + bytes(4))
    said = record(0x0FBA, "Ann".encode("utf-16-le")) + record(0x0FBA, "Check!".encode("utf-16-le"), 1)
    tags = record(0x138B, record(0x2EE0, said, container=True))
    comment = record(0x1388, record(0x138A, tags, container=True), container=True)
    reading = ppt.read(
        presentation(Slide(records=drawing(shape(text_atoms(OTHER, "Salary"))) + hidden + comment)), LIMITS
    )
    assert texts(reading) == ["Salary", "Comment by Ann: Check!"]
    assert reading.units[0].flags == {HIDDEN}


def test_a_presentation_without_its_list_of_slides_is_damaged() -> None:
    assert refusal(ole({"PowerPoint Document": b"", "Current User": b""}), ppt).outcome is Outcome.DAMAGED
    assert refusal(ole({"PP40": b""}), ppt).outcome is Outcome.UNSUPPORTED


def test_content_tells_the_kind_whatever_the_name() -> None:
    assert sniff(Doc("x\r").bytes(), "a.txt") == "doc"
    assert sniff(presentation(Slide()), "a.doc") == "ppt"
    assert sniff(b"{\\rtf1 words}", "a.doc") == "rtf"
    assert sniff(b"<html><body>words", "a.doc") == "html"
    assert sniff(docx(p("words")), "a.doc") == "docx"
    mhtml = b"From: <Saved by a browser>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n\r\n--x"
    assert sniff(mhtml, "a.doc") == "mhtml"


def refers_to(number: int) -> bytes:
    return record(0x0F9E, struct.pack("<I", number))


def margin() -> bytes:
    return record(0xF011, record(0x0BC3, struct.pack("<IBBH", 0, 8, 0, 0)), container=True)


def stylesheet() -> bytes:
    """Return a style sheet of Normal, Heading 1, and a style of the user's based on Heading 2, which is the fourth."""
    head = struct.pack("<HHH", 4, 4, 10)
    named = [(0, 0x0FFF), (1, 0), (0x0FFE, 3), (2, 0)]
    return head + b"".join(style(builtin, based_on) for builtin, based_on in named)


def style(builtin: int, based_on: int) -> bytes:
    body = (
        struct.pack("<HHHHH", builtin, based_on << 4 | 1, 0, 0, 0)
        + struct.pack("<H", 1)
        + "N".encode("utf-16-le")
    )
    body += b"\0\0" + struct.pack("<HH", 2, 0)
    return struct.pack("<H", len(body)) + body


def lists() -> bytes:
    """Return list 7, numbered "1." and "1.a)", and list 8 with bullets."""
    heads = struct.pack("<i22xBx", 7, 0) + struct.pack("<i22xBx", 8, 1)
    levels = [level(0, "\0."), level(4, "\0.\1)"), *[level(0, "")] * 7, level(23, "\uf0b7")]
    return struct.pack("<H", 2) + heads + b"".join(levels)


def level(number_format: int, label: str) -> bytes:
    head = struct.pack("<iBB18xBBxx", 1, number_format, 0, 0, 0)
    return head + struct.pack("<H", len(label)) + label.encode("utf-16-le")


def list_numbers(*list_ids: int) -> bytes:
    called = b"".join(struct.pack("<i8xB3x", list_id, 0) for list_id in list_ids)
    return struct.pack("<I", len(list_ids)) + called + b"\xff" * 4 * len(list_ids)


def word_95(body: bytes, language: int = 0x0409, mac: bool = False) -> bytes:
    block = bytearray(0x800)
    struct.pack_into("<HHxxH", block, 0, 0xA5DC, 0x68, language)
    block[0x12] = mac
    struct.pack_into("<II", block, 0x18, 0x800, 0x800 + len(body))
    struct.pack_into("<I", block, 0x34, len(body))
    return ole({"WordDocument": bytes(block) + body})
